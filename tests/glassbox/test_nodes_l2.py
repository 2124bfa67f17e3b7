"""Cross-connects and bridges: frames between interfaces, never looked into."""

from __future__ import annotations

import numpy as np
import pytest
from glassbox_bench import BROADCAST, Bench, chance, udp
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from labs.glassbox.nodes.l2 import place_of
from labs.glassbox.vm import MACS
from labs.memif.jit import kernel

PORTS = 4


@pytest.fixture(scope="module")
def made(folder):
    """Make a box with four wires and no address anywhere."""
    bench = Bench(folder)
    for number in range(PORTS):
        bench.wire(number)
    yield bench
    bench.close()


@pytest.fixture(autouse=True)
def unwired(made):
    """Wire nothing when a test begins, and nothing when it is over."""
    yield
    for each in made.wires:
        made.box.bridges.route(each.interface)
    made.box.bridges.forget_all()


@pytest.fixture
def bridged(bench):
    for each in bench.wires:
        bench.box.bridges.join(each.interface, 1)
    return bench


def frame(source, target, data=b"whatever is in here"):
    return bytes(Ether(src=source, dst=target, type=0x1234) / Raw(data))


def host(number):
    return f"02:00:00:aa:{number >> 8:02x}:{number & 255:02x}"


def got(results):
    """Return on which wires something came out."""
    return {number for number, each in enumerate(results) if each}


def test_a_cross_connect_carries_any_frame_both_ways(bench):
    one, other = bench.wires[:2]
    bench.box.bridges.connect(one.interface, other.interface)
    bench.box.bridges.connect(other.interface, one.interface)
    for raw in (
        frame(host(1), host(2)),
        frame(host(1), BROADCAST),
        bytes(14),
        bytes(range(14)) * 100,
        b"\xff" * 9014,
    ):
        assert bench.through(one, raw) == [[], [raw], [], []]
        assert bench.through(other, raw) == [[raw], [], [], []]


def test_a_cross_connect_of_one_way_gives_nothing_back(bench):
    one, other = bench.wires[:2]
    bench.box.bridges.connect(one.interface, other.interface)
    out, moved = bench.why(other, frame(host(1), host(2)))
    assert (out, moved) == ([], {"l3 mac mismatch": 1})


def test_frames_too_short_for_ethernet_are_not_carried(bench):
    one, other = bench.wires[:2]
    bench.box.bridges.connect(one.interface, other.interface)
    for size in range(1, 14):
        out, moved = bench.why(one, bytes(size))
        assert (out, moved) == ([], {"too short": 1})


def test_a_cross_connect_may_lead_back_to_itself(bench):
    one = bench.wires[0]
    bench.box.bridges.connect(one.interface, one.interface)
    raw = frame(host(1), host(2))
    assert bench.through(one, raw) == [[raw], [], [], []]


def test_an_unknown_destination_goes_everywhere_else(bridged):
    raw = frame(host(1), host(2))
    assert bridged.through(bridged.wires[0], raw) == [[], [raw], [raw], [raw]]


@pytest.mark.parametrize("target", [BROADCAST, "01:00:5e:00:00:01", "33:33:00:00:00:01"])
def test_a_group_goes_everywhere_else_always(bridged, target):
    raw = frame(host(1), target)
    for _ in range(2):
        assert bridged.through(bridged.wires[2], raw) == [[raw], [raw], [], [raw]]


def test_a_host_that_was_seen_is_reached_alone(bridged):
    wires = bridged.wires
    bridged.through(wires[3], frame(host(2), BROADCAST))
    raw = frame(host(1), host(2))
    assert bridged.through(wires[0], raw) == [[], [], [], [raw]]
    back = frame(host(2), host(1))
    assert bridged.through(wires[3], back) == [[back], [], [], []]


def test_a_host_that_moves_is_found_again(bridged):
    wires = bridged.wires
    for where in (3, 1, 2, 0):
        bridged.through(wires[where], frame(host(2), BROADCAST))
        sender = (where + 1) % PORTS
        assert got(bridged.through(wires[sender], frame(host(1), host(2)))) == {where}


def test_a_frame_for_a_host_behind_the_same_port_goes_nowhere(bridged):
    wires = bridged.wires
    bridged.through(wires[0], frame(host(2), BROADCAST))
    assert got(bridged.through(wires[0], frame(host(1), host(2)))) == set()


def test_nobody_is_learned_by_the_address_of_a_group(bridged):
    for source in (BROADCAST, "01:00:5e:00:00:01", "00:00:00:00:00:00"):
        bridged.through(bridged.wires[0], frame(source, host(5)))
    assert bridged.box.bridges.stations() == []


def test_bridges_do_not_mix(bench):
    wires, bridges = bench.wires, bench.box.bridges
    for number, each in enumerate(wires):
        bridges.join(each.interface, 1 + number // 2)
    bench.through(wires[2], frame(host(2), BROADCAST))
    assert got(bench.through(wires[0], frame(host(1), host(2)))) == {1}
    assert got(bench.through(wires[0], frame(host(1), BROADCAST))) == {1}
    assert got(bench.through(wires[3], frame(host(3), host(2)))) == {2}


def test_one_address_may_be_in_two_bridges(bench):
    wires, bridges = bench.wires, bench.box.bridges
    for number, each in enumerate(wires):
        bridges.join(each.interface, 1 + number // 2)
    bench.through(wires[0], frame(host(2), BROADCAST))
    bench.through(wires[2], frame(host(2), BROADCAST))
    assert got(bench.through(wires[1], frame(host(1), host(2)))) == {0}
    assert got(bench.through(wires[3], frame(host(1), host(2)))) == {2}


def test_a_port_that_changes_bridges_is_forgotten_in_the_old_one(bridged):
    wires = bridged.wires
    bridged.through(wires[3], frame(host(2), BROADCAST))
    bridged.box.bridges.join(wires[3].interface, 2)
    assert got(bridged.through(wires[0], frame(host(1), host(2)))) == {1, 2}


def test_a_port_that_is_down_gets_nothing(bridged):
    wires = bridged.wires
    bridged.box.set_up(wires[1].interface, is_up=False)
    try:
        assert got(bridged.through(wires[0], frame(host(1), BROADCAST))) == {2, 3}
    finally:
        bridged.box.set_up(wires[1].interface, is_up=True)
        bridged.until(lambda: wires[1].memif.connection)


def test_a_bridge_of_one_port_drops(bench):
    bench.box.bridges.join(bench.wires[0].interface, 1)
    out, moved = bench.why(bench.wires[0], frame(host(1), host(2)))
    assert out == []
    assert sum(moved.values()) == 1


def test_a_vector_of_floods_is_copied_in_order_and_whole(bridged):
    frames = [frame(host(1), host(7), chance(each).randbytes(each * 7)) for each in range(200)]
    assert bridged.through(bridged.wires[0], *frames) == [[], frames, frames, frames]


def test_floods_that_outgrow_the_memory_of_packets_lose_copies_only(bridged):
    """Each of 256 frames needs two copies beside itself; all of them are more than half of the memory."""
    wire = bridged.wires[0]
    frames = [frame(host(1), BROADCAST, bytes([each & 255])) for each in range(1024)]
    for first in range(0, 1024, 256):
        wire.send(*frames[first : first + 256])
        bridged.turn(2)
    out = [each.received() for each in bridged.wires]
    assert out[0] == []
    assert out[-1] == frames


def test_two_learn_in_one_vector(bridged):
    wires = bridged.wires
    bridged.through(wires[0], frame(host(1), BROADCAST), frame(host(2), BROADCAST), frame(host(3), host(1)))
    bridged.through(wires[1], frame(host(4), host(3)))
    assert {each.mac.hex(":") for each in bridged.box.bridges.stations()} == {
        host(each) for each in (1, 2, 3, 4)
    }


def test_a_full_table_goes_on_learning(bridged):
    wires = bridged.wires
    for first in range(0, 3 * MACS, 256):
        wires[1].send(*(frame(host(first + each), BROADCAST, b"") for each in range(256)))
        bridged.turn(2)
        for each in wires:
            each.received()
    assert len(bridged.box.bridges.stations()) <= MACS
    late = "02:00:00:bb:00:01"
    bridged.through(wires[2], frame(late, BROADCAST))
    assert got(bridged.through(wires[0], frame(host(1), late))) == {2}


def test_a_table_in_which_all_are_forgotten_learns_again(bridged):
    wires, bridges = bridged.wires, bridged.box.bridges
    for round_ in range(3):
        for first in range(0, 2 * MACS, 256):
            wires[1].send(*(frame(host(first + each), BROADCAST, b"") for each in range(256)))
            bridged.turn(2)
            for each in wires:
                each.received()
        bridges.forget(wires[1].interface)
        assert {each.interface for each in bridges.stations()} <= {wires[2].index}
        late = f"02:00:00:bb:00:{round_:02x}"
        bridged.through(wires[2], frame(late, BROADCAST))
        assert got(bridged.through(wires[0], frame(host(9), late))) == {2}


def test_routing_again_after_a_bridge(bridged):
    for each in bridged.wires:
        bridged.box.bridges.route(each.interface)
    out, moved = bridged.why(bridged.wires[0], bridged.wires[0].frame() / udp("10.0.0.1", "10.0.0.2"))
    assert (out, moved) == ([], {"interface is not enabled for ip4": 1})


@kernel
def place(macs, bridge, mac):
    return place_of(macs, bridge, mac)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 12), st.integers(1, 3)), max_size=60))
def test_the_table_finds_what_was_put_in_and_not_forgotten(steps):
    """A table of 16 rows, in which addresses stand behind each other."""
    table, model = np.zeros((16, 4), np.int64), {}
    for is_put, mac, bridge in steps:
        row = place(table, bridge, mac)
        found = (table[row, 0], table[row, 1]) == (mac, bridge)
        if is_put:
            if not found and table[row, 0] > 0:
                model.pop((table[row, 0], table[row, 1]), None)
            table[row] = mac, bridge, 5, 0
            model[mac, bridge] = 5
        elif (mac, bridge) in model:
            assert found
            table[row] = -1, 0, 0, 0
            del model[mac, bridge]
        else:
            assert not found
    rows = [tuple(each) for each in table[:, :2].tolist() if each[0] > 0]
    assert sorted(rows) == sorted(model)
