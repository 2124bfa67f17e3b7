"""Zero-copy clients: packets that servers read and write in place, and that come back in any case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from glassbox_bench import Bench, chance, echo, many, udp
from scapy.layers.inet import IP

from labs import memif
from labs.glassbox import drops
from labs.glassbox.lending import RESERVE
from labs.glassbox.packet import ROOM, STRIDE
from labs.glassbox.vm import FREE, PACKETS, VECTOR
from labs.memif import Burst
from labs.memif.ring import DESCRIPTOR

A, B = "10.0.0.2", "10.0.1.2"


@pytest.fixture(scope="module")
def made(folder):
    """Make a box that is the client of two servers, and the server of one client."""
    bench = Bench(folder)
    for number in range(3):
        wire = bench.wire(number, f"10.0.{number}.1/24", made=None if number == 2 else {})
        bench.neighbour(wire, f"10.0.{number}.2")
    bench.turn(2)
    yield bench
    bench.close()


def slots_of(ring):
    return ring.memory[2 * ring.line :].view(DESCRIPTOR)


def test_both_clients_lend_the_same_memory(bench):
    sizes = [[each.size for each in wire.link.connection.regions] for wire in bench.wires[:2]]
    assert sizes[0] == sizes[1]
    assert sizes[0][1] > PACKETS * STRIDE
    ring = bench.wires[0].link.connection.tx[0].ring
    assert ring.head == ring.size
    assert set(slots_of(ring)["region"]) == {1}
    assert len(set(slots_of(ring)["offset"])) == ring.size


@pytest.mark.parametrize("size", [18, 1400, 2048, 4000, 8900])
@pytest.mark.parametrize("way", [(0, 1), (1, 0), (0, 0), (0, 2), (2, 0)])
def test_packets_go_through(bench, size, way):
    came, leaves = (bench.wires[each] for each in way)
    data = chance(size).randbytes(size)
    packet = IP(src=f"10.0.{way[0]}.2", dst=f"10.0.{way[1]}.2") / data
    out = bench.through(came, came.frame() / packet)
    assert [len(each) for each in out] == [int(each is leaves) for each in bench.wires]
    got = IP(out[way[1]][0][14:])
    assert bytes(got.payload) == data
    assert got.ttl == packet.ttl - 1


def test_no_byte_is_copied_on_the_way(bench):
    """The server finds the packet that it has filled, where it has filled it."""
    one, other = bench.wires[:2]
    filled = slots_of(one.link.connection.tx[0].ring)
    offsets = set(filled["offset"].tolist())
    before = other.link.connection.rx[0].ring.head
    one.send(one.frame() / udp(A, B))
    bench.turn()
    ring = other.link.connection.rx[0].ring
    sent = slots_of(ring)[before & (ring.size - 1)]
    assert int(sent["offset"]) in offsets
    other.received()


def test_the_order_stays_and_none_is_lost_over_many_rounds(bench):
    one, other = bench.wires[:2]
    raws = many(one, A, B, 5000)
    got = []
    for first in range(0, len(raws), 500):
        one.send(*raws[first : first + 500])
        bench.turn(3)
        got += other.received()
    assert [IP(each[14:]).id for each in got] == list(range(5000))


def test_a_question_is_answered_in_place(bench):
    out = bench.through(bench.wires[0], bench.wires[0].frame() / echo(A, "10.0.0.1", b"x" * 3000))
    assert bytes(IP(out[0][0][14:]).payload.payload) == b"x" * 3000


def test_dropped_packets_are_lent_again(bench):
    for _ in range(20):
        out, moved = bench.why(bench.wires[0], *many(bench.wires[0], A, "99.0.0.1", 256))
        assert out == []
        assert moved == {"blackholed packets": 256}
    bench.check()


@pytest.mark.parametrize("size", [ROOM, ROOM + 1, 20_000])
def test_what_is_too_long_is_left_out_and_counted(bench, size):
    wire = bench.wires[0]
    before = int(bench.box.vm.errors[drops.TOO_LARGE])
    good = wire.frame() / udp(A, B)
    out, _ = bench.why(wire, good, bytes(size), good)
    assert len(out) == 2
    assert int(bench.box.vm.errors[drops.TOO_LARGE]) - before == (size > ROOM)


def test_a_server_that_does_not_read_cannot_hold_all_packets(bench):
    """Three slow servers, each with room for more than there are packets."""
    slow = [bench.wire(number, f"10.{number}.0.1/24", made={"ring_size": 4096}) for number in (20, 21, 22)]
    for wire in slow:
        bench.neighbour(wire, f"10.{wire.number}.0.2")
    for wire in slow:
        for _ in range(20):
            source = bench.wires[2]
            source.send(*many(source, "10.0.2.2", f"10.{wire.number}.0.2", 256))
            bench.turn(2)
    assert int(bench.box.vm.state[FREE]) >= VECTOR
    through = bench.wires[2]
    assert len(bench.through(through, through.frame() / udp("10.0.2.2", "10.0.2.2"))[2]) == 1
    for wire in slow:
        bench.cut(wire)
    bench.turn(3)
    bench.check()


def test_a_ring_that_is_larger_than_the_pool_leaves_a_reserve(bench):
    wire = bench.wire(23, "10.23.0.1/24", made={"ring_size": 16384})
    bench.neighbour(wire, "10.23.0.2")
    bench.turn(3)
    assert RESERVE <= int(bench.box.vm.state[FREE]) < RESERVE + VECTOR
    for _ in range(30):
        packets = many(wire, "10.23.0.2", "10.23.0.2", 200)
        wire.send(*packets)
        bench.turn(2)
        assert len(wire.received()) == 200
    bench.cut(wire)
    bench.turn(3)
    bench.check()


def test_nothing_is_lost_over_a_thousand_connections(bench):
    one = bench.wire(24, "10.24.0.1/24", made={"ring_size": 256})
    bench.neighbour(one, "10.24.0.2")
    path, number = one.link.path, one.number
    one.memif.link.settings = replace(one.memif.link.settings, retry=0.001)
    for each in range(1000):
        one.link.send([bytes(one.frame() / udp("10.24.0.2", "10.24.0.2", id=each))] * 3, timeout=0)
        bench.turn()
        one.link.close()
        bench.until(lambda: one.memif.connection is None)
        one.link = memif.Server(path, number)
        one.link.start()
        bench.until(lambda: one.memif.connection, 20)
        if each % 100 == 0:
            bench.check()
    assert one.memif.link.times_up == 1001
    bench.cut(one)
    bench.turn(2)
    bench.check()


def test_an_interface_that_goes_down_and_up_keeps_its_packets(bench):
    one = bench.wires[0]
    for _ in range(50):
        bench.box.set_up(one.interface, is_up=False)
        one.link.send([bytes(one.frame() / udp(A, B))] * 10, timeout=0)
        bench.turn()
        bench.box.set_up(one.interface, is_up=True)
        bench.turn(2)
        bench.wires[1].received()
    bench.check()
    assert len(bench.through(one, one.frame() / udp(A, B))[1]) == 1


def test_a_bridge_copies_what_it_sends_to_several(bench):
    ports = bench.wires
    for each in ports:
        bench.box.bridges.join(each.interface, 4)
    raw = bytes(ports[0].frame(dst="ff:ff:ff:ff:ff:ff")) + bytes(1000)
    out = bench.through(ports[0], raw)
    for each in ports:
        bench.box.bridges.route(each.interface)
    bench.box.bridges.forget_all()
    assert out == [[], [raw], [raw]]
    bench.check()


def test_no_zero_copy_has_buffers_of_its_own(bench):
    wire = bench.wire(25, "10.25.0.1/24", made={"zero_copy": False})
    bench.neighbour(wire, "10.25.0.2")
    assert len(wire.link.connection.regions) == 1
    assert len(bench.through(wire, wire.frame() / udp("10.25.0.2", B))[1]) == 1
    bench.cut(wire)


@pytest.mark.parametrize("size", [1, 2, 16, 64])
def test_small_rings(bench, size):
    wire = bench.wire(26, "10.26.0.1/24", made={"ring_size": size})
    bench.neighbour(wire, "10.26.0.2")
    bench.turn(2)
    for number in range(200):
        out = bench.through(wire, wire.frame() / udp("10.26.0.2", "10.26.0.2", id=number))
        assert IP(out[-1][0][14:]).id == number
    bench.cut(wire)


def test_random_traffic_is_accounted_for(bench):
    one, other = bench.wires[:2]
    rng = chance(1)
    before = np.array(bench.box.vm.rx[:, 0])
    sent = 0
    for _ in range(60):
        burst = [
            rng.randbytes(rng.choice([1, 14, 60, 2000, 2049, 5000])) for _ in range(rng.randrange(1, 300))
        ]
        for wire in (one, other):
            sent += wire.link.send_burst(Burst.of(burst))
        bench.turn(2)
        for wire in bench.wires:
            wire.received()
        bench.check()
    bench.turn(4)
    assert int((bench.box.vm.rx[:, 0] - before).sum()) == sent
