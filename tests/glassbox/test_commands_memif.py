from __future__ import annotations

import re

import pytest
from cli_pair import pair_of
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.connectivity import fault
from labs.vpp.parse import parse_memif


@pytest.fixture
def pair():
    with pair_of() as two:
        yield two


@pytest.fixture(scope="module")
def shared():
    with pair_of("a") as one:
        yield one


def state(pair, name, interface="memif0/0"):
    return parse_memif(pair.do(name, "show memif")).interface(interface)


def test_a_server_that_waits_looks_as_in_vpp(pair):
    pair.do("a", "create interface memif id 0 master", "set interface state memif0/0 up")
    lines = pair.do("a", "show memif").splitlines()
    assert lines[:5] == [
        "sockets",
        "  id  listener    filename",
        f"  0   yes (1)     {pair.folder}/memif.sock",
        "",
        "interface memif0/0",
    ]
    assert lines[5:7] == ["  socket-id 0 id 0 mode ethernet", "  flags admin-up"]
    assert re.fullmatch(r"  listener-fd [1-9]\d* conn-fd 0", lines[7])
    assert lines[8:] == ["  num-s2m-rings 0 num-m2s-rings 0 buffer-size 0 num-regions 0"]


def test_a_link_that_stands_shows_its_rings_from_both_sides(pair):
    pair.link(" rx-queues 2 tx-queues 2 ring-size 512")
    server, client = state(pair, "a"), state(pair, "b")
    assert (server.role, client.role) == ("server", "client")
    assert server.flags == {"admin-up", "connected"}
    assert client.flags == {"admin-up", "slave", "connected", "zero-copy"}
    assert [ring.direction for ring in client.rings] == ["slave-to-master"] * 2 + ["master-to-slave"] * 2
    assert [ring.direction for ring in server.rings] == ["master-to-slave"] * 2 + ["slave-to-master"] * 2
    assert {ring.size for ring in (*server.rings, *client.rings)} == {512}
    assert {ring.flags for ring in server.rings} == {1}  # all poll
    assert (server.s2m_rings, server.m2s_rings) == (client.s2m_rings, client.m2s_rings) == (2, 2)
    assert (server.buffer_size, client.buffer_size) == (0, 2048)
    assert server.remote_interface == client.remote_interface == "memif0/0"
    assert [each.size for each in server.regions] == [each.size for each in client.regions]
    assert len(client.regions) == 2  # rings, and the packets that the client lends


def test_a_client_that_shall_copy_has_its_packets_in_one_region(pair):
    pair.link(" no-zero-copy")
    server, client = state(pair, "a"), state(pair, "b")
    assert client.flags == {"admin-up", "slave", "connected"}
    assert server.regions[0].size == client.regions[0].size > 2 * 1024 * 2048
    assert len(client.regions) == len(server.regions) == 1


def test_heads_and_tails_move_with_the_packets(pair):
    pair.link()
    before = state(pair, "b").rings[0]
    sent = pair.boxes["b"].counters.of_interface(1)["tx packets"]
    pair.do("a", "ping 10.10.2.2 repeat 4 interval 0.05")
    after = state(pair, "b").rings[0]
    moved = pair.boxes["b"].counters.of_interface(1)["tx packets"] - sent
    assert after.head - before.head == after.tail - before.tail == moved > 0
    assert state(pair, "b").rings[1].head >= 1024  # a client's receiving ring is full of empty buffers


def test_doorbells_are_counted_where_a_receiver_sleeps(pair):
    pair.link()
    pair.do("a", "set interface rx-mode memif0/0 interrupt")
    assert state(pair, "a").rings[1].flags == 0
    pair.do("a", "ping 10.10.2.2 repeat 3 interval 0.05")
    received = state(pair, "a").rings[1]
    assert 0 < received.interrupts <= received.head
    assert state(pair, "b").rings[0].interrupts == received.interrupts


def test_descriptors_are_listed(pair):
    pair.link(" ring-size 256")
    lines = pair.do("b", "show memif memif0/0 descriptors").splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("  id    flags region len ")]
    assert len(heads) == 2
    assert lines[heads[0] + 2].split()[:4] == ["0", "0", "0", "0"]  # names nothing yet
    assert lines[heads[1] + 2].split()[:4] == ["0", "0", "1", "2048"]
    assert lines[heads[0] + 257].split()[0] == "255"


def test_why_a_link_ended_is_told_on_both_sides(pair):
    pair.link()
    pair.do("b", "delete interface memif memif0/0")
    pair.until(lambda: not state(pair, "a").connected)
    server = state(pair, "a")
    assert (server.local_reason, server.remote_reason) == ("disconnect received", "interface deleted")
    pair.do("b", "create interface memif id 0 slave", "set interface state memif0/0 up")
    pair.until(pair.is_linked)
    assert (state(pair, "a").local_reason, state(pair, "a").remote_reason) == ("", "")


@pytest.mark.parametrize(
    ("server", "client", "reason"),
    [
        (" secret sesame", "", "secret required"),
        (" secret sesame", " secret open", "incorrect secret"),
        (" mode ip", "", "mode mismatch"),
    ],
)
def test_the_usual_mistakes_are_told_in_vpps_words(pair, server, client, reason):
    pair.do("a", f"create interface memif id 0 master{server}", "set interface state memif0/0 up")
    pair.do("b", f"create interface memif id 0 slave{client}", "set interface state memif0/0 up")
    pair.until(lambda: state(pair, "a").local_reason and state(pair, "b").remote_reason)
    assert state(pair, "a").local_reason == reason
    assert (state(pair, "b").local_reason, state(pair, "b").remote_reason) == ("disconnect received", reason)
    found = fault({name: parse_memif(pair.do(name, "show memif")) for name in "ab"})
    assert ("secret" in found.reason) == ("secret" in reason)


def test_another_id_and_a_side_that_is_down_are_seen_in_show_memif(pair):
    pair.do("a", "create interface memif id 0 master", "set interface state memif0/0 up")
    pair.do("b", "create interface memif id 7 slave")
    tables = {name: parse_memif(pair.do(name, "show memif")) for name in "ab"}
    assert "has id 0, but b's memif0/7 has id 7" in fault(tables).reason
    pair.do("b", "delete interface memif memif0/7", "create interface memif id 0 slave")
    tables = {name: parse_memif(pair.do(name, "show memif")) for name in "ab"}
    assert fault(tables).reason == "b's memif0/0 is down."


def test_roles_can_be_swapped(pair):
    pair.link()
    for name, role in (("a", "slave"), ("b", "master")):
        pair.do(
            name,
            "delete interface memif memif0/0",
            f"create interface memif id 0 {role}",
            "set interface state memif0/0 up",
        )
    pair.until(pair.is_linked)
    assert state(pair, "a").role == "client"


def test_a_second_link_has_a_socket_of_its_own(pair):
    for name, role in (("a", "master"), ("b", "slave")):
        pair.do(
            name,
            "create memif socket id 1 filename below/second.sock",
            f"create interface memif id 0 socket-id 1 {role}",
            "set interface state memif1/0 up",
        )
    pair.until(pair.is_linked)
    table = parse_memif(pair.do("a", "show memif"))
    assert [(each.id, each.listener, each.filename) for each in table.sockets] == [
        (0, False, f"{pair.folder}/memif.sock"),
        (1, True, f"{pair.folder}/below/second.sock"),
    ]


@pytest.fixture(scope="module")
def roles():
    """Make a box with one master on socket 0 and one slave on socket 3, for lines that are refused."""
    with pair_of("a") as one:
        one.do(
            "a",
            "create interface memif id 0 master",
            "create memif socket id 3 filename three.sock",
            "create interface memif id 0 socket-id 3 slave",
        )
        yield one


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "create interface memif id 0 slave",
            "Subinterface already exists (socket file cannot be used by both master and slave)",
        ),
        (
            "create interface memif id 1 slave",
            "Subinterface already exists (socket file cannot be used by both master and slave)",
        ),
        ("create interface memif id 0 master", "Subinterface already exists (interface already exists)"),
        ("create interface memif master", "Subinterface already exists (interface already exists)"),
        ("create interface memif id 5 socket-id 77 master", "Invalid argument (unknown socket id)"),
        ("create interface memif id 5 ring-size 1000 master", "ring size must be power of 2"),
        ("create interface memif id 5 ring-size 0 master", "ring size must be power of 2"),
        ("create interface memif id 5 ring-size 65536 master", "maximum ring size is 32768"),
        ("create interface memif id 5 rx-queues 0 master", "rx queue must be between 1 - 255"),
        ("create interface memif id 5 tx-queues 256 master", "tx queue must be between 1 - 255"),
        ("create interface memif id foo", "unknown input `id foo'"),
        ("create interface memif foo", "unknown input `foo'"),
        ("create interface memif id 7 master mode foo", "unknown input `mode foo'"),
        ("create interface memif id 7 master hw-addr foo", "unknown input `hw-addr foo'"),
    ],
)
def test_refused_interfaces_leave_nothing_behind(roles, line, text):
    before = roles.do("a", "show memif"), roles.do("a", "show interface")
    assert roles.refusal("a", line) == f"create interface memif: {text}"
    assert (roles.do("a", "show memif"), roles.do("a", "show interface")) == before


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "create memif socket id 3 filename two.sock",
            "create memif socket: Entry already exists (entry already exists)",
        ),
        ("create memif socket id 0 filename two.sock", "create memif socket: Invalid socket id"),
        ("create memif socket filename two.sock", "create memif socket: Invalid socket id"),
        ("create memif socket id 2", "create memif socket: Invalid socket filename"),
        ("create memif socket foo", "create memif socket: unknown input `foo'"),
        ("delete memif socket id 0", "delete memif socket: Invalid socket id"),
        (
            "delete memif socket id 9",
            "delete memif socket: Invalid argument (socket file with id 9 does not exist)",
        ),
        ("delete interface memif foo", "delete interface memif: unknown input `foo'"),
        ("delete interface memif", "delete interface memif: please specify interface name or sw_if_index"),
        ("delete interface memif local0", "delete interface memif: not a memif interface"),
        ("delete interface memif sw_if_index 77", "delete interface memif: not a memif interface"),
        ("show memif foo", "show memif: unknown input `foo'"),
    ],
)
def test_refused_sockets_and_deletions_change_nothing(roles, line, text):
    before = roles.do("a", "show memif")
    assert roles.refusal("a", line) == text
    assert roles.do("a", "show memif") == before


def test_a_socket_in_use_cannot_be_deleted(roles):
    assert roles.refusal("a", "delete memif socket id 3") == (
        f"delete memif socket: Unexpected interface state (socket file '{roles.folder}/three.sock' is in use)"
    )


def test_a_path_that_cannot_be_listened_at_is_named(roles):
    roles.do("a", "create memif socket id 8 filename /nowhere/x.sock")
    text = roles.refusal("a", "create interface memif id 0 socket-id 8 master")
    assert text.endswith("'/nowhere/x.sock'): No such file or directory")
    assert "memif8/0" not in roles.do("a", "show interface")
    assert "too long" in roles.refusal("a", f"create memif socket id 9 filename {'x' * 120}")


def test_an_interface_is_deleted_with_its_address_and_link(pair):
    pair.link()
    pair.do("a", "delete interface memif memif0/0")
    assert "memif" not in pair.do("a", "show interface address")
    assert "yes" not in pair.do("a", "show memif")


@settings(max_examples=40, deadline=None)
@given(
    st.permutations(
        [
            "id 4",
            "socket-id 2",
            "ring-size 512",
            "buffer-size 1024",
            "master",
            "secret s",
            "mode ip",
            "no-zero-copy",
        ]
    )
)
def test_words_come_in_any_order(shared, words):
    if "memif2/4" in shared.do("a", "show interface"):
        shared.do("a", "delete interface memif memif2/4")
    shared.do("a", "create memif socket id 2 filename two.sock", f"create interface memif {' '.join(words)}")
    found = state(shared, "a", "memif2/4")
    assert (found.mode, found.role) == ("ip", "server")
