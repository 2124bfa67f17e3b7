"""Runs that end badly on real VPPs; those that end well are with each experiment's own tests."""

from __future__ import annotations

import pytest

from labs import load_run, two_vpps
from labs.errors import LabError, NodeDied
from labs.experiments.pinning import pinning
from labs.experiments.run import runs_dir
from labs.kernel import allowed_cores

pytestmark = pytest.mark.skipif(len(allowed_cores()) < 2, reason="this session may use one core only")


@pytest.fixture
def lab(engine, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("LABS_RUNS", str(tmp_path))
    lab = two_vpps("cut-short", engine=engine)
    lab.start()
    yield lab
    lab.stop()


def after(number, act):
    """Return a progress function that acts once after that number of windows."""
    left = [number]

    def progress(done, what):
        left[0] -= 1
        if left[0] == 0:
            act()

    return progress


def interrupt():
    raise KeyboardInterrupt


def test_a_node_that_dies_in_the_middle_is_named_and_the_windows_are_kept(lab):
    home = lab["vpp1"].cores()
    with pytest.raises(NodeDied, match="vpp2 is not running") as news:
        pinning(lab, 0.3, 1, after(2, lab["vpp2"].kill))
    (path,) = runs_dir().iterdir()
    assert "lab.restart('vpp2')" in news.value.hint
    assert f"(2) are kept in {path}" in news.value.hint
    assert len(load_run(path).windows) == 2
    assert lab["vpp1"].cores() == home
    lab.restart("vpp2")
    lab.wait_link(15)
    assert pinning(lab, 0.3, 1).complete


def test_an_interrupt_brings_the_nodes_back_to_where_the_learner_had_them(lab):
    lab.pin("free")
    with pytest.raises(LabError, match="The run was interrupted") as told:
        pinning(lab, 0.3, 1, after(1, interrupt))
    assert "(1) are kept in" in told.value.hint
    assert [lab[name].cores() for name in lab] == [allowed_cores()] * 2


def test_a_link_that_is_down_gives_a_run_without_an_answer(lab):
    lab["vpp2"].cli("set interface state memif0/0 down")
    run = pinning(lab, 0.1, 1)
    assert run.summary["same"]["answered"] == 0
    assert not run.passed
