"""ping, as it is built and as it is counted."""

from __future__ import annotations

import ipaddress

import pytest
from glassbox_bench import asks
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether

from labs.glassbox import clock
from labs.glassbox.pinging import checksum, echo_request
from labs.glassbox.vm import PACKETS

A = ipaddress.IPv4Address("10.0.0.2")


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 0xFFFF), st.integers(0, 0xFFFF), st.integers(0, 2000))
def test_a_request_is_what_scapy_would_make_of_it(number, sequence, size):
    raw = echo_request(A, ipaddress.IPv4Address("10.0.0.1"), number, sequence, size)
    packet = IP(raw)
    assert (packet[ICMP].type, packet[ICMP].id, packet[ICMP].seq) == (8, number, sequence)
    assert (packet.src, packet.dst, packet.len) == ("10.0.0.2", "10.0.0.1", len(raw))
    again = IP(raw)
    del again.chksum, again[ICMP].chksum
    assert bytes(again) == raw


@given(st.binary(max_size=99))
def test_a_sum_with_its_own_complement_is_zero(raw):
    even = raw + bytes(len(raw) % 2)
    assert checksum(even + checksum(even).to_bytes(2)) == 0


def ask(bench, **knobs):
    ping = bench.box.ping(A, **{"repeat": 1, "interval": 0.0} | knobs)
    ping.run(clock.now())
    bench.turn(2)
    return ping, bench.wires[0].received()


def lines(bench, ping):
    bench.until(lambda: ping.due is None)
    told = []
    while (more := ping.poll()) is not None:
        told += more
    return told


def back(frame, wire):
    """Return the answer to a request."""
    question = Ether(frame)
    answer = IP(src=question[IP].dst, dst=question[IP].src) / ICMP(
        type=0, id=question[ICMP].id, seq=question[ICMP].seq
    )
    return wire.frame() / answer / bytes(question[ICMP].payload)


def test_each_answer_is_counted_once(bench):
    wire = bench.wires[0]
    ping, frames = ask(bench, repeat=1, interval=0.05)
    assert len(frames) == 1
    bench.through(wire, back(frames[0], wire), back(frames[0], wire))
    told = lines(bench, ping)
    assert sum("icmp_seq=1" in each for each in told) == 1
    assert told[-1] == "Statistics: 1 sent, 1 received, 0% packet loss"


def test_an_answer_to_somebody_else_is_not_counted(bench):
    wire = bench.wires[0]
    ping, frames = ask(bench, interval=0.02)
    other = back(frames[0], wire)
    other[ICMP].id = (other[ICMP].id + 1) & 0xFFFF
    del other[ICMP].chksum
    bench.through(wire, other)
    assert lines(bench, ping)[-1] == "Statistics: 1 sent, 0 received, 100% packet loss"


def test_an_answer_that_comes_too_late_does_no_harm(bench):
    wire = bench.wires[0]
    ping, frames = ask(bench)
    assert "0 received" in lines(bench, ping)[-1]
    bench.through(wire, back(frames[0], wire))
    assert ping.poll() is None


def test_a_burst_goes_out_together(bench):
    ping, frames = ask(bench, burst=300)
    assert len(frames) == 300
    assert "300 sent" in lines(bench, ping)[-1]


def test_more_than_there_is_memory_for_is_told(bench):
    ping, frames = ask(bench, burst=PACKETS + 10)
    assert len(frames) < PACKETS + 10
    assert any("buffer" in each for each in lines(bench, ping))


def test_two_pings_at_once_get_their_own_answers(bench):
    wire = bench.wires[0]
    one, frames = ask(bench, interval=0.1)
    other, more = ask(bench, interval=0.1)
    bench.through(wire, back(more[0], wire))
    assert ("1 received" in lines(bench, other)[-1], "0 received" in lines(bench, one)[-1]) == (True, True)
    assert len(frames) == 1


def test_the_first_ping_of_an_unknown_neighbour_is_lost_and_the_next_is_not(bench):
    wire = bench.wires[0]
    target = ipaddress.IPv4Address("10.0.0.44")
    ping = bench.box.ping(target, repeat=2, interval=0.02)
    ping.run(clock.now())
    bench.turn(2)
    assert [Ether(each).type for each in wire.received()] == [0x806]
    bench.through(wire, asks("10.0.0.44", "10.0.0.1", wire))
    found = []
    bench.until(lambda: found.extend(each for each in wire.received() if Ether(each).type == 0x800) or found)
    bench.through(wire, back(found[0], wire))
    assert lines(bench, ping)[-1] == "Statistics: 2 sent, 1 received, 50% packet loss"
    bench.box.routes.forget(wire.index, target)


@pytest.mark.parametrize(
    ("address", "why"), [("99.0.0.1", "no egress interface"), ("224.0.0.1", "no egress interface")]
)
def test_a_ping_that_has_no_way_says_so(bench, address, why):
    ping = bench.box.ping(ipaddress.IPv4Address(address), repeat=1, interval=0.0)
    assert any(why in each for each in lines(bench, ping))
