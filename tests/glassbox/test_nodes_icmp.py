"""Packets for the box itself: echoes, and what it does not answer."""

from __future__ import annotations

import pytest
from glassbox_bench import NOBODY, echo, noise, udp
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, TCP, IPOption_RR
from scapy.layers.l2 import Ether
from scapy.packet import Raw

A, GATE = "10.0.0.2", "10.0.0.1"


def reply_to(packet, wire, ttl=64):
    """Return the frame that has to come back."""
    back = IP(bytes(packet))
    back.src, back.dst, back.ttl = packet.dst, packet.src, ttl
    back[ICMP].type = 0
    del back.chksum, back[ICMP].chksum
    return bytes(Ether(src=wire.theirs, dst=wire.ours) / back)


def is_answered(bench, packet, out=0):
    results = bench.through(bench.wires[0], bench.wires[0].frame() / packet)
    assert results == [[reply_to(packet, bench.wires[out])] if each == out else [] for each in range(3)]


def is_dropped(bench, packet, reason):
    out, moved = bench.why(bench.wires[0], bench.wires[0].frame() / packet)
    assert (out, moved) == ([], {reason: 1})


def test_an_echo_is_answered(bench):
    is_answered(bench, echo(A, GATE))


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 0xFFFF), st.integers(0, 0xFFFF), st.integers(0, 255))
def test_any_echo_is_answered_byte_for_byte(made, data, number, sequence, ttl):
    is_answered(made, echo(A, GATE, data, number, sequence, ttl=ttl))
    made.check()


@pytest.mark.parametrize("size", [0, 1, 2, 3, 55, 56, 57, 1471, 1472, 8971, 8972])
def test_echoes_of_odd_and_even_lengths(bench, size):
    is_answered(bench, echo(A, GATE, noise(size)))


@pytest.mark.parametrize("data", [b"\xff" * 9, b"\xff" * 100, b"\0" * 9, b"\xff\xfe" * 40])
def test_sums_that_wrap(bench, data):
    is_answered(bench, echo(A, GATE, data, 0xFFFF, 0xFFFF))


def test_an_echo_with_options_is_answered(bench):
    is_answered(bench, echo(A, GATE, options=[IPOption_RR(pointer=4, routers=[NOBODY] * 3)]))


def test_the_answer_to_a_far_host_takes_the_route(bench):
    packet = echo("10.0.2.2", GATE)
    is_answered(bench, packet, out=2)


def test_every_address_of_ours_answers_by_whichever_wire_it_is_asked(bench):
    is_answered(bench, echo(A, "10.0.1.1"))


def test_padding_is_not_echoed(bench):
    wire, packet = bench.wires[0], echo(A, GATE, b"x")
    out = bench.through(wire, bytes(wire.frame() / packet) + bytes(17))
    assert out[0] == [reply_to(packet, wire)]


def test_an_echo_whose_sum_is_wrong_is_dropped(bench):
    raw = bytearray(bytes(echo(A, GATE)))
    raw[-1] ^= 1
    is_dropped(bench, IP(bytes(raw)), "unknown type")


@pytest.mark.parametrize("size", range(8))
def test_icmp_cut_short_is_dropped(bench, size):
    packet = IP(src=A, dst=GATE, proto=1) / Raw(bytes(echo(A, GATE)[ICMP])[:size])
    is_dropped(bench, packet, "unknown type")


@pytest.mark.parametrize("kind", [1, 3, 5, 11, 13, 17, 255])
def test_other_icmp_is_dropped(bench, kind):
    is_dropped(bench, IP(src=A, dst=GATE) / ICMP(type=kind) / b"12345678", "unknown type")


@pytest.mark.parametrize(
    "packet", [udp(A, GATE), IP(src=A, dst=GATE) / TCP(dport=80), IP(src=A, dst=GATE, proto=253) / b"x"]
)
def test_other_protocols_are_dropped(bench, packet):
    is_dropped(bench, packet, "unknown ip protocol")


@pytest.mark.parametrize(("flags", "part"), [("MF", 0), ("MF", 3), ("", 1)])
def test_a_fragment_for_us_is_no_whole_packet(bench, flags, part):
    is_dropped(bench, echo(A, GATE, flags=flags, frag=part), "fragments are not put together")


def test_dont_fragment_is_no_fragment(bench):
    is_answered(bench, echo(A, GATE, flags="DF"))


@pytest.mark.parametrize("source", ["255.255.255.255", "224.0.0.1", NOBODY, "10.0.0.255", "240.0.0.1"])
def test_no_answer_goes_to_many(bench, source):
    out = bench.through(bench.wires[0], bench.wires[0].frame() / echo(source, GATE))
    assert out == [[], [], []]


def test_an_answer_that_nobody_waits_for_is_counted_and_gone(bench):
    packet = IP(src=A, dst=GATE) / ICMP(type=0, id=9, seq=9) / b"x"
    is_dropped(bench, packet, "echo replies received")


def test_an_echo_from_our_own_address_does_not_go_round(bench):
    out, moved = bench.why(bench.wires[0], bench.wires[0].frame() / echo(GATE, GATE))
    assert out == []
    assert moved == {"echo replies sent": 1, "echo replies received": 1}


def test_a_vector_of_echoes_is_answered_in_order(bench):
    wire = bench.wires[0]
    packets = [echo(A, GATE, b"x" * each, 1, each) for each in range(256)]
    out = bench.through(wire, *(wire.frame() / each for each in packets))
    assert out[0] == [reply_to(each, wire) for each in packets]
