"""Probes at the nodes of a real lab: what the nodes are told, and that nothing of it is left."""

from __future__ import annotations

import threading
import time

import pytest

from labs import drawing, two_vpps
from labs.errors import LabError, LinkDown, NodeDied
from labs.kernel import allowed_cores

CORES = allowed_cores()
two_cores = pytest.mark.skipif(len(CORES) < 2, reason="this session may use one core only")
QUICK = {"interval": 1e-3, "floor": False}


@pytest.fixture(scope="module")
def shared(engine):
    """Return a running lab of two linked VPPs, for all tests that leave its nodes running."""
    lab = two_vpps("probed", engine=engine)
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def lab(shared):
    before = {name: shared[name].memifs().interfaces for name in shared}
    yield shared
    for name in shared:
        shared.probe(name, to=name).close()
        shared.probe(name).close()
        assert [each.name for each in shared[name].memifs().interfaces] == [
            each.name for each in before[name]
        ]
        for interface in before[name]:
            shared[name].cli(f"set interface rx-mode {interface.name} polling")


@pytest.fixture
def short(engine):
    lab = two_vpps("short-probed", engine=engine)
    lab.start()
    yield lab
    lab.stop()


def our_threads():
    return [each.name for each in threading.enumerate() if "probe" in each.name]


def test_a_learners_line(lab):
    run = lab.probe("vpp2").run(seconds=0.3, **QUICK)
    assert (run.sent, run.lost, run.way, run.name) == (300, 0, "round trip", "vpp2")
    table = run.summary()
    assert list(table.frame.columns[:6]) == [
        "min (µs)", "p50 (µs)", "p90 (µs)", "p99 (µs)", "p99.9 (µs)", "max (µs)"
    ]  # fmt: skip
    assert "vpp2 polling on core" in str(table)
    assert "<table" in table._repr_html_()


def test_the_node_counts_what_the_probe_sent(lab):
    """A second instrument: VPP's own counters, which the probe knows nothing of."""
    probe = lab.probe("vpp2")
    interface = probe.commands[1].split("socket-id ")[1].split()[0]
    before = lab["vpp2"].counters().get(f"memif{interface}/0")
    run = probe.run(0.5, **QUICK)
    after = lab["vpp2"].counters()[f"memif{interface}/0"]
    came = after.rx_packets - (before.rx_packets if before else 0)
    assert run.sent == 500
    assert came == run.sent + 20  # and those before the run, which do not count
    assert after.tx_packets - (before.tx_packets if before else 0) == came


def test_the_commands_make_the_same_by_hand(lab):
    commands = lab.probe("vpp2").commands
    assert all(each.startswith(f"{lab['vpp2'].handle.shell} ") for each in commands)
    lines = [each.removeprefix(f"{lab['vpp2'].handle.shell} ") for each in commands]
    assert lines[0].startswith("create memif socket id 102 filename probe-vpp2.sock")
    assert lines[3] == "set interface ip address memif102/0 198.18.102.1/30"
    lab.probe("vpp2").close()
    lab["vpp2"].cli("\n".join(lines))
    assert lab["vpp2"].addresses()["memif102/0"] == ["198.18.102.1/30"]
    lab["vpp2"].cli("delete interface memif memif102/0\ndelete memif socket id 102")


def test_a_second_probe_uses_the_same_memif(lab):
    first = lab.probe("vpp1")
    first.run(0.1, **QUICK)
    count = len(lab["vpp1"].memifs().interfaces)
    again = lab.probe("vpp1")
    assert again.run(0.1, **QUICK).lost == 0
    assert len(lab["vpp1"].memifs().interfaces) == count
    assert again.commands == first.commands


def test_the_lab_and_its_picture_take_it_for_what_it_is(lab):
    lab.probe("vpp2")
    lab.wait_link(0.5)
    text = str(lab)
    assert "vpp2 memif102/0 (server): connected to probe of VPP Labs" in text
    assert "memif0/0 (client, 10.10.2.2/24): connected" in text
    assert "memif102/0: probe<" in drawing.svg(lab.view())
    assert lab.ping("vpp1", "vpp2", 3, 0.1).received > 0


def test_a_real_fault_is_still_told_with_a_probe_about(lab):
    lab.probe("vpp2")
    lab["vpp2"].cli("set interface state memif0/0 down")
    with pytest.raises(LinkDown, match="vpp2's memif0/0 is down"):
        lab.wait_link(0.3)
    lab["vpp2"].cli("set interface state memif0/0 up")
    lab.wait_link()


@pytest.mark.parametrize("mode", ["interrupt", "adaptive"])
def test_it_waits_as_the_nodes_other_memifs_do(lab, mode):
    """One polling queue would keep the whole node awake: measuring would change what is measured."""
    lab["vpp2"].rx_mode(mode)
    probe = lab.probe("vpp2")
    assert set(lab["vpp2"].rx_modes().values()) == {mode}
    assert probe.commands[-1].endswith(f"set interface rx-mode memif102/0 {mode}")
    assert probe.run(0.3, **QUICK).lost == 0
    assert mode in str(probe.last.summary())


def test_rx_mode_sets_it_with_the_others(lab):
    lab.probe("vpp2")
    assert "set interface rx-mode memif102/0 interrupt" in lab["vpp2"].rx_mode("interrupt")


def test_it_follows_what_the_learner_types_later(lab):
    lab.probe("vpp1", to="vpp2")
    probe = lab.probe("vpp2")
    for mode in ("interrupt", "polling", "adaptive"):
        lab["vpp2"].cli(f"set interface rx-mode memif0/0 {mode}")
        assert lab.probe("vpp1", to="vpp2").run(0.1, **QUICK).received > 0
        assert probe.run(0.1, **QUICK).received > 0
        assert set(lab["vpp2"].rx_modes().values()) == {mode}
        assert sum("rx-mode" in line for line in probe.commands) == 1


def test_a_mode_that_was_forgotten_while_it_was_down_is_set_again(lab):
    lab["vpp2"].rx_mode("interrupt")
    probe = lab.probe("vpp2")
    lab["vpp2"].cli("set interface state memif102/0 down")
    lab["vpp2"].cli("set interface state memif102/0 up")
    time.sleep(0.5)  # it connects again meanwhile, on engines that let go of a memif that is down
    assert probe.run(0.2, **QUICK).received > 0
    assert set(lab["vpp2"].rx_modes().values()) == {"interrupt"}


def test_one_way_from_node_to_node(lab):
    probe = lab.probe("vpp1", to="vpp2")
    run = probe.run(0.3, **QUICK)
    assert (run.way, run.name, run.lost) == ("one way", "vpp1 → vpp2", 0)
    assert probe.commands[-1].endswith("ip route add 198.18.103.0/30 via 10.10.2.2")
    forwarded = lab["vpp2"].counters()["memif103/0"].tx_packets
    assert forwarded == 320  # twenty before the run
    probe.close()
    assert "198.18.103.0/30" not in lab["vpp1"].cli("show ip fib")


def test_there_and_back_through_another_node(lab):
    probe = lab.probe("vpp1", to="vpp2", back=True)
    run = probe.run(0.3, **QUICK)
    assert (run.way, run.name, run.lost) == ("round trip", "vpp1 ⇄ vpp2", 0)
    assert "the way vpp1 ⇄ vpp2" in repr(probe)
    assert probe.commands[-1].endswith("ip route add 198.18.100.0/30 via 10.10.2.1")
    assert [each.name for each in lab["vpp2"].memifs().interfaces] == ["memif0/0"]
    assert lab.probe("vpp1", to="vpp1", back=True).name == "through vpp1"
    assert lab.probe("vpp1", back=True).name == "vpp1"
    probe.close()
    assert "198.18.100.0/30" not in lab["vpp2"].cli("show ip fib")


def test_a_probe_that_is_closed_leaves_another_its_routes(lab):
    first, second = (lab.probe("vpp1", to="vpp2", back=True) for _ in range(2))
    first.run(0.1, **QUICK)
    second.run(0.1, **QUICK)
    first.close()
    assert "198.18.100.0/30" in lab["vpp2"].cli("show ip fib")
    second.close()
    assert "198.18.100.0/30" not in lab["vpp2"].cli("show ip fib")


def test_a_route_that_went_with_a_link_is_given_again(short):
    probe = short.probe("vpp1", to="vpp2", back=True)
    assert probe.run(0.1, **QUICK).received > 0
    short.relink()
    assert probe.run(0.1, **QUICK).received > 0


def test_the_way_through_one_node(lab):
    run = lab.probe("vpp1", to="vpp1").run(0.3, **QUICK)
    assert (run.way, run.name, run.lost) == ("one way", "through vpp1", 0)


def test_there_and_back_takes_longer_than_nothing_and_one_way_through_two_longer_than_through_one(lab):
    one = lab.probe("vpp1", to="vpp1").run(0.5, **QUICK)
    two = lab.probe("vpp1", to="vpp2").run(0.5, **QUICK)
    assert 0 < one.percentile(0) < two.percentile(0)


@two_cores
def test_on_another_nodes_core_it_naps_and_on_the_nodes_own_it_sleeps(lab):
    lab.pin(vpp1=CORES[0], vpp2=CORES[1])
    probe = lab.probe("vpp2")
    assert probe._seat() == ((CORES[0], "nap") if len(CORES) == 2 else (CORES[2], "poll"))
    if len(CORES) == 2:
        assert lab.probe("vpp1", to="vpp2")._seat() == (None, "sleep")
    assert lab.probe("vpp2", core=CORES[1])._seat() == (CORES[1], "sleep")
    assert lab.probe("vpp2", core=CORES[1], wait="poll")._seat() == (CORES[1], "poll")


@two_cores
def test_where_no_node_is_pinned_it_polls(lab):
    lab.pin(vpp1=CORES[0], vpp2=CORES[0])
    try:
        probe = lab.probe("vpp2")
        assert probe._seat() == (CORES[1], "poll")
        assert f"the probe polls on core {CORES[1]}" in str(probe.run(0.1, **QUICK).summary())
    finally:
        lab.pin(vpp1=CORES[0], vpp2=CORES[1])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("vpp9",), "no node 'vpp9'"),
        (("vpp1", "vpp9"), "no node 'vpp9'"),
    ],
)
def test_no_such_node(lab, arguments, said):
    with pytest.raises(LabError, match=said):
        lab.probe(*arguments)


@pytest.mark.parametrize(
    ("options", "said"), [({"core": 999}, "core 999"), ({"wait": "no"}, "wait cannot be")]
)
def test_what_cannot_be_is_refused_before_a_node_is_told(lab, options, said):
    with pytest.raises(LabError, match=said):
        lab.probe("vpp2", **options)
    assert lab["vpp2"].memifs().interface("memif102/0") is None


def test_a_memif_set_down_by_the_learner(lab):
    probe = lab.probe("vpp2")
    lab["vpp2"].cli("set interface state memif102/0 down")
    with pytest.raises(LinkDown, match="memif102/0, which the probe uses, is down") as down:
        probe.run(0.1)
    assert down.value.hint == "on vpp2: set interface state memif102/0 up"
    lab["vpp2"].cli("set interface state memif102/0 up")
    assert probe.run(0.1, **QUICK).received > 0


def test_a_memif_deleted_by_the_learner_is_made_again(lab):
    probe = lab.probe("vpp2")
    lab["vpp2"].cli("delete interface memif memif102/0")
    assert probe.run(0.1, **QUICK).received > 0
    assert lab["vpp2"].memifs().interface("memif102/0") is not None


def test_a_number_that_is_taken_is_left_alone(lab):
    lab["vpp2"].cli("create memif socket id 102 filename mine.sock")
    try:
        assert lab.probe("vpp2").run(0.1, **QUICK).received > 0
        assert lab["vpp2"].memifs().interface("memif102/0") is None
    finally:
        lab.probe("vpp2").close()
        lab["vpp2"].cli("delete memif socket id 102")


def test_no_way_between_the_nodes(short):
    short["vpp2"].cli("set interface ip address del memif0/0 10.10.2.2/24")
    with pytest.raises(LabError, match="no way from vpp1 to vpp2"):
        short.probe("vpp1", to="vpp2")


def test_a_node_that_dies_meanwhile_leaves_what_was_measured(short):
    probe = short.probe("vpp2")
    measured = threading.Thread(target=lambda: probe.run(30.0, **QUICK))
    measured.start()
    time.sleep(0.5)
    short["vpp2"].kill()
    measured.join(20)
    assert not measured.is_alive()
    assert probe.last.received > 100
    assert probe.last.ended.startswith("vpp2 is not running")
    assert "\n" not in probe.last.ended
    with pytest.raises(NodeDied, match="vpp2 is not running"):
        probe.run(0.1)


def test_a_restarted_node_gets_a_new_memif(short):
    probe = short.probe("vpp2")
    assert probe.run(0.1, **QUICK).received > 0
    short.restart("vpp2")
    assert short["vpp2"].memifs().interface("memif102/0") is None
    assert len(our_threads()) == 0
    assert probe.run(0.1, **QUICK).lost == 0


def test_one_way_after_a_restart_of_the_node_with_the_route(short):
    probe = short.probe("vpp1", to="vpp2")
    assert probe.run(0.1, **QUICK).lost == 0
    short.restart("vpp1")
    assert probe.run(0.3, **QUICK).lost == 0


def test_a_lab_that_stops_ends_its_probes(short):
    short.probe("vpp1", to="vpp2").run(0.1, **QUICK)
    assert our_threads()
    short.stop()
    assert our_threads() == []
    with pytest.raises(LabError, match="not started"):
        short.probe("vpp1")
