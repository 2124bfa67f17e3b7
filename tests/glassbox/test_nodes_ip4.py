"""Forwarding IPv4: what comes out, byte for byte, and why the rest does not (RFC 1812)."""

from __future__ import annotations

import random

import pytest
from glassbox_bench import BROADCAST, raw_mac, udp
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP, IPOption_RR, IPOption_Timestamp
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from labs.glassbox.routes import Prefix, Route

A, B = "10.0.0.2", "10.0.1.2"


def forwarded(packet, wire):
    """Return the frame that a router has to send by a wire for this IPv4 packet."""
    raw = bytearray(bytes(packet))
    size = int.from_bytes(raw[2:4])
    raw = raw[:size]
    header = (raw[0] & 15) * 4
    raw[8] -= 1
    raw[10:12] = b"\0\0"
    total = sum(int.from_bytes(raw[each : each + 2]) for each in range(0, header, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    raw[10:12] = (~total & 0xFFFF).to_bytes(2)
    return bytes(Ether(src=wire.theirs, dst=wire.ours, type=0x0800)) + bytes(raw)


def goes(bench, packet, frame=None, out=1):
    """Send a packet in by the first wire, and see that exactly it comes out of another, aged."""
    frame = frame or bench.wires[0].frame() / packet
    results = bench.through(bench.wires[0], frame)
    wanted = [forwarded(packet, bench.wires[out])]
    assert results == [wanted if each == out else [] for each in range(len(bench.wires))]


def stays(bench, frame, reason):
    """Send a frame in by the first wire, and see that it is dropped for one reason."""
    out, moved = bench.why(bench.wires[0], frame)
    assert out == []
    assert moved == {reason: 1}


def test_a_packet_goes_to_its_neighbour(bench):
    goes(bench, udp(A, B))


@pytest.mark.parametrize("ttl", [2, 3, 64, 255])
def test_time_to_live_goes_down_by_one(bench, ttl):
    goes(bench, udp(A, B, ttl=ttl))


@pytest.mark.parametrize("ttl", [0, 1])
def test_a_packet_that_is_too_old_is_dropped(bench, ttl):
    stays(bench, bench.wires[0].frame() / udp(A, B, ttl=ttl), "ip4 ttl <= 1")


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
def test_any_sound_packet_goes_through_unchanged_but_for_its_age(made, size, ttl, tos, number, flags, part, protocol, host):
    bench = made
    _route_behind_second(bench)
    target = f"20.{host >> 16}.{host >> 8 & 255}.{host & 255}"
    packet = IP(src=A, dst=target, ttl=ttl, tos=tos, id=number, flags=flags, frag=part, proto=protocol)
    goes(bench, packet / Raw(random.Random(size).randbytes(size)))
    bench.check()


def _route_behind_second(bench):
    if Prefix("20.0.0.0/8") not in bench.box.routes.routes:
        wire = bench.wires[1]
        hop = next(hop for index, hop in bench.box.routes.neighbours if index == wire.index)
        bench.box.routes.add(Prefix("20.0.0.0/8"), Route("via", wire.index, hop))


def test_ethernet_padding_is_cut_off(bench):
    packet = udp(A, B, size=1)
    goes(bench, packet, bytes(bench.wires[0].frame() / packet) + bytes(17))


def test_what_follows_the_packet_does_not_come_out(bench):
    packet = IP(src=A, dst=B, len=28) / UDP(sport=1, dport=2, len=8)
    goes(bench, packet, bytes(bench.wires[0].frame() / packet) + b"x" * 900)


@pytest.mark.parametrize("words", [1, 5, 10])
def test_options_are_carried_along(bench, words):
    options = {1: [b"\x01\x01\x01\x00"], 5: [IPOption_RR(pointer=20, routers=["1.2.3.4"] * 4)], 10: [IPOption_Timestamp(length=40)]}
    packet = IP(src=A, dst=B, options=options[words]) / UDP(sport=1, dport=2) / b"options"
    assert (bytes(packet)[0] & 15) > 5
    goes(bench, packet)


def test_a_header_of_fifteen_words_goes_through(bench):
    raw = bytearray(bytes(IP(src=A, dst=B, ihl=15, len=60 + 4) / Raw(bytes(40) + b"data")))
    goes(bench, IP(bytes(_with_checksum(raw, 60))))


def _with_checksum(raw, header):
    raw[10:12] = b"\0\0"
    total = sum(int.from_bytes(raw[each : each + 2]) for each in range(0, header, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    raw[10:12] = (~total & 0xFFFF).to_bytes(2)
    return raw


def test_wrong_options_checksum_is_found(bench):
    raw = bytearray(bytes(IP(src=A, dst=B, options=[b"\x01\x01\x01\x00"]) / UDP()))
    raw[21] ^= 4
    stays(bench, bench.wires[0].frame(type=0x800) / Raw(bytes(raw)), "bad ip4 header checksum")


@pytest.mark.parametrize("bit", range(160))
def test_any_bit_of_the_header_that_is_wrong_is_found(bench, bit):
    raw = bytearray(bytes(udp(A, B)))
    raw[bit // 8] ^= 1 << bit % 8
    out, moved = bench.why(bench.wires[0], bench.wires[0].frame(type=0x800) / Raw(bytes(raw)))
    assert out == []
    assert sum(moved.values()) == 1
    assert set(moved) <= {"bad ip4 header checksum", "ip4 version != 4", "ip4 length > l2 length"}


def test_a_checksum_of_all_ones_for_zero_is_taken_and_comes_out_as_rfc_1624_wants(bench):
    for number in range(0x10000):
        raw = bytearray(bytes(udp(A, B, id=0)))
        raw[4:6] = number.to_bytes(2)
        if _with_checksum(bytearray(raw), 20)[10:12] == b"\0\0":
            break
    raw = _with_checksum(raw, 20)
    raw[10:12] = b"\xff\xff"
    goes(bench, IP(bytes(raw)), bench.wires[0].frame(type=0x800) / Raw(bytes(raw)))


@pytest.mark.parametrize("checksum", [0xFEFF, 0xFF00, 0xFEFE, 0x0000, 0x00FF, 0xFFFE])
def test_checksums_at_the_wrap(bench, checksum):
    raw = bytearray(bytes(udp(A, B)))
    raw[4:6] = b"\0\0"
    now = int.from_bytes(_with_checksum(bytearray(raw), 20)[10:12])
    raw[4:6] = ((now - checksum) % 0xFFFF).to_bytes(2)
    raw = _with_checksum(raw, 20)
    assert int.from_bytes(raw[10:12]) in (checksum, checksum % 0xFFFF)
    goes(bench, IP(bytes(raw)))


@pytest.mark.parametrize("version", [0, 1, 3, 5, 6, 15])
def test_other_versions_are_dropped(bench, version):
    raw = bytearray(bytes(udp(A, B)))
    raw[0] = version << 4 | 5
    stays(bench, bench.wires[0].frame(type=0x800) / Raw(bytes(_with_checksum(raw, 20))), "ip4 version != 4")


@pytest.mark.parametrize("words", range(5))
def test_a_header_that_is_too_short_is_dropped(bench, words):
    raw = bytearray(bytes(udp(A, B)))
    raw[0] = 0x40 | words
    stays(bench, bench.wires[0].frame(type=0x800) / Raw(bytes(_with_checksum(raw, words * 4 or 20))), "ip4 length > l2 length")


@pytest.mark.parametrize("total", [0, 19, 47, 1000, 0xFFFF])
def test_a_total_length_that_cannot_be_is_dropped(bench, total):
    raw = bytearray(bytes(udp(A, B)))
    assert len(raw) == 46
    raw[2:4] = total.to_bytes(2)
    stays(bench, bench.wires[0].frame(type=0x800) / Raw(bytes(_with_checksum(raw, 20))), "ip4 length > l2 length")


def test_options_beyond_the_total_length_are_dropped(bench):
    raw = bytearray(bytes(IP(src=A, dst=B, ihl=15, len=59) / Raw(bytes(100))))
    stays(bench, bench.wires[0].frame(type=0x800) / Raw(bytes(_with_checksum(raw, 60))), "ip4 length > l2 length")


@pytest.mark.parametrize("size", range(1, 61))
def test_frames_of_every_small_length(bench, size):
    wire = bench.wires[0]
    whole = bytes(wire.frame() / udp(A, B, size=18))
    assert len(whole) == 60
    out, moved = bench.why(wire, whole[:size])
    if size == 60:
        assert out == [forwarded(udp(A, B, size=18), bench.wires[1])]
        return
    reason = "too short" if size < 14 else "ip4 length < 20 bytes" if size < 34 else "ip4 length > l2 length"
    assert out == []
    assert moved == {reason: 1}


def test_an_ipv4_packet_of_just_a_header_goes_through(bench):
    goes(bench, IP(src=A, dst=B, proto=253))


@pytest.mark.parametrize("size", [1500, 4000, 9000])
def test_jumbo_frames_go_through(bench, size):
    packet = IP(src=A, dst=B) / UDP(sport=1, dport=2) / Raw(random.Random(size).randbytes(size - 28))
    assert len(packet) == size
    goes(bench, packet)


@pytest.mark.parametrize("flags", ["", "DF"])
def test_one_byte_more_than_the_mtu_is_dropped(bench, flags):
    frame = bench.wires[0].frame() / IP(src=A, dst=B, flags=flags) / Raw(bytes(8981))
    stays(bench, frame, "ip4 MTU exceeded and DF set")


def test_a_smaller_mtu_counts_the_ip_packet_and_not_the_frame(bench):
    interface = bench.wires[1].interface
    interface.mtu = 576
    bench.box.interfaces.write(interface)
    bench.box.routes.refresh(interface)
    try:
        goes(bench, IP(src=A, dst=B, proto=253) / Raw(bytes(556)))
        stays(bench, bench.wires[0].frame() / IP(src=A, dst=B) / Raw(bytes(557)), "ip4 MTU exceeded and DF set")
    finally:
        interface.mtu = 9000
        bench.box.interfaces.write(interface)
        bench.box.routes.refresh(interface)


def test_fragments_are_forwarded_like_any_packet(bench):
    for flags, part in (("MF", 0), ("MF", 185), ("", 370)):
        goes(bench, IP(src=A, dst=B, flags=flags, frag=part, proto=17) / Raw(b"12345678"))


def test_a_frame_for_another_host_is_dropped(bench):
    frame = Ether(src=bench.wires[0].ours, dst="02:00:00:00:00:77") / udp(A, B)
    stays(bench, frame, "l3 mac mismatch")


@pytest.mark.parametrize("byte", range(6))
def test_each_byte_of_our_hardware_address_counts(bench, byte):
    other = bytearray(raw_mac(bench.wires[0].theirs))
    other[byte] ^= 0x80
    frame = Ether(src=bench.wires[0].ours, dst=":".join(f"{each:02x}" for each in other)) / udp(A, B)
    stays(bench, frame, "l3 mac mismatch")


@pytest.mark.parametrize("target", ["224.0.0.1", "224.0.0.251", "239.255.255.255", "240.0.0.1", "255.1.2.3", "255.255.255.255"])
def test_packets_for_many_are_not_forwarded_even_with_a_default_route(bench, target):
    routes = bench.box.routes
    hop = next(hop for index, hop in routes.neighbours if index == bench.wires[1].index)
    routes.add(Prefix("0.0.0.0/0"), Route("via", bench.wires[1].index, hop))
    try:
        frame = bench.wires[0].frame(dst=BROADCAST) / udp(A, target)
        stays(bench, frame, "ip4 destination is not for a router")
        goes(bench, udp(A, "8.8.8.8"))
        stays(bench, bench.wires[0].frame() / udp(A, "0.0.0.0"), "blackholed packets")
    finally:
        routes.remove(Prefix("0.0.0.0/0"))
    stays(bench, bench.wires[0].frame() / udp(A, "8.8.8.8"), "blackholed packets")


@pytest.mark.parametrize("target", ["10.0.1.255", "10.0.1.0"])
def test_nothing_is_sent_to_all_hosts_of_a_subnet(bench, target):
    stays(bench, bench.wires[0].frame() / udp(A, target), "blackholed packets")


@pytest.mark.parametrize("kind", [0x0801, 0x86DD, 0x88CC, 0x0000, 0x0026, 0x8847])
def test_other_kinds_of_frame_are_dropped(bench, kind):
    stays(bench, bench.wires[0].frame(type=kind) / Raw(bytes(50)), "unknown ethernet type")


def test_a_tagged_frame_is_of_another_kind(bench):
    stays(bench, bench.wires[0].frame() / Dot1Q(vlan=5) / udp(A, B), "unknown ethernet type")


def test_an_address_without_a_route_is_dropped(bench):
    stays(bench, bench.wires[0].frame() / udp(A, "99.0.0.1"), "blackholed packets")


def test_a_drop_route_inside_another_one_drops(bench):
    _route_behind_second(bench)
    bench.box.routes.add(Prefix("20.5.0.0/16"), Route("drop"))
    stays(bench, bench.wires[0].frame() / udp(A, "20.5.0.1"), "blackholed packets")
    bench.box.routes.remove(Prefix("20.5.0.0/16"))
    goes(bench, udp(A, "20.5.0.1"))


def test_a_packet_may_leave_where_it_came_in(bench):
    goes(bench, udp(A, "10.0.0.2"), out=0)


def test_an_interface_that_is_down_sends_nothing(bench):
    wire = bench.wires[2]
    bench.box.set_up(wire.interface, is_up=False)
    try:
        stays(bench, bench.wires[0].frame() / udp(A, "10.0.2.2"), "interface is down")
    finally:
        bench.box.set_up(wire.interface, is_up=True)
    bench.until(lambda: wire.memif.connection)
    goes(bench, udp(A, "10.0.2.2"), out=2)


def test_an_interface_without_an_address_takes_no_ipv4(bench):
    routes, interface = bench.box.routes, bench.wires[2].interface
    address = interface.addresses[0]
    routes.remove_address(interface, address)
    out, moved = bench.why(bench.wires[2], bench.wires[2].frame() / udp("10.0.2.2", B))
    routes.add_address(interface, address)
    bench.neighbour(bench.wires[2], "10.0.2.2")
    assert (out, moved) == ([], {"interface is not enabled for ip4": 1})


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
