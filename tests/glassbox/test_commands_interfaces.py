from __future__ import annotations

import pytest
from cli_pair import pair_of

from labs.vpp.parse import parse_addresses, parse_interfaces, parse_rx_placement

HEAD = "              Name               Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count     "
"""As VPP 26.06 prints it."""


@pytest.fixture
def pair():
    with pair_of("a") as one:
        yield one


@pytest.fixture(scope="module")
def linked():
    """Lend two boxes with their link, for tests that only look."""
    with pair_of() as two:
        two.link(" rx-queues 2 tx-queues 2")
        two.do("a", "ping 10.10.2.2 repeat 3 interval 0.1")
        yield two


def rows(pair, name="a", line="show interface"):
    return {row.name: row for row in parse_interfaces(pair.do(name, line))}


def test_show_interface_looks_like_vpps(pair):
    pair.do("a", "create loopback interface", "set interface state loop0 up")
    lines = pair.do("a", "show interface").splitlines()
    assert lines[0] == HEAD
    assert lines[1] == "local0                            0     down          0/0/0/0       "
    assert lines[2] == "loop0                             1      up          9000/0/0/0     "


def test_counters_stand_under_each_other_as_in_vpp(linked):
    lines = linked.do("a", "show interface memif0/0").splitlines()
    assert lines[1].startswith(
        "memif0/0                          1      up          9000/0/0/0     rx packets  "
    )
    assert len({len(line) for line in lines[1:]}) == 1
    assert all(line.startswith(" " * 68) for line in lines[2:])


def test_show_interface_is_what_the_stats_segment_counts(linked):
    row = rows(linked)["memif0/0"]
    counted = linked.boxes["a"].counters.of_interface(1)
    assert row.counters["rx packets"] == counted["rx packets"] > 0
    assert row.counters["tx bytes"] == counted["tx bytes"] > 0


def test_one_or_several_interfaces_are_shown_in_the_order_asked(linked):
    assert list(rows(linked, line="show interface memif0/0 local0")) == ["memif0/0", "local0"]
    assert list(rows(linked, line="show interface 1")) == ["memif0/0"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("show interface foo", "show interface: unknown input `foo'"),
        ("show interface local0 foo", "show interface: unknown input `foo'"),
        ("show interface 77", "show interface: unknown interface index `77'"),
        ("set interface state foo up", "set interface state: unknown interface `foo up'"),
        ("set interface state", "set interface state: unknown interface `'"),
        ("set interface state local0", "set interface state: unknown flags `'"),
        ("set interface state local0 foo", "set interface state: unknown flags `foo'"),
        ("set interface state local0 up foo", "unknown input `foo'"),
        (
            "set interface ip address foo 10.0.0.1/24",
            "set interface ip address: unknown interface `foo 10.0.0.1/24'",
        ),
        ("set interface ip address", "set interface ip address: unknown interface `'"),
        ("set interface ip address loop0", "set interface ip address: expected IP4/IP6 address/length `'"),
        (
            "set interface ip address loop0 10.0.0.1",
            "set interface ip address: expected IP4/IP6 address/length `10.0.0.1'",
        ),
        (
            "set interface ip address loop0 10.0/24",
            "set interface ip address: expected IP4/IP6 address/length `10.0/24'",
        ),
        (
            "set interface ip address del loop0 10.9.0.1/24",
            "set interface ip address: 10.9.0.1/24 not found for interface loop0",
        ),
        ("set interface mtu foo loop0", "set interface mtu: unknown input `foo loop0'"),
        ("set interface mtu 1400 foo", "set interface mtu: unknown input `1400 foo'"),
        ("set interface mac address loop0 foo", "set interface mac address: expected mac address `foo'"),
        ("create loopback interface foo", "create loopback interface: unknown input `foo'"),
        (
            "delete loopback interface intfc foo",
            "delete loopback interface: interface not specified: `intfc foo'",
        ),
        ("show hardware-interfaces foo", "show hardware-interfaces: unknown input `foo'"),
        ("set interface rx-mode foo polling", "set interface rx-mode: parse error: 'foo polling'"),
        ("set interface rx-mode loop0 foo", "set interface rx-mode: parse error: 'foo'"),
        ("set interface rx-mode loop0", "set interface rx-mode: please specify valid rx-mode"),
        ("set interface rx-mode polling", "set interface rx-mode: please specify valid interface name"),
        (
            "set interface rx-placement loop0",
            "set interface rx-placement: please specify valid worker thread or main",
        ),
    ],
)
def test_mistakes_are_told_in_vpps_words(pair, line, text):
    pair.do("a", "create loopback interface")
    assert pair.refusal("a", line) == text


@pytest.mark.parametrize(
    "line",
    [
        "set interface ip address loop0 2001:db8::1/64",
        "set interface mtu ip4 1400 loop0",
        "set interface mtu 20 loop0",
        "set interface mtu 99999 loop0",
        "set interface ip address local0 10.0.0.1/24",
        "delete loopback interface intfc local0",
        "create loopback interface instance 0",
        "set interface mac address local0 02:00:00:00:00:01",
    ],
)
def test_what_the_box_cannot_do_is_refused_and_changes_nothing(pair, line):
    pair.do("a", "create loopback interface")
    before = pair.do("a", "show interface"), pair.do("a", "show interface address")
    pair.refusal("a", line)
    assert (pair.do("a", "show interface"), pair.do("a", "show interface address")) == before


def test_state_goes_up_and_down(pair):
    pair.do("a", "create loopback interface", "set interface state loop0 up")
    assert rows(pair)["loop0"].admin_up
    pair.do("a", "set interface state loop0 down")
    assert not rows(pair)["loop0"].admin_up


def test_addresses_come_and_go(pair):
    pair.do("a", "create loopback interface", "set interface ip address loop0 10.0.0.1/24")
    pair.do("a", "set interface ip address loop0 10.0.0.7/24")
    text = pair.do("a", "show interface address")
    assert text == "local0 (dn):\nloop0 (dn):\n  L3 10.0.0.1/24\n  L3 10.0.0.7/24\n"
    assert parse_addresses(text) == {"local0": [], "loop0": ["10.0.0.1/24", "10.0.0.7/24"]}
    pair.do("a", "set interface ip address del loop0 10.0.0.1/24")
    assert parse_addresses(pair.do("a", "sh int addr loop0")) == {"loop0": ["10.0.0.7/24"]}
    pair.do("a", "set interface ip address del loop0 all")
    assert parse_addresses(pair.do("a", "show interface addr")) == {"local0": [], "loop0": []}


@pytest.mark.parametrize("address", ["10.0.0.1/24", "10.0.0.2/24", "10.0.0.0/8", "10.0.0.9/30"])
def test_a_network_belongs_to_one_interface(pair, address):
    pair.do("a", "create loopback interface", "create loopback interface")
    pair.do("a", "set interface ip address loop0 10.0.0.1/24")
    assert pair.refusal("a", f"set interface ip address loop1 {address}").endswith(
        f"failed to add {address} on loop1 which conflicts with 10.0.0.1/24 for interface loop0"
    )


def test_the_mtu_is_set_and_shown(pair):
    pair.do("a", "create loopback interface", "set interface mtu packet 1400 loop0")
    assert rows(pair)["loop0"].mtu == (1400, 0, 0, 0)
    pair.do("a", "set interface mtu 9000 loop0")
    assert rows(pair)["loop0"].mtu == (9000, 0, 0, 0)


def test_loopbacks_are_numbered_as_in_vpp(pair):
    assert pair.do("a", "create loopback interface") == "loop0\n"
    assert pair.do("a", "create loopback interface mac 02:00:00:00:00:11 instance 7") == "loop7\n"
    assert pair.do("a", "loopback create-interface") == "loop1\n"
    assert "Ethernet address 02:00:00:00:00:11" in pair.do("a", "show hardware-interfaces loop7")
    pair.do("a", "delete loopback interface intfc loop0")
    assert "loop0" not in rows(pair)
    assert pair.do("a", "create loopback interface") == "loop0\n"


def test_a_hardware_address_can_be_set(pair):
    pair.do("a", "create loopback interface", "set interface mac address loop0 02:00:00:00:00:55")
    assert "  Ethernet address 02:00:00:00:00:55\n" in pair.do("a", "show hardware-interfaces loop0")


def test_clear_interfaces_sets_all_counters_to_0():
    with pair_of() as pair:
        pair.link()
        pair.do("a", "ping 10.10.2.2 repeat 2 interval 0.1")
        assert rows(pair)["memif0/0"].counters
        pair.do("a", "clear interfaces")
        assert rows(pair)["memif0/0"].counters == {}


def test_hardware_interfaces_look_like_vpps(linked):
    lines = linked.do("b", "show hardware-interfaces").splitlines()
    assert lines[:7] == [
        "              Name                Idx   Link  Hardware",
        "local0                             0    down  local0",
        "  Link speed: unknown",
        "  local",
        "memif0/0                           1     up   memif0/0",
        "  Link speed: unknown",
        "  RX Queues:",
    ]
    assert "    0     main (0)       polling   " in lines
    assert "       slave-to-master ring 1" in lines


def test_hardware_interfaces_count_the_packets_of_each_ring(linked):
    text = linked.do("a", "show hardware-interfaces memif0/0")
    sent = rows(linked)["memif0/0"].counters["tx packets"]
    assert f"packets sent: {sent}\n" in text
    assert "packets sent" not in linked.do("a", "show hardware-interfaces brief")


def test_rx_placement_is_vpps(linked):
    text = linked.do("a", "show interface rx-placement")
    assert text.splitlines()[1:] == [
        " node memif-input:",
        "    memif0/0 queue 0 (polling)",
        "    memif0/0 queue 1 (polling)",
    ]
    assert [(each.interface, each.thread, each.mode) for each in parse_rx_placement(text)] == [
        ("memif0/0", 0, "polling")
    ] * 2


def modes(pair, name="a"):
    return [each.mode for each in parse_rx_placement(pair.do(name, "show interface rx-placement"))]


def test_rx_modes_are_set_for_all_queues_or_for_one():
    with pair_of() as pair:
        pair.link(" rx-queues 2 tx-queues 2")
        pair.do("a", "set interface rx-mode memif0/0 interrupt")
        assert modes(pair) == ["interrupt", "interrupt"]
        pair.do("a", "set interface rx-mode memif0/0 queue 1 adaptive")
        assert modes(pair) == ["interrupt", "adaptive"]
        assert pair.refusal("a", "set interface rx-mode memif0/0 queue 2 polling").endswith(
            "unknown queue 2 on interface memif0/0"
        )
        pair.do("a", "set interface state memif0/0 up")  # it is: nothing changes
        assert modes(pair) == ["interrupt", "adaptive"]
        assert "5 received" in pair.do("a", "ping 10.10.2.2 repeat 6 interval 0.02")


def test_a_mode_without_a_queue_is_taken_where_there_is_none_and_forgotten(pair):
    pair.do("a", "create interface memif id 0 master", "set interface rx-mode memif0/0 interrupt")
    assert modes(pair) == []
    assert pair.refusal("a", "set interface rx-mode memif0/0 queue 0 interrupt") == (
        "set interface rx-mode: unknown queue 0 on interface memif0/0"
    )


def test_queues_can_be_given_to_another_thread():
    with pair_of(workers=2) as pair:
        pair.link(" rx-queues 2 tx-queues 2")
        pair.do("a", "set interface rx-mode memif0/0 queue 0 interrupt")
        pair.do("a", "set interface rx-placement memif0/0 queue 0 worker 1")
        pair.do("a", "set interface rx-placement memif0/0 queue 1 main")
        placed = parse_rx_placement(pair.do("a", "show interface rx-placement"))
        assert [(each.queue, each.thread) for each in placed] == [(1, 0), (0, 2)]
        pair.do("a", "set interface rx-mode memif0/0 queue 0 polling")
        assert pair.refusal("a", "set interface rx-placement memif0/0 worker 2").endswith(
            "worker thread or main"
        )
        assert pair.refusal("a", "set interface rx-placement memif0/0 queue 5 main").endswith(
            "unknown queue 5 on interface memif0/0"
        )
