"""The packet generator's lines, read by the glass box's own reader of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from labs.bench import stream_lines
from labs.bench.load import SIZES
from labs.bench.stream_lines import IMIX, Part, mean_size, new, parts
from labs.glassbox.commands.packet_text import describe

MACS = ("02:fe:0a:0a:02:01", "02:fe:0a:0a:02:02")
sizes = st.sampled_from(SIZES) | st.integers(64, 9000)
flow_counts = st.integers(1, 1000)


def described(line):
    return describe(re.search(r"data \{ (.*) \} \}", line)[1], "ethernet")


def lines_of(size, rate, flows=1):
    return [new(part, "memif0/0", MACS, "10.10.2.1", rate, flows) for part in parts(size)]


@given(sizes, flow_counts)
def test_packets_are_sound_and_as_long_as_they_are_to_be(size, flows):
    for part, line in zip(parts(size), lines_of(size, 1e6, flows), strict=True):
        made = described(line)
        assert made.count == flows
        assert f"size {part.size}-{part.size} " in line
        raw = made.packet(part.size, flows - 1)
        packet = Ether(raw)
        assert len(raw) == part.size
        assert packet[IP].len == part.size - 14
        assert packet[UDP].len == part.size - 34
        assert packet[UDP].chksum == 0
        checksum = packet[IP].chksum
        del packet[IP].chksum
        assert Ether(bytes(packet))[IP].chksum == checksum


@given(sizes, flow_counts)
def test_a_line_is_one_line_and_its_flows_differ_in_the_source_port_alone(size, flows):
    for part, line in zip(parts(size), lines_of(size, None, flows), strict=True):
        assert "\n" not in line
        made = described(line)
        packets = [Ether(made.packet(part.size, number)) for number in {0, flows // 2, flows - 1}]
        assert len({each[UDP].sport for each in packets}) == len(packets)
        for each in packets:
            each[UDP].sport = 0
        assert len({bytes(each) for each in packets}) == 1


def test_the_imix_is_seven_to_four_to_one_at_any_rate():
    shares = {part.size: part.share for part in parts(IMIX)}
    assert [round(12 * shares[size]) for size in (64, 590, 1514)] == [7, 4, 1]
    assert mean_size(IMIX) == pytest.approx((7 * 64 + 4 * 590 + 1514) / 12)
    rates = [int(re.search(r"rate (\d+)", line)[1]) for line in lines_of(IMIX, 12_000)]
    assert rates == [7000, 4000, 1000]


def test_the_imix_sent_flat_out_keeps_its_mix_by_the_packets_of_a_turn():
    most = [int(re.search(r"maxframe (\d+)", line)[1]) for line in lines_of(IMIX, None)]
    assert most == [147, 84, 21]
    assert sum(most) <= stream_lines.VECTOR


@given(st.floats(1, 1e8))
def test_no_rate_that_is_asked_for_becomes_vpps_word_for_flat_out(rate):
    for size in (64, IMIX):
        for part, line in zip(parts(size), lines_of(size, rate), strict=True):
            given_rate = float(re.search(r" rate (\d+)", line)[1])
            assert given_rate == pytest.approx(max(rate * part.share, 1), abs=1)
            assert given_rate > 0
            assert stream_lines.configure(part, rate).endswith(f" rate {given_rate:.0f}")


def test_flat_out_is_a_rate_of_nothing():
    assert " rate 0 " in lines_of(64, None)[0]
    assert (
        stream_lines.configure(Part("bench", 64, 1.0, 256), None) == "packet-generator configure bench rate 0"
    )
