from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from owners import OWNER, ask, python, read_until
from traces import Traces

from labs import keeper
from labs.engines import rundir
from labs.engines.rundir import RunDir
from labs.errors import LabError


@pytest.fixture
def traces():
    found = Traces()
    yield found
    found.note()
    for lab in rundir.every():
        if lab.name.startswith("kept"):
            keeper.stop(lab.name)
    assert found.gone_within(3) == []


@pytest.fixture
def kept(engine, traces):
    """Start a lab with a keeper, and return its record."""
    said = keeper.start("kept", 2, engine)
    assert "Ready in" in said
    assert said.endswith("Stop it with: labs down kept")
    traces.note()
    return RunDir.read(rundir.base() / "kept")


def test_a_keeper_owns_its_lab_and_is_no_child_of_ours(kept):
    assert kept.owner.alive()
    assert kept.owner.pid != os.getpid()
    process = psutil.Process(kept.owner.pid)
    assert "labs.keeper" in process.cmdline()
    assert os.getsid(process.pid) == process.pid


def test_down_ends_the_keeper_and_the_lab(kept, traces):
    keeper.stop("kept")
    assert not kept.owner.alive()
    assert traces.left() == []


def test_a_second_keeper_of_the_name_is_refused_and_the_first_stays(kept, engine):
    with pytest.raises(LabError, match="'kept' is already running") as refused:
        keeper.start("kept", 2, engine)
    assert "labs down kept" in refused.value.hint
    assert RunDir.read(rundir.base() / "kept") == kept
    assert kept.owner.alive()


def test_the_lab_ends_with_its_keeper(kept, traces):
    os.kill(kept.owner.pid, signal.SIGKILL)
    assert traces.gone_within(3) == []


def test_ctrl_c_in_the_terminal_does_not_end_a_keeper(kept):
    os.killpg(kept.owner.pid, signal.SIGINT)
    time.sleep(0.3)
    assert kept.owner.alive()


def test_down_ends_a_keeper_that_is_stopped(kept, traces, monkeypatch):
    monkeypatch.setattr(keeper, "_PATIENCE", 0.5)
    os.kill(kept.owner.pid, signal.SIGSTOP)
    keeper.stop("kept")
    assert not kept.owner.alive()
    assert traces.gone_within(3) == []


def test_down_ends_a_lab_that_a_notebook_owns_but_not_the_notebook(engine, traces):
    with python(OWNER, "kept-by-another", engine) as owner:
        read_until(owner, "started")
        traces.note()
        keeper.stop("kept-by-another")
        assert traces.gone_within(3) == []
        assert owner.poll() is None
        assert ask(owner, "[node.alive for node in lab.nodes.values()]") == "[False, False]"


def test_of_two_keepers_at_once_one_gets_the_name(engine, traces):
    def attempt(_):
        try:
            return keeper.start("kept", 1, engine)
        except LabError as error:
            return error.message

    with ThreadPoolExecutor(2) as both:
        said = sorted(both.map(attempt, range(2)), key=lambda text: "already running" in text)
    assert "Ready in" in said[0]
    assert "already running" in said[1]
    assert traces.note() == 1


@pytest.mark.parametrize(
    ("name", "nodes", "wanted", "words"),
    [
        ("a name", 2, None, "cannot be the name of a lab"),
        ("kept", 0, None, "has no node"),
        ("kept", 2, "qemu", "There is no engine 'qemu'"),
    ],
)
def test_a_lab_that_cannot_be_is_refused_with_its_hint(traces, name, nodes, wanted, words):
    with pytest.raises(LabError, match=words) as refused:
        keeper.start(name, nodes, wanted)
    assert refused.value.hint
    assert "Hint" not in refused.value.message
    assert traces.note() == 0


def test_an_error_of_several_lines_arrives_whole(monkeypatch, tmp_path):
    said = "vpp1 is not running: it ended with status 1.\n    last words\nHint: start it again."
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    with pytest.raises(LabError) as refused:
        keeper.start("kept", 2, None)
    assert str(refused.value) == said


@pytest.mark.parametrize("name", ["nothing", "..", ".", "", "/etc"])
def test_a_lab_that_is_not_there_cannot_be_stopped_and_those_that_are_are_named(name):
    with pytest.raises(LabError, match="No lab named") as refused:
        keeper.stop(name)
    assert "labs that are: " in refused.value.hint


@pytest.mark.parametrize("delay", [0.0, 0.2, 0.4, 0.8])
def test_ctrl_c_while_it_starts_leaves_nothing(engine, traces, delay):
    up = subprocess.Popen(
        [sys.executable, "-m", "labs.main", "up", "--name", "kept", "--engine", engine],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not keepers():
        assert up.poll() is None
        time.sleep(0.01)
    time.sleep(delay)
    up.send_signal(signal.SIGINT)
    told, complained = up.communicate()
    assert "Traceback" not in complained
    if "Ready in" in told:  # the signal came too late
        assert traces.note() == 1
    else:
        assert up.returncode != 0
        assert keepers() == []
        assert RunDir.read(rundir.base() / "kept") is None


def test_what_an_ended_keeper_left_is_swept_and_another_s_is_not(engine, traces):
    keeper.start("kept", 1, engine)
    lab = RunDir.read(rundir.base() / "kept")
    keeper._sweep_after(lab.owner.pid + 1, "kept")
    assert RunDir.read(rundir.base() / "kept") is not None
    psutil.Process(lab.owner.pid).kill()
    keeper._sweep_after(lab.owner.pid, "kept")
    assert RunDir.read(rundir.base() / "kept") is None


def keepers():
    """Return the keepers of this test's lab."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if "labs.keeper" in line and "kept" in line:
            found.append(process.pid)
    return found
