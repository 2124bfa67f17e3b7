from __future__ import annotations

import golden
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.vpp.parse_memif import MemifRegion, MemifRing, MemifSocket, MemifState, MemifTable, parse_memif

FLAGS = ["admin-up", "slave", "connecting", "connected", "deleting", "zero-copy", "error", "use_dma"]
small = st.integers(0, 99)
texts = st.text(st.characters(min_codepoint=32, max_codepoint=126, blacklist_characters='"'), min_size=1)


def test_the_sockets_table():
    table = parse_memif(golden.MEMIF_BEFORE)
    assert table.sockets == (
        MemifSocket(0, listener=True, references=1, filename="/run/lab/memif.sock"),
        MemifSocket(1, listener=False, references=0, filename="/run/lab/one.sock"),
    )
    assert [table.socket_of(state) for state in table.interfaces] == [
        "/run/lab/memif.sock",
        "/run/lab/one.sock",
        "/run/lab/one.sock",
    ]


def test_a_socket_on_which_listening_failed():
    text = "sockets\n  id  listener    filename\n  0   yes (429496 /run/lab/memif.sock\n\n"
    assert parse_memif(text).sockets == (
        MemifSocket(0, listener=False, references=0, filename="/run/lab/memif.sock"),
    )


def test_interfaces_that_nobody_has_connected():
    server, client, down = parse_memif(golden.MEMIF_BEFORE).interfaces
    assert server == MemifState("memif0/0", 0, 0, "ethernet", frozenset({"admin-up"}), listener_fd=14)
    assert (server.role, client.role, down.role) == ("server", "client", "client")
    assert (down.id, down.mode, down.admin_up, down.zero_copy) == (7, "ip", False, True)
    assert not any(state.connected for state in (server, client, down))


def test_a_connected_interface():
    table = parse_memif(golden.MEMIF_CONNECTED)
    client = table.interface("memif1/0")
    assert client.connected
    assert (client.remote_name, client.remote_interface) == ("VPP 26.06-release", "memif1/0")
    assert (client.conn_fd, client.s2m_rings, client.m2s_rings, client.buffer_size) == (20, 2, 2, 2048)
    assert client.regions == (MemifRegion(0, 8454656, 21),)
    assert [(ring.direction, ring.index) for ring in client.rings] == [
        ("slave-to-master", 0),
        ("slave-to-master", 1),
        ("master-to-slave", 0),
        ("master-to-slave", 1),
    ]
    server_ring = table.interface("memif0/0").rings[0]
    assert server_ring == MemifRing("master-to-slave", 0, 0, 16512, 1024, 19, 1024, 3, 1, 0)


def test_a_wrong_secret_shows_on_both_sides():
    client = parse_memif(golden.MEMIF_REFUSED_CLIENT).interface("memif1/0")
    assert (client.local_reason, client.remote_reason) == ("disconnect received", "incorrect secret")
    server = parse_memif(golden.MEMIF_REFUSED_SERVER).interface("memif1/0")
    assert '"incorrect secret"' not in golden.MEMIF_REFUSED_SERVER  # VPP prints garbage behind it
    assert server.local_reason == "incorrect secret"


def test_an_interface_that_is_not_there():
    assert parse_memif(golden.MEMIF_BEFORE).interface("memif9/9") is None


def test_a_socket_that_is_not_in_the_table():
    assert MemifTable().socket_of(MemifState("memif3/0", socket_id=3)) == ""


@pytest.mark.parametrize("text", ["", "sockets\n  id  listener    filename\n\n"])
def test_nothing_is_nothing(text):
    assert parse_memif(text) == MemifTable()


rings = st.one_of(
    st.builds(
        MemifRing,
        st.sampled_from(["slave-to-master", "master-to-slave"]),
        *[small] * 4,
        st.integers(-1, 99),
        *[st.integers(0, 65535)] * 4,
    ),
    st.builds(MemifRing, st.sampled_from(["slave-to-master", "master-to-slave"]), *[small] * 4, small),
)
states = st.builds(
    MemifState,
    st.builds("memif{}/{}".format, small, small),
    small,
    small,
    st.sampled_from(["ethernet", "ip", "punt-inject", "unknown mode (7)"]),
    st.frozensets(st.sampled_from(FLAGS)),
    st.integers(-1, 99),
    st.integers(-1, 99),
    st.one_of(st.just(""), texts),
    st.one_of(st.just(""), texts),
    st.sampled_from(["", "mode mismatch", "something new"]),
    st.sampled_from(["", "secret required", "something new"]),
    small,
    small,
    small,
    st.lists(st.builds(MemifRegion, small, small, st.integers(-1, 99)), max_size=3).map(tuple),
    st.lists(rings, max_size=3).map(tuple),
)
sockets = st.builds(
    lambda number, references, name: MemifSocket(number, references > 0, references, "/run/" + name),
    small,
    small,
    st.from_regex(r"[a-z0-9/._-]{1,20}", fullmatch=True),
)


def render(table):
    """Return what src/plugins/memif/cli.c prints for `table`."""
    lines = ["sockets", f"  {'id':<3} {'listener':<11} filename"]
    for row in table.sockets:
        listener = f"yes ({row.references})" if row.listener else "no"
        lines.append(f"  {row.id:<3} {listener:<11} {row.filename}")
    lines.append("")
    for state in table.interfaces:
        lines.append(f"interface {state.name}")
        lines += [f'  remote-name "{state.remote_name}"'] * bool(state.remote_name)
        lines += [f'  remote-interface "{state.remote_interface}"'] * bool(state.remote_interface)
        lines.append(f"  socket-id {state.socket_id} id {state.id} mode {state.mode}")
        lines.append("  flags" + "".join(f" {flag}" for flag in FLAGS if flag in state.flags))
        lines.append(f"  listener-fd {state.listener_fd} conn-fd {state.conn_fd}")
        lines.append(
            f"  num-s2m-rings {state.s2m_rings} num-m2s-rings {state.m2s_rings} "
            f"buffer-size {state.buffer_size} num-regions {len(state.regions)}"
        )
        lines += [f'  local-disc-reason "{state.local_reason}"'] * bool(state.local_reason)
        lines += [f'  remote-disc-reason "{state.remote_reason}"'] * bool(state.remote_reason)
        lines += [f"  region {region.index} size {region.size} fd {region.fd}" for region in state.regions]
        for ring in state.rings:
            lines.append(f"    {ring.direction} ring {ring.index}:")
            lines.append(
                f"      region {ring.region} offset {ring.offset} ring-size {ring.size} int-fd {ring.int_fd}"
            )
            if ring.head is not None:
                lines.append(
                    f"      head {ring.head} tail {ring.tail} "
                    f"flags 0x{ring.flags:04x} interrupts {ring.interrupts}"
                )
    return "\n".join(lines) + "\n"


@given(st.builds(MemifTable, st.lists(sockets).map(tuple), st.lists(states, max_size=4).map(tuple)))
def test_a_table_comes_back_as_rendered(table):
    assert parse_memif(render(table)) == table
