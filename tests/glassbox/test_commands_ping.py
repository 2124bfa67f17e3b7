from __future__ import annotations

import re
from ipaddress import IPv4Address

import pytest
from cli_pair import pair_of

from labs.glassbox.pinging import MOST_DATA, checksum, echo_request
from labs.glassbox.vm import FREE
from labs.vpp.parse import parse_ping_line, parse_ping_statistics

USAGE = "Usage: ping <addr> [source <intf>] [size <datasz>] [repeat <count>] [verbose]"


@pytest.fixture(scope="module")
def linked():
    with pair_of() as two:
        two.link()
        two.ask("a", "ping 10.10.2.2 repeat 3 interval 0.1")  # both know each other now
        yield two


def replies(text):
    return [reply for line in text.splitlines() if (reply := parse_ping_line(line))]


def test_the_lines_are_vpps(linked):
    lines = linked.do("a", "ping 10.10.2.2 repeat 2 interval 0.05").splitlines()
    assert re.fullmatch(r"116 bytes from 10\.10\.2\.2: icmp_seq=1 ttl=64 time=\d*\.\d{4} ms", lines[0])
    assert lines[2:] == ["", "Statistics: 2 sent, 2 received, 0% packet loss"]


def test_a_time_below_one_has_no_zero_before_the_point(linked):
    text = linked.do("a", "ping 10.10.2.2 repeat 5 interval 0.02")
    assert "time=0." not in text
    assert all(0 < reply.time_ms < 1000 for reply in replies(text))


@pytest.mark.parametrize(
    ("size", "shown"), [(0, 56), (9, 65), (60, 116), (100, 156), (3000, 3056), (8000, 8056)]
)
def test_sizes_are_counted_as_vpp_counts_them(linked, size, shown):
    text = linked.do("a", f"ping 10.10.2.2 repeat 1 interval 0.05 size {size}")
    assert [reply.size for reply in replies(text)] == [shown]


def test_a_request_is_as_long_on_the_wire_as_vpps(linked):
    before = linked.boxes["a"].counters.of_interface(1)["tx bytes"]
    linked.do("a", "ping 10.10.2.2 repeat 1 interval 0.05")
    assert linked.boxes["a"].counters.of_interface(1)["tx bytes"] - before == 14 + 20 + 8 + 8 + 60


def test_a_burst_has_one_sequence_number(linked):
    text = linked.do("a", "ping 10.10.2.2 repeat 2 interval 0.05 burst 3")
    assert [reply.sequence for reply in replies(text)] == [1, 1, 1, 2, 2, 2]
    assert parse_ping_statistics(text.splitlines()[-1]).sent == 6


def test_the_first_request_is_lost_to_arp():
    with pair_of() as two:
        two.link()
        two.ask("a", "ping 10.10.2.9 repeat 1 interval 0.01")  # what has to be compiled is, after this
        text = two.do("a", "ping 10.10.2.2 repeat 3 interval 0.1")
        assert [reply.sequence for reply in replies(text)] == [2, 3]
        assert text.endswith("Statistics: 3 sent, 2 received, 33% packet loss\n")


def test_nobody_answers_is_no_refusal(linked):
    assert linked.do("a", "ping 10.10.2.9 repeat 2 interval 0.02") == (
        "\nStatistics: 2 sent, 0 received, 100% packet loss\n"
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("ping 10.99.2.9 repeat 2 interval 0.02", "no egress interface"),
        ("ping 10.10.2.2 repeat 2 interval 0.02 source local0", "no source address for egress interface"),
        ("ping 10.10.2.2 repeat 2 interval 0.02 table-id 5", "no FIB table for lookup"),
    ],
)
def test_no_way_is_told_in_every_round(linked, line, why):
    assert linked.refusal("a", line) == f"Failed: {why}"
    assert (
        linked.ask("a", line) == f"Failed: {why}\n" * 2 + "\nStatistics: 0 sent, 0 received, 0% packet loss\n"
    )


def test_the_source_address_is_that_of_the_interface(linked):
    text = linked.do("a", "ping 10.10.2.2 repeat 1 interval 0.05 source memif0/0 verbose")
    assert text.startswith("Source address: 10.10.2.1 \n116 bytes")


def test_no_round_and_no_interval(linked):
    assert linked.do("a", "ping 10.10.2.2 repeat 0") == "\nStatistics: 0 sent, 0 received, 0% packet loss\n"
    assert "2 sent, 0 received" in linked.do("a", "ping 10.10.2.2 repeat 2 interval 0")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "ping",
            "ping: expecting IP4/IP6 address `'. " + USAGE,
        ),
        (
            "ping foo",
            "ping: expecting IP4/IP6 address `foo'. " + USAGE,
        ),
        ("ping ipv4 foo", "ping: expecting IPv4 address but got `foo'"),
        ("ping 10.10.2.2 foo", "ping: unknown input `foo'"),
        ("ping 10.10.2.2 source foo", "ping: unknown interface `foo'"),
        ("ping 10.10.2.2 size foo", "ping: expecting size but got `foo'"),
        ("ping 10.10.2.2 interval foo", "ping: expecting interval (floating point number) got `foo'"),
        ("ping 10.10.2.2 repeat foo", "ping: expecting repeat count but got `foo'"),
        ("ping 10.10.2.2 burst foo", "ping: expecting burst count but got `foo'"),
        ("ping 10.10.2.2 burst 0", "ping: burst size must be between 1 and 2560"),
        ("ping 10.10.2.2 size 20000", f"ping: 20000 is bigger than maximum allowed payload size {MOST_DATA}"),
        ("ping fe80::1", "ping: The glass box knows IPv4 only."),
    ],
)
def test_mistakes_are_told_in_vpps_words(linked, line, text):
    assert linked.refusal("a", line) == text


def test_a_ping_can_be_stopped_and_says_what_it_has_seen(linked):
    ping = linked.clis["a"].run("ping 10.10.2.2 repeat 1000 interval 0.02")
    lines = []
    linked.until(lambda: lines.extend(ping.poll()) or len(lines) >= 2)
    ping.abort()
    last = ping.poll()
    assert last[-3:-1] == ["Aborted due to a keypress.", ""]
    assert parse_ping_statistics(last[-1]).received >= 2
    assert ping.poll() is None
    assert linked.boxes["a"].pings == {}
    ping.abort()
    assert ping.poll() is None


def test_two_pings_at_once_keep_apart(linked):
    one = linked.clis["a"].run("ping 10.10.2.2 repeat 3 interval 0.03")
    other = linked.clis["a"].run("ping 10.10.2.2 repeat 2 interval 0.03 size 100")
    seen = {one: [], other: []}
    linked.until(
        lambda: (
            [seen[each].extend(each.poll() or []) for each in seen] and all(each.due is None for each in seen)
        )
    )
    for each, lines in seen.items():
        lines.extend(each.poll() or [])
    assert [reply.size for reply in replies("\n".join(seen[one]))] == [116] * 3
    assert [reply.size for reply in replies("\n".join(seen[other]))] == [156] * 2


def test_more_requests_than_there_are_buffers_are_told(linked):
    state = linked.boxes["a"].vm.state
    hidden = int(state[FREE]) - 1000
    state[FREE] -= hidden
    text = linked.ask("a", "ping 10.10.2.2 repeat 1 interval 0.05 burst 2560")
    state[FREE] += hidden
    assert "Failed: could not allocate a new buffer" in text
    assert linked.do("a", "ping 10.10.2.2 repeat 1 interval 0.05").endswith("0% packet loss\n")


def test_requests_have_right_checksums():
    raw = echo_request(IPv4Address("10.0.0.1"), IPv4Address("10.0.0.2"), 7, 9, 61)
    assert checksum(raw[:20]) == checksum(raw[20:]) == 0
