from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import Ether

from labs.errors import LabError
from labs.glassbox.commands.packet_headers import Range
from labs.glassbox.commands.packet_text import describe

FRAME = "IP4: 02:00:00:00:00:a2 -> 02:00:00:00:00:a0 "
NOTEBOOK = (
    FRAME
    + """
    UDP: 10.0.0.2 -> 10.0.1.2
    UDP: 1234 -> 2345
    length 22 checksum 0 incrementing 14"""
)

# What VPP 26.06's packet generator made of these, captured behind a pg interface.
GOLDEN = {
    (NOTEBOOK, 64): "0200000000a00200000000a208004500003200000000401165b80a0000020a000102"
    "04d2092900160000000102030405060708090a0b0c0d0000000000000000",
    ("hex 0x0102030405060708090a0b0c0d0e0800", 20): "0102030405060708090a0b0c0d0e080000000000",
    ("0x1234: 02:00:00:00:00:a2 -> 02:00:00:00:00:a0 incrementing 4", 20): "0200000000a00200000000a21234"
    "000102030000",
}

addresses = st.integers(0, 2**32 - 1).map(lambda n: str(ipaddress.IPv4Address(n)))
macs = st.binary(min_size=6, max_size=6).map(lambda raw: raw.hex(":"))
ports = st.integers(0, 65535)


@pytest.mark.parametrize(("text", "size"), GOLDEN)
def test_bytes_are_those_that_vpp_makes(text, size):
    assert describe(text).packet(size).hex() == GOLDEN[text, size]


@given(
    macs,
    macs,
    addresses,
    addresses,
    ports,
    ports,
    st.integers(0, 255),
    st.integers(0, 255),
    st.integers(0, 64),
)
def test_udp_is_what_scapy_reads_with_right_checksums(
    src_mac, dst_mac, src, dst, sport, dport, ttl, tos, count
):
    text = f"IP4: {src_mac} -> {dst_mac} UDP: {src} -> {dst} ttl {ttl} tos {tos} UDP: {sport} -> {dport}"
    size = 42 + count
    raw = describe(f"{text} incrementing {count}").packet(size)
    wanted = (
        Ether(src=src_mac, dst=dst_mac)
        / IP(src=src, dst=dst, ttl=ttl, tos=tos, id=0)
        / UDP(sport=sport, dport=dport)
    )
    assert raw == bytes(wanted / bytes(range(count)))


@given(
    addresses,
    addresses,
    st.binary(max_size=40),
    st.integers(0, 2**32 - 1),
    st.sets(st.sampled_from("SAFPRU")),
)
def test_tcp_is_what_scapy_makes(src, dst, payload, number, letters):
    names = {"S": "SYN", "A": "ACK", "F": "FIN", "P": "PSH", "R": "RST", "U": "URG"}
    flags = " ".join(names[each] for each in sorted(letters))
    text = f"TCP: {src} -> {dst} TCP: 1 -> 80 {flags} seqnum {number} window 99 hex 0x{payload.hex() or '00'}"
    wanted = IP(src=src, dst=dst, id=0) / TCP(
        sport=1, dport=80, seq=number, flags="".join(sorted(letters)), window=99
    )
    assert describe(text).packet(40 + len(payload)) == bytes(wanted / payload)


def test_an_echo_request_has_a_right_checksum():
    raw = describe("ICMP: 10.0.0.1 -> 10.0.0.2 ICMP echo_request hex 0x00070001aabb").packet(30)
    assert raw == bytes(IP(src="10.0.0.1", dst="10.0.0.2", id=0) / ICMP(id=7, seq=1) / b"\xaa\xbb")


def test_fields_that_are_given_are_taken_even_where_wrong():
    text = (
        "UDP: 1.2.3.4 -> 5.6.7.8 length 99 checksum 0x1234 ttl 1 df fragment id 7 offset 8 "
        "UDP: 1 -> 2 checksum 9 incrementing 0"
    )
    found = IP(describe(text).packet(28))
    assert (found.len, found.chksum, found.ttl, found.id, found.frag) == (99, 0x1234, 1, 7, 1)
    assert found.flags.DF
    assert describe(text).packet(28)[26:28] == b"\x00\x09"


def test_a_payload_is_cut_or_filled_up_to_the_size():
    assert describe("hex 0x010203").packet(2) == b"\1\2"
    assert describe("hex 0x010203").packet(5) == b"\1\2\3\0\0"


def test_ranges_give_each_packet_the_next_value_as_vpp_does():
    made = describe("UDP: 10.0.0.2 - 10.0.0.4 -> 10.0.1.2-10.0.1.3 UDP: 1 - 4 -> 9 incrementing 0")
    packets = [IP(made.packet(28, number)) for number in range(12)]
    assert [each.src for each in packets[:4]] == ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.2"]
    assert [each.dst for each in packets[:3]] == ["10.0.1.2", "10.0.1.3", "10.0.1.2"]
    assert [each[UDP].sport for each in packets[:5]] == [1, 2, 3, 4, 1]
    assert made.count == 12
    assert made.packet(28, 12) == made.packet(28, 0)
    assert len({bytes(each) for each in packets}) == 12


@given(st.integers(0, 1000), st.integers(0, 50), st.integers(0, 1000))
def test_a_range_stays_in_its_bounds(low, more, number):
    assert low <= Range(low, low + more).at(number) <= low + more


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", "`'"),
        ("IP4: 1 -> 2", "`IP4: 1 -> 2'"),
        (FRAME, "`'"),
        (FRAME + "UDP: 10.0.1.300 -> 10.0.0.2", "`10.0.1.300 -> 10.0.0.2'"),
        (FRAME + "UDP: 10.0.0.1 => 10.0.0.2", "`=> 10.0.0.2'"),
        (FRAME + "UDP: 10.0.0.1 -> 10.0.0.2 ttl 256 incrementing 1", "`256 incrementing 1'"),
        (FRAME + "UDP: 10.0.0.1 -> 10.0.0.2 UDP: 70000 -> 1 incrementing 1", "`70000 -> 1 incrementing 1'"),
        (FRAME + "UDP: 10.0.0.9 - 10.0.0.1 -> 10.0.0.2", "`10.0.0.9 - 10.0.0.1 -> 10.0.0....'"),
        (FRAME + "UDP: 10.0.0.1 + 10.0.0.9 -> 10.0.0.2", "`10.0.0.1 + 10.0.0.9 -> 10.0.0....'"),
        (FRAME + "vlan 7 UDP: 10.0.0.1 -> 10.0.0.2", "`vlan 7 UDP: 10.0.0.1 -> 10.0.0...'"),
        ("hex 0x123", "`hex 0x123'"),
        ("hex 0x12 incrementing 3", "`incrementing 3'"),
    ],
)
def test_what_cannot_be_read_is_quoted_from_where_it_goes_wrong(text, quoted):
    with pytest.raises(LabError) as refused:
        describe(text, "ethernet")
    assert refused.value.message == f"failed to parse packet data from {quoted}"


def test_a_node_that_wants_ipv4_takes_no_frame():
    with pytest.raises(LabError):
        describe(NOTEBOOK, "ip4")


@given(st.text(alphabet="IP4UDTCM:->.0123456789 abxhe\n-+", max_size=60))
def test_no_text_does_anything_but_give_bytes_or_be_refused(text):
    try:
        made = describe(text)
    except LabError:
        return
    assert len(made.packet(max(made.header_size, 64))) >= 64
