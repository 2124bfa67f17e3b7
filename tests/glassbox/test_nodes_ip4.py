"""Forwarding IPv4: what comes out, byte for byte (RFC 1812)."""

from __future__ import annotations

import pytest
from glassbox_bench import chance, noise, udp
from glassbox_forwarding import A, B, forwarded, goes, route_behind_second, stays, with_checksum
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP, IPOption_RR, IPOption_Timestamp
from scapy.packet import Raw


def test_a_packet_goes_to_its_neighbour(bench):
    goes(bench, udp(A, B))


@pytest.mark.parametrize("ttl", [2, 3, 64, 255])
def test_time_to_live_goes_down_by_one(bench, ttl):
    goes(bench, udp(A, B, ttl=ttl))


@settings(max_examples=60, deadline=None)
@given(
    size=st.integers(0, 1472),
    ttl=st.integers(2, 255),
    tos=st.integers(0, 255),
    number=st.integers(0, 0xFFFF),
    flags=st.integers(0, 3),
    part=st.integers(0, 0x1FFF),
    protocol=st.integers(0, 255),
    host=st.integers(0, (1 << 24) - 1),
)
def test_any_sound_packet_goes_through_unchanged_but_for_its_age(
    made, size, ttl, tos, number, flags, part, protocol, host
):
    bench = made
    route_behind_second(bench)
    target = f"20.{host >> 16}.{host >> 8 & 255}.{host & 255}"
    packet = IP(src=A, dst=target, ttl=ttl, tos=tos, id=number, flags=flags, frag=part, proto=protocol)
    goes(bench, packet / Raw(noise(size)))
    bench.check()


def test_ethernet_padding_is_cut_off(bench):
    packet = udp(A, B, size=1)
    goes(bench, packet, bytes(bench.wires[0].frame() / packet) + bytes(17))


def test_what_follows_the_packet_does_not_come_out(bench):
    packet = IP(src=A, dst=B, len=28) / UDP(sport=1, dport=2, len=8)
    goes(bench, packet, bytes(bench.wires[0].frame() / packet) + b"x" * 900)


@pytest.mark.parametrize("words", [1, 5, 10])
def test_options_are_carried_along(bench, words):
    options = {
        1: [b"\x01\x01\x01\x00"],
        5: [IPOption_RR(pointer=20, routers=["1.2.3.4"] * 4)],
        10: [IPOption_Timestamp(length=40)],
    }
    packet = IP(src=A, dst=B, options=options[words]) / UDP(sport=1, dport=2) / b"options"
    assert (bytes(packet)[0] & 15) > 5
    goes(bench, packet)


def test_a_header_of_fifteen_words_goes_through(bench):
    raw = bytearray(bytes(IP(src=A, dst=B, ihl=15, len=60 + 4) / Raw(bytes(40) + b"data")))
    goes(bench, IP(bytes(with_checksum(raw, 60))))


def test_a_checksum_of_all_ones_for_zero_is_taken_and_comes_out_as_rfc_1624_wants(bench):
    raw = bytearray(bytes(udp(A, B, id=0)))
    raw[4:6] = with_checksum(bytearray(raw), 20)[10:12]
    raw = with_checksum(raw, 20)
    assert raw[10:12] == b"\0\0"
    raw[10:12] = b"\xff\xff"
    goes(bench, IP(bytes(raw)), bench.wires[0].frame(type=0x800) / Raw(bytes(raw)))


@pytest.mark.parametrize("checksum", [0xFEFF, 0xFF00, 0xFEFE, 0x0000, 0x00FF, 0xFFFE])
def test_checksums_at_the_wrap(bench, checksum):
    raw = bytearray(bytes(udp(A, B)))
    raw[4:6] = b"\0\0"
    now = int.from_bytes(with_checksum(bytearray(raw), 20)[10:12])
    raw[4:6] = ((now - checksum) % 0xFFFF).to_bytes(2)
    raw = with_checksum(raw, 20)
    assert int.from_bytes(raw[10:12]) in (checksum, checksum % 0xFFFF)
    goes(bench, IP(bytes(raw)))


def test_an_ipv4_packet_of_just_a_header_goes_through(bench):
    goes(bench, IP(src=A, dst=B, proto=253))


@pytest.mark.parametrize("size", [1500, 4000, 9000])
def test_jumbo_frames_go_through(bench, size):
    packet = IP(src=A, dst=B) / UDP(sport=1, dport=2) / Raw(chance(size).randbytes(size - 28))
    assert len(packet) == size
    goes(bench, packet)


def test_a_smaller_mtu_counts_the_ip_packet_and_not_the_frame(bench):
    interface = bench.wires[1].interface
    interface.mtu = 576
    bench.box.interfaces.write(interface)
    bench.box.routes.refresh(interface)
    try:
        goes(bench, IP(src=A, dst=B, proto=253) / Raw(bytes(556)))
        stays(
            bench, bench.wires[0].frame() / IP(src=A, dst=B) / Raw(bytes(557)), "ip4 MTU exceeded and DF set"
        )
    finally:
        interface.mtu = 9000
        bench.box.interfaces.write(interface)
        bench.box.routes.refresh(interface)


def test_fragments_are_forwarded_like_any_packet(bench):
    for flags, part in (("MF", 0), ("MF", 185), ("", 370)):
        goes(bench, IP(src=A, dst=B, flags=flags, frag=part, proto=17) / Raw(b"12345678"))


def test_a_packet_may_leave_where_it_came_in(bench):
    goes(bench, udp(A, "10.0.0.2"), out=0)


def test_a_vector_of_different_fates_is_sorted(bench):
    wire = bench.wires[0]
    good = [udp(A, f"10.0.{each % 3}.2", size=each % 40) for each in range(240)]
    frames = []
    for number, packet in enumerate(good):
        frames.append(wire.frame() / packet)
        if number % 20 == 0:
            frames.append(wire.frame() / udp(A, "99.0.0.1"))
    results = bench.through(wire, *frames)
    for which in range(3):
        assert results[which] == [forwarded(each, bench.wires[which]) for each in good[which::3]]


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 600, 1000])
def test_any_number_of_packets_waits_its_turn_in_order(bench, count):
    wire = bench.wires[0]
    packets = [udp(A, B, id=each) for each in range(count)]
    wire.send(*(wire.frame() / each for each in packets))
    got = []
    for _ in range(6):
        bench.turn()
        got += bench.wires[1].received()
    assert got == [forwarded(each, bench.wires[1]) for each in packets]


def test_a_full_ring_costs_packets_and_is_counted(bench):
    wire = bench.wires[0]
    packets = [udp(A, B, id=each) for each in range(900)]
    before = bench.counts().get(("memif-tx", "no free tx slots"), 0)
    for _ in range(2):
        wire.send(*(wire.frame() / each for each in packets))
        bench.turn(5)
    lost = bench.counts()[("memif-tx", "no free tx slots")] - before
    assert len(bench.wires[1].received()) + lost == 1800
    assert lost > 0


def test_counters_of_interfaces_add_up(bench):
    wire, out = bench.wires[0], bench.wires[1]
    before = [bench.box.counters.of_interface(each.index) for each in bench.wires]
    frames = [bytes(wire.frame() / udp(A, B, size=each)) for each in range(100)]
    frames += [bytes(wire.frame() / udp(A, "99.0.0.1"))] * 7
    bench.through(wire, *frames)
    after = [bench.box.counters.of_interface(each.index) for each in bench.wires]
    moved = [{name: now[name] - then[name] for name in now} for now, then in zip(after, before, strict=True)]
    assert moved[wire.number]["rx packets"] == 107
    assert moved[wire.number]["rx bytes"] == sum(map(len, frames))
    assert moved[wire.number]["drops"] == 7
    assert moved[out.number]["tx packets"] == 100
    assert moved[out.number]["tx bytes"] == sum(map(len, frames[:100]))
