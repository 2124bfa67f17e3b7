"""memif interfaces in and out: queues, chained buffers, packets without Ethernet headers, random frames."""

from __future__ import annotations

import ipaddress

import numpy as np
import pytest
from glassbox_bench import Bench, chance, echo, udp
from scapy.layers.inet import IP
from scapy.layers.l2 import ARP, Ether

from labs.glassbox import drops
from labs.glassbox.packet import ROOM
from labs.glassbox.route import Prefix, Route
from labs.memif import Burst

A, B = "10.0.0.2", "10.0.1.2"
ROUNDS = 40


@pytest.fixture(scope="module")
def made(folder):
    """Make a box with two wires of Ethernet and two without."""
    bench = Bench(folder)
    for number in range(2):
        wire = bench.wire(number, f"10.0.{number}.1/24")
        bench.neighbour(wire, f"10.0.{number}.2")
    for number in (2, 3):
        bench.wire(number, f"10.0.{number}.1/24", is_ip=True)
    yield bench
    bench.close()


def aged(packet):
    older = IP(bytes(packet))
    older.ttl -= 1
    del older.chksum
    return bytes(older)


def test_without_ethernet_packets_go_through_as_they_are(bench):
    packet = udp("10.0.2.2", "10.0.3.2")
    assert bench.through(bench.wires[2], packet) == [[], [], [], [aged(packet)]]


def test_from_ethernet_to_none_and_back(bench):
    packet = udp(A, "10.0.2.2")
    assert bench.through(bench.wires[0], bench.wires[0].frame() / packet)[2] == [aged(packet)]
    packet = udp("10.0.2.2", A)
    out = bench.through(bench.wires[2], packet)
    assert out[0] == [
        bytes(Ether(src=bench.wires[0].theirs, dst=bench.wires[0].ours))[:12] + b"\x08\0" + aged(packet)
    ]


def test_an_unknown_neighbour_is_asked_for_with_ethernet_only(bench):
    out = bench.through(bench.wires[2], udp("10.0.2.2", "10.0.1.99"))
    assert ARP in Ether(out[1][0])
    packet = udp(A, "10.0.3.200")
    assert bench.through(bench.wires[0], bench.wires[0].frame() / packet)[3] == [aged(packet)]


def test_a_route_by_an_interface_without_ethernet_needs_no_neighbour(bench):
    prefix = Prefix("70.0.0.0/8")
    bench.box.routes.add(prefix, Route("via", bench.wires[3].index, ipaddress.ip_address("10.0.3.2")))
    packet = udp("10.0.2.2", "70.1.2.3")
    out = bench.through(bench.wires[2], packet)
    bench.box.routes.remove(prefix)
    assert out[3] == [aged(packet)]


def test_an_echo_without_ethernet_is_answered(bench):
    out = bench.through(bench.wires[2], echo("10.0.2.2", "10.0.2.1"))
    assert IP(out[2][0]).dst == "10.0.2.2"
    assert out[2][0][:1] == b"\x45"


@pytest.mark.parametrize("size", range(1, 30))
def test_small_packets_without_ethernet(bench, size):
    raw = bytes(udp("10.0.2.2", "10.0.3.2"))[:size]
    out, moved = bench.why(bench.wires[2], raw)
    assert out == []
    assert moved == {"ip4 length < 20 bytes" if size < 20 else "ip4 length > l2 length": 1}


def test_ipv6_without_ethernet_is_another_version(bench):
    out, moved = bench.why(bench.wires[2], b"\x60" + bytes(59))
    assert (out, moved) == ([], {"ip4 version != 4": 1})


@pytest.mark.parametrize("buffer_size", [64, 256, 2048, 16384])
def test_packets_in_many_small_buffers(bench, buffer_size):
    wire = bench.wire(10, "10.10.0.1/24", buffer_size=buffer_size, ring_size=512)
    bench.neighbour(wire, "10.10.0.2")
    for size in (60, 64, 65, 127, 128, 129, 1500, 9014):
        packet = IP(src="10.10.0.2", dst="10.10.0.2") / chance(size).randbytes(size - 34)
        got = bench.through(wire, wire.frame() / packet)[-1]
        assert got[0][14:] == aged(packet)
    bench.cut(wire)


@pytest.mark.parametrize("size", [ROOM - 1, ROOM, ROOM + 1, 20_000])
def test_what_does_not_fit_is_left_out_and_counted(bench, size):
    wire = bench.wires[0]
    before = int(bench.box.vm.errors[drops.TOO_LARGE])
    good = wire.frame() / udp(A, B)
    out, _ = bench.why(wire, good, bytes(size), good)
    assert len(out) == 2
    assert int(bench.box.vm.errors[drops.TOO_LARGE]) - before == (size > ROOM)


@pytest.mark.parametrize("queues", [2, 4])
def test_every_queue_is_looked_into(bench, queues):
    wire = bench.wire(11, "10.11.0.1/24", queues=queues)
    assert len(wire.memif.rows) == queues
    for number in range(queues):
        wire.link.send(
            [bytes(wire.frame() / udp("10.11.0.2", B, id=each)) for each in range(300)], queue=number
        )
    got = []
    for _ in range(4):
        bench.turn()
        got += bench.wires[1].received()
    bench.cut(wire)
    assert sorted(IP(each[14:]).id for each in got) == sorted(list(range(300)) * queues)


def test_the_smallest_ring(bench):
    wire = bench.wire(12, "10.12.0.1/24", ring_size=1)
    bench.neighbour(wire, "10.12.0.2")
    for number in range(5):
        packet = udp("10.12.0.2", "10.12.0.2", id=number)
        assert bench.through(wire, wire.frame() / packet)[-1][0][14:] == aged(packet)
    bench.cut(wire)


def frames(seed, count):
    """Return frames that are random in a way that gets them far: wrong in one place or another."""
    rng = chance(seed)
    made = []
    for _ in range(count):
        raw = bytearray(rng.choice(_SEEDS))
        for _ in range(rng.randrange(4)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        kind = rng.random()
        if kind < 0.2:
            raw = raw[: rng.randrange(1, len(raw) + 1)]
        elif kind < 0.3:
            raw = bytearray(rng.randbytes(rng.randrange(1, 2000)))
        elif kind < 0.35:
            raw += bytes(rng.randrange(9600))
        made.append(bytes(raw))
    return made


_PACKETS = [
    udp(A, B),
    udp(A, B, ttl=1),
    udp(A, "10.0.1.99"),
    udp(A, "99.0.0.1"),
    echo(A, "10.0.0.1"),
    echo(A, "10.0.0.1", b"x" * 333),
    ARP(op=1, psrc=A, pdst="10.0.0.1", hwsrc="02:00:00:00:00:0b"),
    ARP(op=2, psrc="10.0.0.9", pdst="10.0.0.1", hwsrc="02:00:00:00:00:0b"),
    IP(src=A, dst=B, options=[b"\x01\x01\x01\x00"]) / b"x",
    udp(A, "10.0.3.7"),
]
_SEEDS = [bytes(Ether(src="02:00:00:00:00:0b", dst="02:00:00:00:00:0a") / each) for each in _PACKETS]


@pytest.mark.parametrize("mode", ["routes", "bridge", "wire"])
def test_whatever_comes_in_every_packet_is_accounted_for(bench, mode):
    box = bench.box
    ports = bench.wires[:2]
    if mode == "bridge":
        for each in ports:
            box.bridges.join(each.interface, 4)
    elif mode == "wire":
        box.bridges.connect(ports[0].interface, ports[1].interface)
    seed = 0
    totals = {name: np.array(getattr(box.vm, name)) for name in ("rx", "tx", "errors")}
    sent = came = 0
    for _ in range(ROUNDS):
        for wire in (bench.wires[0], bench.wires[2]):
            burst = frames(seed, chance(seed).choice([1, 7, 256, 700]))
            if wire is bench.wires[2]:
                burst = [each[14:] for each in burst if len(each) > 14]
            seed += 1
            sent += wire.link.send_burst(Burst.of(burst))
        for _ in range(4):
            bench.turn()
            came += sum(len(each.received()) for each in bench.wires)
        bench.check()
    for each in ports:
        box.bridges.route(each.interface)
    box.bridges.forget_all()
    for index, address in [key for key in box.routes.neighbours if key not in box.routes.static]:
        box.routes.forget(index, address)
    moved = {name: getattr(box.vm, name) - totals[name] for name in totals}
    events = {drops.ECHO_REPLIES_SENT, drops.ARP_REQUESTS_SENT, drops.ARP_REPLIES_SENT, drops.TOO_LARGE}
    dropped = sum(int(count) for number, count in enumerate(moved["errors"]) if number not in events)
    rx = int(moved["rx"][:, 0].sum())
    assert sent == rx + int(moved["errors"][drops.TOO_LARGE])
    assert came == int(moved["tx"][:, 0].sum()) - int(moved["errors"][drops.NO_SLOTS])
    assert rx == came + dropped
    assert came > ROUNDS
