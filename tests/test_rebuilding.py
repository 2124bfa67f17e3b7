"""Links made anew with other rings, nodes started anew with other workers: on real labs."""

from __future__ import annotations

import pytest

from labs import LabError, launch, two_vpps
from labs.errors import LinkDown, NodeDied
from labs.kernel import allowed_cores
from labs.link_lines import link_names, link_script
from labs.stock import chain
from labs.topology import chain as chain_of

CORES = allowed_cores()
two_cores = pytest.mark.skipif(len(CORES) < 2, reason="this session may use one core only")


@pytest.fixture(scope="module")
def lab(engine):
    lab = two_vpps("rebuilt", engine=engine)
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def fresh(engine):
    lab = two_vpps("anew", engine=engine)
    lab.start()
    yield lab
    lab.stop()


def answers(lab, source="vpp1", target="vpp2"):
    return lab.ping(source, target, count=3, interval=0.1).received > 0


def rings(lab, name="memif0/0"):
    return {
        ring.size
        for node in lab.nodes.values()
        for end in node.memifs().interfaces
        if end.name == name
        for ring in end.rings
    }


def identity(lab):
    """Return what of the links is to stay: sockets, ids, roles, addresses, Ethernet addresses."""
    return {
        name: (
            sorted(
                (end.name, node.memifs().socket_of(end), end.id, end.role) for end in node.memifs().interfaces
            ),
            node.addresses(),
            sorted(
                (each.interface_name, str(each.l2_address))
                for each in node.api.sw_interface_dump()
                if each.interface_name.startswith("memif")
            ),
        )
        for name, node in lab.nodes.items()
    }


@pytest.mark.parametrize("ring_size", [64, 2048, 1024])
def test_links_are_made_anew_with_another_ring_and_all_else_is_the_same(lab, ring_size, capsys):
    before = identity(lab)
    lab.relink(ring_size=ring_size)
    assert rings(lab) == {ring_size}
    assert identity(lab) == before
    assert answers(lab)
    assert answers(lab, "vpp2", "vpp1")
    lines = capsys.readouterr().out.splitlines()
    assert f"$ {lab['vpp1'].handle.shell} delete interface memif memif0/0" in lines
    assert all(line.startswith("$ ") for line in lines)


def test_the_lines_are_what_makes_them(lab):
    lines = lab.rebuild_links()
    said = [line.split(".cli.sock ")[1] for line in lines]
    assert said[:2] == ["delete interface memif memif0/0"] * 2
    assert "\n".join(said[2:5]) == link_script(lab.current, "vpp1")
    assert "\n".join(said[5:]) == link_script(lab.current, "vpp2")


@pytest.mark.parametrize("modes", [("interrupt", "interrupt"), ("polling", "adaptive")])
def test_each_end_gets_its_rx_mode_again(lab, modes):
    for name, mode in zip(lab, modes, strict=True):
        lab[name].rx_mode(mode)
    lines = lab.rebuild_links(ring_size=256)
    assert [node.rx_modes()["memif0/0"] for node in lab.nodes.values()] == list(modes)
    assert sum("rx-mode" in line for line in lines) == len([mode for mode in modes if mode != "polling"])
    for node in lab.nodes.values():
        node.rx_mode("polling")


def test_a_memif_of_ones_own_is_left_alone(lab):
    lab["vpp1"].cli(
        "create memif socket id 9 filename own.sock\ncreate interface memif id 3 socket-id 9 master"
    )
    try:
        lab["vpp1"].cli("set interface ip address memif9/3 10.99.0.1/24")
        lab.rebuild_links(ring_size=512)
        assert lab["vpp1"].addresses()["memif9/3"] == ["10.99.0.1/24"]
        assert rings(lab) == {512}
    finally:
        lab["vpp1"].cli("delete interface memif memif9/3\ndelete memif socket id 9")


def test_an_end_that_is_missing_is_made(lab):
    lab["vpp2"].cli("delete interface memif memif0/0")
    lab.rebuild_links()
    assert answers(lab)


@pytest.mark.parametrize("ring_size", [0, 1, 3, 1000, 32768, -64])
def test_a_ring_that_cannot_be_is_refused_before_anything_is_deleted(lab, ring_size):
    before = rings(lab), identity(lab)
    with pytest.raises(LabError, match=f"A memif ring cannot have {ring_size} descriptors"):
        lab.relink(ring_size=ring_size)
    assert (rings(lab), identity(lab)) == before
    assert answers(lab)


def test_links_become_of_another_kind_and_back(lab):
    try:
        lab.rebuild_links(zero_copy=False)
        assert answers(lab)
        (state,) = lab["vpp2"].memifs().interfaces
        assert "zero-copy" not in state.flags
        assert len(state.regions) == 1
        lab.rebuild_links(zero_copy=True, mode="ip", queues=2)
        assert answers(lab)
        (state,) = lab["vpp2"].memifs().interfaces
        assert (state.mode, len(state.rings)) == ("ip", 4)
        assert "zero-copy" in state.flags
        assert len(state.regions) == 2
    finally:
        lab.rebuild_links(zero_copy=True, mode="ethernet", queues=1)
    assert answers(lab)


@pytest.mark.parametrize("change", [{"secret": "x"}, {"ring": 64}, {"server": "vpp2"}])
def test_what_links_cannot_be_changed_in_is_refused(lab, change):
    before = identity(lab)
    with pytest.raises(LabError, match=r"Links have no .* that can be changed") as told:
        lab.relink(**change)
    assert "zero_copy" in told.value.hint
    assert identity(lab) == before


def test_listeners_hear_of_both(lab):
    heard = []
    lab.listeners.append(lambda what, lines: heard.append((what, len(lines) > 0)))
    try:
        lab.relink(ring_size=1024)
        lab.restart("vpp2")
    finally:
        lab.listeners.clear()
    assert heard == [("lab.relink", True), ("lab.restart: vpp2", True)]


# Restarts


@pytest.mark.parametrize("victim", ["vpp1", "vpp2"])
def test_a_node_that_is_restarted_makes_its_links_as_they_are_now(fresh, victim):
    fresh.rebuild_links(ring_size=128)
    fresh[victim].kill()
    fresh.restart(victim)
    assert rings(fresh) == {128}
    assert answers(fresh)


def test_a_reset_makes_the_lab_as_it_was_at_first(fresh):
    fresh.rebuild_links(ring_size=128)
    fresh.reset()
    assert rings(fresh) == {1024}


def test_a_dead_node_is_named_and_no_link_is_deleted(fresh):
    fresh["vpp2"].kill()
    with pytest.raises(NodeDied, match="vpp2 is not running"):
        fresh.relink(ring_size=64)
    assert [end.name for end in fresh["vpp1"].memifs().interfaces] == ["memif0/0"]
    fresh.restart("vpp2")
    assert rings(fresh) == {1024}


def test_a_client_that_was_set_down_stays_down_when_its_server_is_restarted(fresh):
    fresh["vpp2"].cli("set interface state memif0/0 down")
    with pytest.raises(LinkDown, match="vpp2's memif0/0 is down"):
        fresh.restart("vpp1")


def test_a_server_that_does_not_start_leaves_its_client_up(fresh, monkeypatch):
    real = launch.configuration
    monkeypatch.setattr(launch, "configuration", lambda *each: real(*each) + "nonsense { }")
    with pytest.raises(NodeDied):
        fresh.restart("vpp1")
    monkeypatch.undo()
    (end,) = fresh["vpp2"].memifs().interfaces
    assert "admin-up" in end.flags
    fresh.restart("vpp1")
    assert answers(fresh)


@two_cores
def test_workers_come_stay_and_go(fresh):
    def workers(node):
        return sum("_wk_" in thread.name for thread in fresh[node].threads())

    fresh.restart("vpp2", workers=1)
    assert (workers("vpp1"), workers("vpp2")) == (0, 1)
    assert answers(fresh)
    fresh.restart("vpp2")
    assert workers("vpp2") == 1
    fresh.restart("vpp2", workers=0)
    assert workers("vpp2") == 0
    assert answers(fresh)


@pytest.mark.parametrize("workers", [len(CORES), 62, -1, 1.5, True, "1"])
def test_workers_that_cannot_be_are_refused_and_the_node_runs_on(lab, workers):
    pid = lab["vpp1"].handle.pid
    with pytest.raises(LabError, match=r"vpp1 (has|cannot have)"):
        lab.restart("vpp1", workers=workers)
    assert lab["vpp1"].alive
    assert lab["vpp1"].handle.pid == pid
    assert answers(lab)


# Other labs


@pytest.mark.engine("glassbox")
def test_all_links_of_a_chain_are_made_anew():
    lab = chain(3, "long", engine="glassbox")
    lab.start()
    try:
        before = identity(lab)
        lab.rebuild_links(ring_size=32)
        assert rings(lab, "memif0/0") == rings(lab, "memif1/0") == {32}
        assert identity(lab) == before
        assert answers(lab, "vpp2", "vpp3")
        lab["vpp2"].kill()
        lab.restart("vpp2")
        assert rings(lab, "memif0/0") == rings(lab, "memif1/0") == {32}
    finally:
        lab.stop()


@pytest.mark.engine("glassbox")
def test_a_lab_without_links_of_its_own_says_so():
    lab = two_vpps("unlinked", links=False, engine="glassbox")
    with pytest.raises(LabError, match="not started"):
        lab.relink()
    lab.start()
    try:
        with pytest.raises(LabError, match="no link of its own"):
            lab.relink(ring_size=64)
    finally:
        lab.stop()


def test_a_nodes_ends_are_named_by_the_number_of_the_link():
    topology = chain_of("long", 3)
    assert [link_names(topology, f"vpp{at}") for at in (1, 2, 3)] == [
        ["memif0/0"],
        ["memif0/0", "memif1/0"],
        ["memif1/0"],
    ]


def test_sockets_outlive_links_and_need_not_be_made_again():
    topology = chain_of("long", 3)
    with_them = link_script(topology, "vpp2").splitlines()
    without = link_script(topology, "vpp2", sockets=False).splitlines()
    assert [line for line in with_them if line not in without] == [
        "create memif socket id 1 filename link1.sock"
    ]
