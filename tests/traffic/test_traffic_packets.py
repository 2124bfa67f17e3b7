"""Packets against scapy, which makes and checks headers in its own way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.contrib.gtp import GTP_U_Header
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from labs.errors import LabError
from labs.traffic import IMIX, Packets, imix, udp
from labs.traffic.headers import checksums
from labs.traffic.stamp import SIZE, Stamp

SIZES = st.integers(64, 9216)
FIRST = {"src": "10.255.255.254", "dst": "192.168.0.255", "sport": 255, "dport": 65000}


def layers(packet, mode="ethernet"):
    return IP(packet) if mode == "ip" else Ether(packet)


@settings(deadline=None)
@given(st.lists(SIZES, min_size=1, max_size=4), st.integers(1, 500), st.sampled_from(list(FIRST)), st.data())
def test_every_flow_is_what_scapy_would_make(sizes, flows, vary, data):
    packets = udp(FIRST["src"], FIRST["dst"], sizes, flows, vary=vary, sport=255, dport=65000, ttl=7)
    kind = data.draw(st.integers(0, len(packets.lengths) - 1))
    flow = data.draw(st.integers(0, flows - 1))
    found = Ether(packets.packet(kind, flow))
    wanted = Ether(src="02:fe:00:00:00:0a", dst="02:fe:00:00:00:0b") / IP(
        src=FIRST["src"], dst=FIRST["dst"], ttl=7, id=0
    )
    wanted /= UDP(sport=255, dport=65000, chksum=0) / Raw(bytes(found[UDP].payload))
    where = wanted[IP] if vary in {"src", "dst"} else wanted[UDP]
    first = FIRST[vary]
    if isinstance(first, str):
        number = int.from_bytes(bytes(map(int, first.split("."))), "big") + flow
        setattr(where, vary, ".".join(map(str, number.to_bytes(4, "big"))))
    else:
        setattr(where, vary, first + flow)
    assert bytes(found) == bytes(wanted)


@settings(deadline=None)
@given(st.integers(50, 9202), st.integers(1, 40))
def test_ip_mode_has_no_ethernet_header(size, flows):
    packets = udp(size=size, flows=flows, mode="ip")
    packet = IP(packets.packet(0, flows - 1))
    assert (packets.at, packets.mode, len(packet), packet.len) == (28, "ip", size, size)
    assert packet[UDP].sport == 1024 + flows - 1


@settings(deadline=None)
@given(st.lists(SIZES, min_size=1, max_size=5))
def test_sizes_come_in_the_order_given(sizes):
    packets = udp(size=sizes)
    assert packets.lengths[packets.pattern].tolist() == sizes
    assert packets.mean_size == pytest.approx(sum(sizes) / len(sizes))


def test_imix_is_seven_to_four_to_one():
    assert [IMIX.count(size) for size in (64, 590, 1514)] == [7, 4, 1]
    packets = imix(flows=5)
    assert packets.lengths[packets.pattern].tolist() == list(IMIX)
    assert packets.flows == 5


@settings(deadline=None)
@given(st.binary(min_size=20, max_size=20))
def test_checksums_are_scapys(header):
    header = b"\x45" + header[1:]
    wanted = IP(header)
    del wanted.chksum
    found = checksums(np.frombuffer(header, np.uint8)[np.newaxis])[0]
    assert found == IP(bytes(wanted)).chksum


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"size": 63}, "size cannot be 63"),
        ({"size": 9217}, "size"),
        ({"size": []}, "size"),
        ({"size": 64.0}, "size"),
        ({"size": True}, "size"),
        ({"size": 49, "mode": "ip"}, "size"),
        ({"flows": 0}, "flows"),
        ({"flows": (1 << 20) + 1, "vary": "src"}, "flows"),
        ({"flows": 64513}, "counting sport up"),
        ({"flows": 2, "vary": "dst", "dst": "255.255.255.255"}, "counting dst up"),
        ({"vary": "ttl"}, "vary"),
        ({"src": "10.0.0"}, "src"),
        ({"dst": "fe80::1"}, "dst"),
        ({"src_mac": "02:fe"}, "src_mac"),
        ({"dst_mac": "02:fe:00:00:00:1ff"}, "dst_mac"),
        ({"mode": "ethernets"}, "mode"),
        ({"ttl": 256}, "ttl"),
        ({"sport": -1}, "sport"),
        ({"flows": 1 << 20, "vary": "src", "size": list(range(64, 84))}, "1 GiB"),
    ],
)
def test_what_cannot_be_is_refused_in_words(options, what):
    with pytest.raises(LabError, match=what) as caught:
        udp(**options)
    assert caught.value.hint


def test_a_template_is_sent_as_scapy_made_it_but_for_the_checksum_under_the_stamp():
    template = Ether() / IP() / UDP(dport=5) / Raw(b"x" * 30)
    packets = Packets.of(template)
    found = Ether(packets.packet())
    assert packets.at == 42
    assert found[UDP].chksum == 0
    template[UDP].chksum = 0
    assert bytes(found)[:42] == bytes(template)[:42]
    assert Stamp.read(bytes(found)).flow == 0
    assert bytes(found)[64:] == bytes(template)[64:]


def test_the_stamp_goes_behind_the_innermost_udp_header():
    template = Ether() / IP() / UDP(dport=2152) / GTP_U_Header(teid=7) / IP() / UDP() / Raw(b"x" * 40)
    packets = Packets.of([template, template])
    assert packets.at == 14 + 20 + 8 + 8 + 20 + 8
    assert packets.heads.shape[2] == 128
    assert [layer.chksum for layer in Ether(packets.packet()).iterpayloads() if layer.name == "UDP"] == [0, 0]


@pytest.mark.parametrize(
    "template",
    [
        Ether() / IP() / ICMP() / Raw(b"x" * 60),
        Ether() / IP() / TCP() / Raw(b"x" * 60),
        Ether() / IP() / UDP() / Raw(b"x" * (SIZE - 1)),
        Ether() / IPv6() / UDP() / Raw(b"x" * 60),
        bytes(Ether() / IP() / UDP() / Raw(b"x" * 60)),
    ],
)
def test_without_room_for_a_stamp_a_template_is_left_alone(template):
    packets = Packets.of(template)
    assert packets.at == -1
    assert packets.packet() == bytes(template)


def test_templates_with_payloads_at_different_bytes_are_left_alone():
    plain = Ether() / IP() / UDP() / Raw(b"x" * 60)
    tagged = Ether() / Dot1Q(vlan=5) / IP() / UDP() / Raw(b"x" * 60)
    packets = Packets.of([plain, tagged])
    assert packets.at == -1
    assert [packets.packet(0), packets.packet(1)] == [bytes(plain), bytes(tagged)]


def test_where_the_stamp_goes_may_be_said():
    assert Packets.of(bytes(100), stamp_at=78).at == 78
    assert Packets.of(Ether() / IP() / UDP() / Raw(b"x" * 60), stamp_at=-1).at == -1


@pytest.mark.parametrize(
    ("templates", "at", "what"),
    [
        ([], None, "no packet"),
        ([7], None, "int is no packet"),
        (b"", None, "size"),
        (bytes(9217), None, "size"),
        (bytes(100), 79, "no room"),
        (bytes(21), 0, "no room"),
        (bytes(100), -2, "stamp_at"),
    ],
)
def test_templates_that_cannot_be_sent(templates, at, what):
    with pytest.raises(LabError, match=what):
        Packets.of(templates, stamp_at=at)


def test_it_says_what_it_is():
    assert str(udp()) == "1 flow of frames of 64 bytes"
    assert str(udp(size=(1500, 64), flows=3)) == "3 flows of frames of 64, 1500 bytes"
