from __future__ import annotations

import golden
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.vpp import parse
from labs.vpp.parse import (
    InterfaceRow,
    PingReply,
    PingStatistics,
    RxQueue,
    ThreadRow,
    parse_addresses,
    parse_interfaces,
    parse_ping_failure,
    parse_ping_line,
    parse_ping_statistics,
    parse_runtime,
    parse_rx_placement,
    parse_threads,
    parse_version,
)

PARSERS = [getattr(parse, name) for name in parse.__all__ if name.startswith("parse_")]
GOLDEN = [text for name, text in vars(golden).items() if name.isupper()]

names = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_-]{0,12}(/[0-9]{1,2}){0,2}(\.[0-9]{1,3})?", fullmatch=True)
counts = st.integers(0, 2**64 - 1)


@pytest.mark.parametrize("parser", PARSERS)
@given(st.text())
def test_no_text_troubles_a_parser(parser, text):
    parser(text)


@pytest.mark.parametrize("parser", PARSERS)
@given(st.sampled_from(GOLDEN), st.data())
def test_no_torn_answer_troubles_a_parser(parser, text, data):
    lines = text.splitlines(keepends=True)
    kept = data.draw(st.lists(st.sampled_from(lines), max_size=12))
    parser("".join(line[data.draw(st.integers(0, 3)) :] for line in kept))


def test_rx_placement():
    assert parse_rx_placement(golden.RX_PLACEMENT) == [
        RxQueue("memif0/0", 0, 1, "vpp_wk_0", "memif-input", "adaptive"),
        RxQueue("memif1/0", 0, 1, "vpp_wk_0", "memif-input", "interrupt"),
        RxQueue("memif1/0", 1, 1, "vpp_wk_0", "memif-input", "interrupt"),
    ]


@given(st.lists(st.builds(RxQueue, names, st.integers(0, 99), st.integers(0, 9), names, names, names)))
def test_rx_placement_comes_back_as_rendered(queues):
    text = "".join(
        f"Thread {q.thread} ({q.thread_name}):\n"
        f" node {q.node}:\n    {q.interface} queue {q.queue} ({q.mode})\n"
        for q in queues
        if q.mode.isalnum()
    )
    assert parse_rx_placement(text) == [queue for queue in queues if queue.mode.isalnum()]


def test_interfaces():
    rows = {row.name: row for row in parse_interfaces(golden.INTERFACES)}
    assert list(rows) == ["local0", "loop0", "memif0/0", "memif1/0", "memif1/7"]
    assert rows["memif0/0"] == InterfaceRow(
        "memif0/0",
        1,
        "up",
        (9000, 0, 0, 0),
        {"rx packets": 3, "rx bytes": 262, "tx packets": 3, "tx bytes": 262, "drops": 2, "ip4": 2},
    )
    assert rows["memif1/0"].counters == {"tx-error": 1}
    assert rows["local0"].counters == {"drops": 1}
    assert rows["memif0/0"].admin_up
    assert not rows["local0"].admin_up


counter_names = st.sampled_from(
    ["rx packets", "rx bytes", "tx packets", "drops", "punt", "ip4", "rx-miss", "tx-error"]
)


@given(
    st.lists(
        st.builds(
            InterfaceRow,
            names,
            st.integers(0, 99999),
            st.sampled_from(["up", "down", "up/punt", "error"]),
            st.tuples(*[st.integers(0, 65535)] * 4),
            st.dictionaries(counter_names, counts),
        )
    )
)
def test_interfaces_come_back_as_rendered(rows):
    lines = []
    for row in rows:
        mtu = "/".join(map(str, row.mtu))
        head = f"{row.name:<32}{row.index:^5}{row.state:^10}{mtu:^21}"
        counters = [f"{name:<16}{value:16d}" for name, value in row.counters.items()] or [""]
        lines += [head + counters[0], *(" " * len(head) + counter for counter in counters[1:])]
    # VPP leaves no blank between a number that fills its column and the next
    assert parse_interfaces("\n".join(lines)) == rows


def test_addresses():
    assert parse_addresses(golden.ADDRESSES) == {
        "local0": [],
        "loop0": [],
        "memif0/0": ["10.10.2.1/24"],
        "memif1/0": ["10.10.3.1/24", "2001:db8::1/64"],
        "memif1/7": [],
    }


def test_addresses_in_another_table_are_seen():
    text = "memif0/0 (up):\n  L3 10.10.2.1/24 ip4 table-id 5 fib-idx 1\n"
    assert parse_addresses(text) == {"memif0/0": ["10.10.2.1/24"]}


@given(st.dictionaries(names, st.lists(st.ip_addresses().map(lambda address: f"{address}/9"))))
def test_addresses_come_back_as_rendered(table):
    text = "".join(
        f"{name} (up):\n" + "".join(f"  L3 {address}\n" for address in addresses)
        for name, addresses in table.items()
    )
    assert parse_addresses(text) == table


def test_threads():
    assert parse_threads(golden.THREADS) == [
        ThreadRow(0, "vpp_main", "", 7568, "other (0)", 0, 0, 0),
        ThreadRow(1, "vpp_wk_0", "workers", 7569, "other (0)", 1, 1, 0),
    ]


def test_threads_without_a_core():
    line = "0      vpp_main                        12      fifo (50)                n/a    n/a    n/a    \n"
    assert parse_threads(line) == [ThreadRow(0, "vpp_main", "", 12, "fifo (50)", None, None, None)]


def test_runtime_of_two_threads():
    main, worker = parse_runtime(golden.RUNTIME)
    assert (main.id, main.name, main.lcore) == (0, "vpp_main", 0)
    assert (worker.id, worker.name, worker.lcore) == (1, "vpp_wk_0", 1)
    assert (worker.seconds, worker.update_interval) == (8.3, 0.5)
    assert worker.rates == {"in": 0.36063, "out": 0.0, "drop": 0.12024, "punt": 0.0}
    nodes = {node.name: node for node in worker.nodes}
    memif = nodes["memif-input"]
    assert (memif.state, memif.calls, memif.vectors) == ("interrupt wait", 33352584, 3)
    assert (memif.clocks, memif.vectors_per_call) == (1.99e9, 0.0)
    states = {node.name: node.state for node in main.nodes}
    assert states["ip4-full-reassembly-expire-wal"] == "any wait"
    assert states["deleted-399"] == "not started"
    assert states["unix-cli-process-0"] == "running"


def test_no_row_of_runtime_is_lost():
    rows = [
        line for line in golden.RUNTIME.splitlines() if line.split()[-1:] and line.split()[-1][-3:].isdigit()
    ]
    assert rows == []  # every row ends in a figure with two decimals
    rows = [line for line in golden.RUNTIME.splitlines() if line[-3:-2] == "." and "sec internal" not in line]
    assert sum(len(thread.nodes) for thread in parse_runtime(golden.RUNTIME)) == len(rows) > 20


def test_runtime_of_one_thread_has_no_heading():
    text = golden.RUNTIME.partition("\n")[2].partition("-----")[0]
    (thread,) = parse_runtime(text)
    assert (thread.id, thread.name, thread.lcore) == (0, "vpp_main", None)
    assert thread.nodes


def test_ping():
    lines = golden.PING.splitlines()
    replies = [reply for line in lines if (reply := parse_ping_line(line))]
    assert replies == [
        PingReply(116, "10.10.2.2", 2, 64, 7.7562),
        PingReply(116, "10.10.2.2", 3, 64, 24.0035),
    ]
    assert parse_ping_statistics(lines[-1]) == PingStatistics(3, 2, 33)
    assert [parse_ping_statistics(line) for line in lines[:-1]] == [None] * (len(lines) - 1)


def test_a_time_below_a_millisecond_has_no_zero():
    line = "116 bytes from 10.10.2.2: icmp_seq=2 ttl=64 time=.0286 ms"
    assert parse_ping_line(line).time_ms == 0.0286


def test_a_time_of_zero_has_no_point():
    assert parse_ping_line("116 bytes from ::1: icmp_seq=2 ttl=64 time=0 ms").time_ms == 0


@given(st.builds(PingReply, st.integers(0, 9999), st.ip_addresses().map(str), st.integers(0, 65535),
                 st.integers(0, 255), st.floats(0, 1e6).map(lambda ms: round(ms, 4))))  # fmt: skip
def test_a_reply_comes_back_as_rendered(reply):
    line = (
        f"{reply.size} bytes from {reply.address}: "
        f"icmp_seq={reply.sequence} ttl={reply.ttl} time={reply.time_ms:.4f} ms"
    )
    assert parse_ping_line(line) == reply
    assert parse_ping_line(line.replace("time=0.", "time=.")) == reply


def test_a_ping_that_was_not_sent():
    lines = golden.PING_NOWHERE.splitlines()
    assert parse_ping_failure(lines[0]) == "no egress interface"
    assert parse_ping_statistics(lines[-1]) == PingStatistics(0, 0, 0)
    assert parse_ping_failure(lines[-1]) is None


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("vpp v26.06-release built by root on vm at 2026-11-30T18:29:01\n", "VPP 26.06"),
        ("vpp v26.10-rc0~12-gabcdef built by ci on host at then", "VPP 26.10-rc0~12-gabcdef"),
        ("glass-box (not VPP) v0.1.0 built from the course's own sources\n", "glass-box (not VPP)"),
        ("", "VPP of unknown version"),
        ("version 1", "VPP of unknown version"),
    ],
)
def test_the_version_is_named_as_people_name_it(text, version):
    assert parse_version(text) == version
