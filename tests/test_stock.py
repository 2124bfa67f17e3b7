from __future__ import annotations

import pytest

from labs import LabError, one_vpp, placement, two_vpps
from labs.errors import LinkDown
from labs.kernel import allowed_cores
from labs.stock import chain

CORES = allowed_cores()


def started(lab):
    """Start a lab, and stop it when the test has read what it wants."""
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture(params=["apart", "same", "free"])
def placed(request, engine, capsys):
    yield from started(two_vpps("stock", cores=request.param, engine=engine))


@pytest.fixture
def single(engine, capsys):
    yield from started(one_vpp("stock", engine=engine))


def test_two_vpps_start_where_they_were_asked_to(placed, request):
    state = request.node.callspec.params["placed"]
    expected = {
        "apart": [CORES[:1], CORES[1:2] or CORES[:1]],
        "same": [CORES[:1], CORES[:1]],
        "free": [CORES, CORES],
    }[state]
    assert [placed[name].cores() for name in placed] == expected
    assert ("free to move" in repr(placed)) == (state == "free")


@pytest.mark.parametrize("placed", ["apart"], indirect=True)
def test_two_vpps_have_the_addresses_and_roles_the_course_speaks_of(placed):
    assert [placed[name].addresses()["memif0/0"] for name in placed] == [["10.10.2.1/24"], ["10.10.2.2/24"]]
    assert [placed[name].memifs().interfaces[0].role for name in placed] == ["server", "client"]


def test_one_vpp_has_no_link(single):
    assert list(single) == ["vpp1"]
    assert single["vpp1"].memifs().interfaces == ()
    with pytest.raises(LinkDown, match="No node has a memif yet"):
        single.wait_link(0)
    assert list(single["vpp1"].counters()) == ["local0"]


def test_two_vpps_without_links_have_no_memif(engine, capsys):
    lab = two_vpps("stock", links=False, engine=engine)
    lab.start()
    try:
        assert [node.memifs().interfaces for node in lab.nodes.values()] == [(), ()]
        with pytest.raises(LabError, match="share no network"):
            lab.ping("vpp1", "vpp2")
    finally:
        lab.stop()


def test_an_engine_that_is_asked_for_goes_before_the_environments(engine, capsys, monkeypatch):
    monkeypatch.setenv("LABS_ENGINE", "qemu")
    lab = one_vpp("stock", engine=engine)
    lab.start()
    try:
        assert lab.engine == engine
        assert "(asked for)" in capsys.readouterr().out
    finally:
        lab.stop()


def test_nothing_runs_before_the_start():
    lab = two_vpps("stock")
    assert lab.engine == ""
    assert repr(lab) == "stock: stopped (nodes vpp1, vpp2)"


def test_the_names_are_those_of_the_notebooks():
    assert (one_vpp().name, two_vpps().name, chain(2).name) == ("one-vpp", "two-vpps", "chain")


@pytest.mark.parametrize("cores", ["together", "", None, 0])
def test_an_unknown_placement_is_refused(cores):
    with pytest.raises(LabError, match="There is no placement") as refused:
        two_vpps("stock", cores=cores)
    assert "same, apart, free" in refused.value.hint


@pytest.mark.parametrize("count", [0, -1])
def test_a_chain_of_none_is_refused(count):
    with pytest.raises(LabError, match="has no node"):
        chain(count)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_chain_shares_the_cores_there_are(monkeypatch, count):
    monkeypatch.setattr(placement, "separate_cores", lambda wanted: (0, 1)[:wanted])
    nodes = chain(count).topology.nodes
    assert [node.cores for node in nodes] == [(k % min(count, 2),) for k in range(count)]
    assert len(chain(count).topology.links) == count - 1
