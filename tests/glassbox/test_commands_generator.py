from __future__ import annotations

import re

import pytest
from cli_pair import pair_of
from glassbox_cli import DATA, SET_UP, all_packets_are_free, send, stream
from scapy.layers.l2 import Ether


@pytest.fixture(scope="module")
def made():
    with pair_of("a") as pair:
        pair.do("a", *SET_UP)
        yield pair


@pytest.fixture
def pair(made):
    """Lend a box without streams."""
    for name in list(made.boxes["a"].streams.by_name):
        made.do("a", f"packet-generator delete {name}")
    yield made
    made.do("a", "packet-generator disable-stream")
    made.turn()
    assert all_packets_are_free(made)


def named(pair, name="three"):
    return pair.boxes["a"].streams.named(name)


def counted(pair, name):
    box = pair.boxes["a"]
    return box.counters.of_interface(box.interfaces.named(name).index)


def test_a_stream_in_braces_over_several_lines_is_that_of_one_line(pair):
    pair.do("a", stream("three", 3))
    one = named(pair)
    pair.do(
        "a",
        "packet-generator new {\n  name three\n  limit 3\n  source pg0\n  node ethernet-input\n"
        f"  size 64-64\n  data {{\n    {DATA.format(to='10.0.1.2')}\n  }}\n}}",
    )
    other = named(pair)
    assert (one.packet, one.limit, one.node, one.interface) == (
        other.packet,
        other.limit,
        other.node,
        other.interface,
    )
    assert len(pair.boxes["a"].streams.by_name) == 1


def test_braces_may_be_left_out(pair):
    pair.do("a", "packet-generator new name bare limit 7 source pg0 node ethernet-input data { hex 0x0102 }")
    assert named(pair, "bare").limit == 7
    assert named(pair, "bare").packet == b"\1\2" + bytes(62)


def test_as_many_packets_are_sent_as_limit_says(pair):
    before = counted(pair, "pg1")
    pair.do("a", stream("three", 777))
    send(pair)
    assert counted(pair, "pg1")["tx packets"] - before["tx packets"] == 777
    assert counted(pair, "pg1")["tx bytes"] - before["tx bytes"] == 777 * 64
    pair.do("a", "clear interfaces")


def test_a_stream_that_is_enabled_again_is_sent_again_and_counted_anew(pair):
    pair.do("a", stream("three", 3))
    send(pair)
    send(pair)
    assert pair.boxes["a"].streams.sent(named(pair)) == 3


def test_a_stream_without_limit_goes_on_until_it_is_stopped(pair):
    pair.do("a", stream("three", 0), "packet-generator enable-stream three")
    streams = pair.boxes["a"].streams
    pair.until(lambda: streams.sent(named(pair)) > 2000)
    assert "Yes" in pair.do("a", "show packet-generator")
    pair.do("a", "packet-generator disable-stream three")
    sent = streams.sent(named(pair))
    for _ in range(3):
        pair.turn()
    assert streams.sent(named(pair)) == sent


def test_a_rate_is_kept_from_the_first_packet_on(pair):
    """At one packet an hour nothing but the first may go, whatever the machine does meanwhile."""
    pair.do("a", stream("three", 0, more="rate 0.0003"), "packet-generator enable-stream three")
    for _ in range(20):
        pair.turn()
    assert pair.boxes["a"].streams.sent(named(pair)) == 1


def test_a_rate_given_later_is_kept_too(pair):
    pair.do("a", stream("three", 0), "packet-generator configure three rate 1e9")
    assert named(pair).rate == 1e9
    pair.do("a", "packet-generator enable-stream three")
    streams = pair.boxes["a"].streams
    pair.until(lambda: streams.sent(named(pair)) > 500)
    pair.do("a", "packet-generator configure three rate 0.0003")
    pair.turn()
    sent = streams.sent(named(pair))
    for _ in range(20):
        pair.turn()
    assert streams.sent(named(pair)) == sent


def test_a_limit_given_later_counts_what_was_sent(pair):
    pair.do("a", stream("three", 3))
    send(pair)
    pair.do("a", "packet-generator configure three limit 5")
    send(pair)
    assert pair.boxes["a"].streams.sent(named(pair)) == 5


def test_packets_may_leave_by_an_interface_at_once(pair):
    before = counted(pair, "pg1")["tx packets"]
    pair.do("a", stream("three", 4).replace("node ethernet-input", "node pg1-output"))
    send(pair)
    assert counted(pair, "pg1")["tx packets"] - before == 4
    pair.do("a", stream("three", 4).replace("node ethernet-input", "node pg1"))
    assert named(pair).node == "pg1-output"


def test_packets_may_go_to_a_node_inside(pair):
    before = counted(pair, "pg1")["tx packets"]
    text = "UDP: 10.0.0.2 -> 10.0.1.2 UDP: 1 -> 2 incrementing 8"
    pair.do("a", f"packet-generator new {{ name three limit 2 source pg0 node ip4-input data {{ {text} }} }}")
    send(pair)
    assert counted(pair, "pg1")["tx packets"] - before == 2


def test_the_packet_is_the_one_described(pair):
    pair.do("a", stream("three", 1))
    found = Ether(named(pair).packet)
    assert (found.dst, found["IP"].dst, found["UDP"].dport, len(found)) == (
        "02:00:00:00:00:a0",
        "10.0.1.2",
        2345,
        64,
    )


@pytest.mark.parametrize("size", [64, 65, 200, 9000])
def test_a_range_makes_packets_that_follow_one_another_and_begin_again(pair, size):
    pair.do("a", stream("three", 5, "10.0.1.2 - 10.0.1.4", more=f"size {size}-{size}"))
    pair.do("a", "clear trace", "trace add pg-input 5")
    send(pair)
    shown = pair.do("a", "show trace")
    pair.do("a", "clear trace")
    made = re.findall(r", (\d+) bytes.* ethernet-input\n.*\n.*\n *UDP: 10\.0\.0\.2 -> (\S+)\n", shown)
    assert made == [(str(size), f"10.0.1.{last}") for last in (2, 3, 4, 2, 3)]


def test_packets_of_a_range_are_sound(pair):
    """Each header has a checksum of its own, which ip4-input verifies."""
    before = counted(pair, "pg1")["tx packets"]
    pair.do("a", stream("three", 1000).replace("10.0.0.2 ->", "10.0.0.2 - 10.0.0.251 ->"))
    send(pair)
    assert counted(pair, "pg1")["tx packets"] - before == 1000
    assert len({Ether(each)["IP"].chksum for each in named(pair).heads}) == 250


def test_maxframe_bounds_the_packets_of_a_turn(pair):
    """Three streams sent as fast as it goes keep their proportions by it."""
    for name, most in (("x", 147), ("y", 84), ("z", 21)):
        pair.do("a", stream(name, 0, more=f"maxframe {most}"))
    pair.do("a", "packet-generator enable-stream")
    pair.until(lambda: pair.boxes["a"].streams.sent(named(pair, "z")) > 200)
    pair.do("a", "packet-generator disable-stream")
    x, y, z = (pair.boxes["a"].streams.sent(named(pair, name)) for name in "xyz")
    assert x == 7 * z
    assert y == 4 * z


def test_a_source_that_is_not_there_is_made_with_its_stream(pair):
    pair.do("a", stream("three", 2).replace("source pg0", "source pg7"))
    assert named(pair).interface.name == "pg7"
    pair.do("a", "delete packet-generator interface pg7")
    assert "three" not in pair.boxes["a"].streams.by_name


def test_streams_are_listed_and_deleted(pair):
    assert pair.do("a", "show packet-generator").strip() == "no streams currently defined"
    pair.do("a", stream("three", 3), stream("lost", 2))
    lines = pair.do("a", "show packet-generator").splitlines()
    assert [line.split()[0] for line in lines] == ["Name", "three", "lost"]
    assert "limit 3, rate 0.00e0 pps, size 64-64" in lines[1]
    pair.do("a", "packet-generator delete three")
    assert "three" not in pair.do("a", "show packet-generator")


def test_a_stream_without_name_gets_one(pair):
    pair.do("a", *["packet-generator new { node ethernet-input data { hex 0x00 } }"] * 2)
    assert list(pair.boxes["a"].streams.by_name) == ["stream0", "stream1"]


def test_all_streams_are_switched_if_none_is_named(pair):
    pair.do("a", stream("three", 0), stream("lost", 0), "packet-generator enable-stream")
    assert pair.do("a", "show packet-generator").count("Yes") == 2
    pair.do("a", "packet-generator disable-stream")
    assert pair.do("a", "show packet-generator").count("Yes") == 0


def test_enabling_sets_the_interface_up_as_vpp_does(pair):
    pair.do("a", stream("three", 1), "set interface state pg0 down")
    send(pair)
    assert pair.boxes["a"].interfaces.named("pg0").is_up


def test_an_interface_is_made_once_and_without_a_name_the_next_is_taken(pair):
    names = {each.name for each in pair.boxes["a"].interfaces}
    pair.do("a", "create packet-generator interface pg0")
    assert {each.name for each in pair.boxes["a"].interfaces} == names
    pair.do("a", "create packet-generator interface")
    assert {each.name for each in pair.boxes["a"].interfaces} - names == {"pg2"}
    pair.do("a", "delete packet-generator interface pg2")
    assert {each.name for each in pair.boxes["a"].interfaces} == names


def test_there_is_an_end_to_streams(pair):
    pair.do("a", *[stream(f"s{number}", 1) for number in range(16)])
    assert "no more fit" in pair.refusal("a", stream("s16", 1))
    pair.do("a", stream("s15", 2))


HEAD = "packet-generator new { name x source pg0 node ethernet-input "


@pytest.mark.parametrize(
    ("line", "words"),
    [
        # VPP's own words
        ("packet-generator enable-stream no", "packet-generator enable-stream: unknown input `no'"),
        ("packet-generator disable-stream no", "packet-generator disable-stream: unknown input `no'"),
        ("packet-generator delete no", "packet-generator delete: expected stream name `no'"),
        ("packet-generator configure no rate 5", "expecting stream name; got `no rate 5'"),
        ("packet-generator new", "no packet data given"),
        (HEAD + "}", "no packet data given"),
        (
            HEAD.replace("node ethernet-input", "") + "data { hex 0x00 } }",
            "output interface or node not given",
        ),
        (
            HEAD.replace("pg0", "eth9") + "data { hex 0x00 } }",
            "unknown input `source eth9 node ethernet-inpu...'",
        ),
        (
            HEAD.replace("ethernet-input", "no") + "data { hex 0x00 } }",
            "unknown input `node no data { hex 0x00 }'",
        ),
        (HEAD + "frobnicate 3 }", "unknown input `frobnicate 3'"),
        (HEAD + "data { IP4: 1 -> 2 } }", "failed to parse packet data from `IP4: 1 -> 2'"),
        (HEAD + f"size 20-20 data {{ {DATA.format(to='10.0.1.2')} }} }}", "min-size < total header size 42"),
        (HEAD + "size 64-60 data { hex 0x00 } }", "max-size < min-size"),
        ("create packet-generator interface foo", "unknown input `foo'"),
        ("delete packet-generator interface local0", "not a pg interface"),
        ("delete packet-generator interface", "Missing <interface>"),
        # what the glass box cannot do, by name
        (HEAD + "size 64-128 data { hex 0x00 } }", "makes packets of one size; write size 128-128"),
        (HEAD + "pcap /tmp/x }", "does not know pcap"),
        (HEAD + "worker 1 data { hex 0x00 } }", "does not know worker"),
        (HEAD + "size 20000-20000 data { hex 0x00 } }", "20000 bytes cannot be sent"),
        ("create packet-generator interface pg9 mode ip4", "does not know mode"),
        (
            HEAD + f"data {{ {DATA.format(to='10.0.0.0 - 10.0.255.255')} }} }}",
            "That makes 65536 different packets, and a stream of the glass box has 4096 at most",
        ),
    ],
)
def test_refusals(pair, line, words):
    assert words in pair.refusal("a", line)
    assert not pair.boxes["a"].streams.by_name


def test_a_stream_that_is_refused_leaves_the_one_of_its_name(pair):
    pair.do("a", stream("three", 3))
    pair.refusal("a", stream("three", 4, "10.0.1.300"))
    pair.refusal("a", stream("three", 4, more="size 20000-20000"))
    assert named(pair).limit == 3
