from __future__ import annotations

import ipaddress
import re

import pytest
from cli_pair import pair_of
from hypothesis import given, settings
from hypothesis import strategies as st

MAC_A, MAC_B = "02:00:00:00:00:0a", "02:00:00:00:00:0b"


@pytest.fixture
def pair():
    with pair_of("a") as one:
        one.do(
            "a",
            f"create loopback interface mac {MAC_A}",
            "set interface state loop0 up",
            "set interface ip address loop0 10.0.0.1/24",
        )
        yield one


def prefixes(pair):
    return re.findall(r"^([0-9.]+/\d+)$", pair.do("a", "show ip fib"), re.MULTILINE)


def chain(pair, address):
    """Return the last line of a route: what becomes of its packets."""
    return pair.do("a", f"show ip fib {address}").splitlines()[-1].strip()


def test_show_ip_fib_has_vpps_layout(pair):
    lines = pair.do("a", "show ip fib").splitlines()
    assert lines[0].startswith("ipv4-VRF:0, fib_index:0, flow hash:[")
    start = lines.index("10.0.0.0/24")
    assert lines[start + 1] == "  unicast-ip4-chain"
    assert re.fullmatch(r"  \[@0\]: dpo-load-balance: \[proto:ip4 index:\d+ buckets:1\]", lines[start + 2])
    assert lines[start + 3] == (
        "    [0] [@4]: ipv4-glean: [src:10.0.0.0/24] loop0: mtu:9000 next:1 flags:[] "
        "ffffffffffff02000000000a0806"
    )


def test_each_kind_of_route_says_what_becomes_of_its_packets(pair):
    pair.do("a", f"set ip neighbor loop0 10.0.0.2 {MAC_B}")
    pair.do("a", "ip route add 20.1.0.0/16 via 10.0.0.2 loop0", "ip route add 20.2.0.0/16 via 10.0.0.3 loop0")
    pair.do("a", "ip route add 20.3.0.0/16 via drop", "ip route add 20.4.0.1/32 via local")
    pair.do("a", "ip route add 20.5.0.0/16 via loop0")
    assert chain(pair, "20.1.0.1") == (
        "[0] [@5]: ipv4 via 10.0.0.2 loop0: mtu:9000 next:1 flags:[] 02000000000b02000000000a0800"
    )
    assert chain(pair, "20.2.0.1") == "[0] [@3]: arp-ipv4: via 10.0.0.3 loop0"
    assert chain(pair, "20.3.0.1") == "[0] [@0]: dpo-drop ip4"
    assert chain(pair, "20.4.0.1") == "[0] [@11]: dpo-receive"
    assert chain(pair, "20.5.0.1").startswith("[0] [@4]: ipv4-glean: [src:0.0.0.0/0] loop0")
    assert chain(pair, "10.0.0.1") == "[0] [@11]: dpo-receive: 10.0.0.1 on loop0"
    assert chain(pair, "10.0.0.2").startswith("[0] [@5]: ipv4 via 10.0.0.2 loop0")
    assert chain(pair, "99.9.9.9") == "[0] [@0]: dpo-drop ip4"


def test_an_address_shows_the_longest_route_around_it(pair):
    pair.do("a", "ip route add 20.0.0.0/8 via drop", "ip route add 20.1.0.0/16 via 10.0.0.2 loop0")
    for asked, found in (
        ("20.1.2.3", "20.1.0.0/16"),
        ("20.2.0.1", "20.0.0.0/8"),
        ("20.1.0.0/12", "20.0.0.0/8"),
    ):
        assert pair.do("a", f"show ip fib {asked}").splitlines()[1].split()[0] == found


def test_who_made_a_route_is_told(pair):
    pair.do("a", f"set ip neighbor loop0 10.0.0.2 {MAC_B}", "ip route add 20.1.0.0/16 via 10.0.0.2")
    for asked, source in (
        ("20.1.0.1", "CLI"),
        ("10.0.0.1", "interface"),
        ("10.0.0.2", "adjacency"),
        ("99.9.9.9", "default-route"),
    ):
        assert pair.do("a", f"show ip fib {asked}").splitlines()[2].split()[0] == source


def test_a_next_hop_without_interface_is_looked_up(pair):
    pair.do("a", "ip route add 20.1.0.0/16 via 10.0.0.2", "ip route add 30.0.0.0/8 via 20.1.0.7")
    assert chain(pair, "20.1.0.1") == chain(pair, "30.0.0.1") == "[0] [@3]: arp-ipv4: via 10.0.0.2 loop0"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("ip route add 10.9.0.0/24 10.0.0.2", "ip route: parse error `10.0.0.2'"),
        ("ip route add 10.9.0.0/24 via", "ip route: parse error `via'"),
        ("ip route add 10.9.0.0/24 via foo", "ip route: parse error `via foo'"),
        ("ip route add 10.9.0.0/24 via 10.0.0.2 foo", "ip route: parse error `via 10.0.0.2 foo'"),
        ("ip route add 10.9.0.0/24", "ip route: expected paths."),
        ("ip route add foo via 10.0.0.2", "ip route: parse error `foo via 10.0.0.2'"),
        ("ip route add 10.9.0.1 via 10.0.0.2", "ip route: parse error `10.9.0.1 via 10.0.0.2'"),
        ("ip route add 10.9.0.0/33 via 10.0.0.2", "ip route: parse error `10.9.0.0/33 via 10.0.0.2'"),
        ("ip route add", "ip route: expected ip4/ip6 destination address/length."),
        ("ip route add 10.9.0.0/24 table 7 via 10.0.0.2", "ip route: Nonexistent table id 7"),
        ("show ip fib foo", "show ip fib: unknown input `foo'"),
        ("show ip neighbors foo", "show ip neighbors: unknown input `foo'"),
        ("set ip neighbor", "set ip neighbor: specify interface, IP address and MAC: `'"),
        (
            "set ip neighbor loop0 10.0.0.2",
            "set ip neighbor: specify interface, IP address and MAC: `loop0 10.0.0.2'",
        ),
        (
            "set ip neighbor foo 10.0.0.2 02:00:00:00:00:b2",
            "set ip neighbor: specify interface, IP address and MAC: `foo 10.0.0.2 02:00:00:00:00:b2'",
        ),
    ],
)
def test_mistakes_are_told_in_vpps_words_and_change_nothing(pair, line, text):
    before = pair.do("a", "show ip fib"), pair.do("a", "show ip neighbors")
    assert pair.refusal("a", line) == text
    assert (pair.do("a", "show ip fib"), pair.do("a", "show ip neighbors")) == before


def test_a_next_hop_that_nothing_leads_to_is_refused(pair):
    assert "No interface leads to 77.0.0.1" in pair.refusal("a", "ip route add 20.1.0.0/16 via 77.0.0.1")


def test_the_same_route_twice_is_no_mistake_but_another_path_is(pair):
    pair.do("a", "ip route add 20.1.0.0/16 via 10.0.0.2 loop0", "ip route add 20.1.0.0/16 via 10.0.0.2 loop0")
    text = pair.refusal("a", "ip route add 20.1.0.0/16 via 10.0.0.3 loop0")
    assert "ip route del 20.1.0.0/16 comes first" in text
    pair.do("a", "ip route del 20.1.0.0/16", "ip route add 20.1.0.0/16 via 10.0.0.3 loop0")
    assert "via 10.0.0.3" in chain(pair, "20.1.0.1")


def test_a_connected_network_goes_before_what_is_typed(pair):
    pair.do("a", "ip route add 10.0.0.0/24 via drop", "ip route del 10.0.0.0/24", "ip route del 10.0.0.1/32")
    assert "ipv4-glean" in chain(pair, "10.0.0.9")
    assert "dpo-receive" in chain(pair, "10.0.0.1")


def test_a_deleted_route_shows_what_lies_behind_it(pair):
    pair.do("a", "ip route add 0.0.0.0/0 via 10.0.0.9 loop0", "ip route add 20.1.0.0/16 via drop")
    pair.do("a", "ip route del 20.1.0.0/16 via drop")
    assert "via 10.0.0.9" in chain(pair, "20.1.0.1")
    pair.do("a", "ip route del 0.0.0.0/0", "ip route del 0.0.0.0/0")
    assert "dpo-drop" in chain(pair, "20.1.0.1")


def test_a_neighbours_own_route_survives_one_typed_over_it(pair):
    pair.do("a", f"set ip neighbor loop0 10.0.0.2 {MAC_B}", "ip route add 10.0.0.2/32 via drop")
    assert "dpo-drop" in chain(pair, "10.0.0.2")
    pair.do("a", "ip route del 10.0.0.2/32")
    assert "02000000000b" in chain(pair, "10.0.0.2")


def test_the_summary_counts_by_length(pair):
    before = pair.do("a", "show ip fib summary").splitlines()
    assert before[1].split() == ["Prefix", "length", "Count"]
    pair.do("a", "ip route add 20.0.0.0/9 via drop", "ip route add 20.128.0.0/9 via drop")
    assert ["9", "2"] in [line.split() for line in pair.do("a", "show ip fib summary").splitlines()]


def test_there_is_one_table(pair):
    assert pair.do("a", "show ip fib table 1") == ""
    assert pair.do("a", "show ip fib table 0") == pair.do("a", "show ip fib")
    assert pair.do("a", "show ip table") == "[0] table_id:0 ipv4-VRF:0\n"


def test_neighbours_look_like_vpps(pair):
    assert pair.do("a", "show ip neighbors") == ""
    pair.do("a", f"set ip neighbor loop0 10.0.0.2 {MAC_B}", f"set ip neighbor static loop0 10.0.0.3 {MAC_B}")
    lines = pair.do("a", "show ip neighbors").splitlines()
    assert lines[0] == (
        "     Age                       IP                    Flags      Ethernet      "
        "        Interface       "
    )
    row = r" +\d+\.\d{4}                10\.0\.0\.%s                   %s    02:00:00:00:00:0b loop0"
    assert re.fullmatch(row % (3, "S"), lines[1])  # the newest comes first
    assert re.fullmatch(row % (2, "D"), lines[2])
    assert [line.split()[1:] for line in pair.do("a", "sh ip4 neighbor loop0").splitlines()[1:]] == [
        line.split()[1:] for line in lines[1:]
    ]
    assert pair.do("a", "show ip neighbor local0") == ""


def test_neighbours_are_forgotten_with_their_route(pair):
    pair.do("a", f"set ip neighbor loop0 10.0.0.2 {MAC_B} static")
    assert "10.0.0.2/32" in prefixes(pair)
    pair.do("a", f"set ip neighbor del loop0 10.0.0.2 {MAC_B}", "set ip neighbor del loop0 10.0.0.2")
    assert pair.do("a", "show ip neighbors") == ""
    assert "10.0.0.2/32" not in prefixes(pair)


def test_an_interface_takes_its_routes_along(pair):
    before = len(pair.boxes["a"].routes.routes)
    pair.do("a", "create loopback interface", "set interface ip address loop1 10.1.0.1/24")
    pair.do("a", f"set ip neighbor loop1 10.1.0.2 {MAC_B}", "ip route add 20.1.0.0/16 via 10.1.0.2")
    pair.do("a", "delete loopback interface intfc loop1")
    assert len(pair.boxes["a"].routes.routes) == before
    assert "DELETED" not in pair.do("a", "show ip fib") + pair.do("a", "show ip neighbors")


networks = st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 32)).map(
    lambda each: ipaddress.IPv4Network((each[0], each[1]), strict=False)
)


@pytest.fixture(scope="module")
def shared():
    with pair_of("a") as one:
        one.do("a", "create loopback interface", "set interface ip address loop0 10.0.0.1/24")
        yield one


@settings(max_examples=60, deadline=None)
@given(st.lists(networks, max_size=8, unique=True), st.ip_addresses(v=4))
def test_what_is_added_and_deleted_leaves_the_table_as_it_was(shared, added, asked):
    before = shared.do("a", "show ip fib"), shared.do("a", f"show ip fib {asked}")
    new = [each for each in added if each not in shared.boxes["a"].routes.routes]
    for each in new:
        shared.do("a", f"ip route add {each} via 10.0.0.77 loop0")
    longest = max((each for each in new if asked in each), key=lambda each: each.prefixlen, default=None)
    if longest is not None and longest.prefixlen >= 25:
        assert str(longest) in shared.do("a", f"show ip fib {asked}")
    for each in new:
        shared.do("a", f"ip route del {each}")
    assert (shared.do("a", "show ip fib"), shared.do("a", f"show ip fib {asked}")) == before
