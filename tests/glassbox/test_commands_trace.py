from __future__ import annotations

import re

import pytest
from cli_pair import pair_of
from glassbox_cli import SET_UP, all_packets_are_free, send, stream

from labs.glassbox.vm import RECORDS, TRACE_LENGTH


@pytest.fixture(scope="module")
def made():
    with pair_of("a") as pair:
        pair.do("a", *SET_UP, stream("three", 3), stream("lost", 2, "203.0.113.9"))
        yield pair


@pytest.fixture
def pair(made):
    made.do("a", "clear trace")
    return made


def nodes_of(text):
    """Return the nodes of each packet in a trace."""
    return [
        re.findall(r"^\d\d:\d\d:\d\d:\d{6}: (\S+)$", part, re.MULTILINE) for part in text.split("\nPacket ")
    ]


def test_a_packet_that_is_sent_goes_the_way_notebook_01_tells(pair):
    pair.do("a", "trace add pg-input 3")
    send(pair)
    way = ["pg-input", "ethernet-input", "ip4-input", "ip4-lookup", "ip4-rewrite", "pg1-output", "pg1-tx"]
    assert nodes_of(pair.do("a", "show trace"))[1:] == [way] * 3


def test_its_ttl_is_64_at_first_and_63_at_last(pair):
    pair.do("a", "trace add pg-input 1")
    send(pair)
    ttls = re.findall(r"ttl (\d+)", pair.do("a", "show trace"))
    assert ttls[:3] == ["64"] * 3
    assert ttls[3:] == ["63"] * 2


def test_a_packet_without_a_route_ends_in_a_drop_that_says_why(pair):
    pair.do("a", "trace add pg-input 2")
    send(pair, "lost")
    text = pair.do("a", "show trace")
    assert nodes_of(text)[1][-4:] == ["ip4-lookup", "ip4-drop", "error-drop", "drop"]
    assert text.rstrip().endswith("null-node: blackholed packets")
    assert "rx:pg0" in text


def test_the_headers_are_printed_as_vpp_prints_them(pair):
    pair.do("a", "trace add pg-input 1")
    send(pair)
    text = pair.do("a", "show trace")
    # from VPP 26.06, the same stream
    assert (
        "  IP4: 02:00:00:00:00:a2 -> 02:00:00:00:00:a0\n"
        "  UDP: 10.0.0.2 -> 10.0.1.2\n"
        "    tos 0x00, ttl 64, length 50, checksum 0x65b8 dscp CS0 ecn NON_ECN\n"
        "    fragment id 0x0000\n"
        "  UDP: 1234 -> 2345\n"
        "    length 22, checksum 0x0000\n"
    ) in text
    assert "  00000000: 0200000000b20200000000b0080045000032000000003f1166b80a0000020a00\n" in text
    assert "ipv4 via 10.0.1.2 pg1: mtu:9000" in text


def test_no_more_packets_are_traced_than_asked(pair):
    pair.do("a", "trace add pg-input 2")
    send(pair)
    assert "Packet 2" in pair.do("a", "show trace")
    assert "Packet 3" not in pair.do("a", "show trace")


def test_what_is_asked_twice_adds_up(pair):
    pair.do("a", "trace add pg-input 1", "trace add pg-input 1")
    send(pair)
    assert "Packet 2" in pair.do("a", "show trace")


def test_max_limits_what_is_shown_and_says_so(pair):
    pair.do("a", "trace add pg-input 3")
    send(pair)
    text = pair.do("a", "show trace max 1")
    assert text.count("Limiting display to 1 packets. To display more specify max.") == 2
    assert "Packet 1" in text
    assert "Packet 2" not in text
    assert "Limiting" not in pair.do("a", "show trace max 3")


def test_clear_trace_forgets_packets_and_wishes(pair):
    pair.do("a", "trace add pg-input 3")
    send(pair)
    pair.do("a", "trace add pg-input 3", "clear trace")
    send(pair)
    text = pair.do("a", "show trace")
    assert "------------------- Start of thread 0 " in text
    assert "No packets in trace buffer" in text


def test_a_full_trace_says_so_and_loses_no_packet(pair):
    pair.do("a", stream("many", 2000), "trace add pg-input 2000")
    send(pair, "many")
    assert pair.boxes["a"].vm.state[RECORDS] == TRACE_LENGTH
    assert "is full: clear trace makes room" in pair.do("a", "show trace max 1")
    assert all_packets_are_free(pair)


def test_a_question_by_arp_is_traced_with_what_became_of_the_packet(pair):
    pair.do("a", stream("unknown", 1, "10.0.1.77"), "trace add pg-input 1")
    send(pair, "unknown")
    text = pair.do("a", "show trace")
    assert nodes_of(text)[1][-3:] == ["ip4-arp", "pg1-output", "pg1-tx"]
    assert "UDP: 10.0.0.2 -> 10.0.1.77" in text.split("ip4-arp")[1]
    assert "request, type ethernet/IP4, address size 6/4" in text
    assert "02:00:00:00:00:b0/10.0.1.1 -> 00:00:00:00:00:00/10.0.1.77" in text


def test_a_trace_of_an_interface_that_was_deleted_can_be_read(pair):
    pair.do(
        "a",
        "create packet-generator interface pg7 hw-addr 02:00:00:00:00:70",
        "packet-generator new { name gone limit 1 source pg7 node ethernet-input data { hex 0x01 } }",
        "trace add pg-input 1",
    )
    send(pair, "gone")
    pair.do("a", "delete packet-generator interface pg7")
    text = pair.do("a", "show trace")
    assert "stream (deleted), 64 bytes" in text
    assert "DELETED" in text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("trace add nothing 3", "expected NODE COUNT, got `nothing 3'"),
        ("trace add pg-input", "expected NODE COUNT, got `pg-input'"),
        ("trace add pg-input many", "expected NODE COUNT, got `pg-input many'"),
        ("trace add ip4-input 3", "node 'ip4-input' doesn't support per-node tracing"),
        ("show trace 3", "expected 'max COUNT', got `3'"),
        ("show trace max some", "expected 'max COUNT', got `max some'"),
    ],
)
def test_refusals_are_vpps_own(pair, line, words):
    assert words in pair.refusal("a", line)
