"""IPv4 packets and other frames that no router may forward, and why each was dropped (RFC 1812)."""

from __future__ import annotations

import pytest
from glassbox_bench import BROADCAST, NOBODY, raw_mac, udp
from glassbox_forwarding import A, B, forwarded, goes, route_behind_second, stays, with_checksum
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from labs.glassbox.route import Prefix, Route


@pytest.mark.parametrize("ttl", [0, 1])
def test_a_packet_that_is_too_old_is_dropped(bench, ttl):
    stays(bench, bench.wires[0].frame() / udp(A, B, ttl=ttl), "ip4 ttl <= 1")


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


@pytest.mark.parametrize("version", [0, 1, 3, 5, 6, 15])
def test_other_versions_are_dropped(bench, version):
    raw = bytearray(bytes(udp(A, B)))
    raw[0] = version << 4 | 5
    stays(bench, bench.wires[0].frame(type=0x800) / Raw(bytes(with_checksum(raw, 20))), "ip4 version != 4")


@pytest.mark.parametrize("words", range(5))
def test_a_header_that_is_too_short_is_dropped(bench, words):
    raw = bytearray(bytes(udp(A, B)))
    raw[0] = 0x40 | words
    stays(
        bench,
        bench.wires[0].frame(type=0x800) / Raw(bytes(with_checksum(raw, words * 4 or 20))),
        "ip4 length > l2 length",
    )


@pytest.mark.parametrize("total", [0, 19, 47, 1000, 0xFFFF])
def test_a_total_length_that_cannot_be_is_dropped(bench, total):
    raw = bytearray(bytes(udp(A, B)))
    assert len(raw) == 46
    raw[2:4] = total.to_bytes(2)
    stays(
        bench,
        bench.wires[0].frame(type=0x800) / Raw(bytes(with_checksum(raw, 20))),
        "ip4 length > l2 length",
    )


def test_options_beyond_the_total_length_are_dropped(bench):
    raw = bytearray(bytes(IP(src=A, dst=B, ihl=15, len=59) / Raw(bytes(100))))
    stays(
        bench,
        bench.wires[0].frame(type=0x800) / Raw(bytes(with_checksum(raw, 60))),
        "ip4 length > l2 length",
    )


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


@pytest.mark.parametrize("flags", ["", "DF"])
def test_one_byte_more_than_the_mtu_is_dropped(bench, flags):
    frame = bench.wires[0].frame() / IP(src=A, dst=B, flags=flags) / Raw(bytes(8981))
    stays(bench, frame, "ip4 MTU exceeded and DF set")


def test_a_frame_for_another_host_is_dropped(bench):
    frame = Ether(src=bench.wires[0].ours, dst="02:00:00:00:00:77") / udp(A, B)
    stays(bench, frame, "l3 mac mismatch")


@pytest.mark.parametrize("byte", range(6))
def test_each_byte_of_our_hardware_address_counts(bench, byte):
    other = bytearray(raw_mac(bench.wires[0].theirs))
    other[byte] ^= 0x80
    frame = Ether(src=bench.wires[0].ours, dst=":".join(f"{each:02x}" for each in other)) / udp(A, B)
    stays(bench, frame, "l3 mac mismatch")


@pytest.mark.parametrize(
    "target", ["224.0.0.1", "224.0.0.251", "239.255.255.255", "240.0.0.1", "255.1.2.3", "255.255.255.255"]
)
def test_packets_for_many_are_not_forwarded_even_with_a_default_route(bench, target):
    routes = bench.box.routes
    hop = next(hop for index, hop in routes.neighbours if index == bench.wires[1].index)
    routes.add(Prefix("0.0.0.0/0"), Route("via", bench.wires[1].index, hop))
    try:
        frame = bench.wires[0].frame(dst=BROADCAST) / udp(A, target)
        stays(bench, frame, "ip4 destination is not for a router")
        goes(bench, udp(A, "8.8.8.8"))
        stays(bench, bench.wires[0].frame() / udp(A, NOBODY), "blackholed packets")
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
    route_behind_second(bench)
    bench.box.routes.add(Prefix("20.5.0.0/16"), Route("drop"))
    stays(bench, bench.wires[0].frame() / udp(A, "20.5.0.1"), "blackholed packets")
    bench.box.routes.remove(Prefix("20.5.0.0/16"))
    goes(bench, udp(A, "20.5.0.1"))


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
