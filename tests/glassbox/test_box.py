"""The box as a whole: what it believes of what it hears, and what it leaves behind."""

from __future__ import annotations

import ipaddress

import numpy as np
import pytest
from glassbox_bench import Bench, asks, many, udp
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.errors import LabError
from labs.glassbox.vm import ARP_LEARNED, BAD_CODE, BAD_RING, ECHO_REPLY, NEWS, NEWS_LENGTH, RECORDS, TRACED

A, B = "10.0.0.2", "10.0.1.2"


def tell(bench, *words):
    """Leave a message as a node would."""
    vm = bench.box.vm
    vm.news[vm.state[NEWS] % NEWS_LENGTH] = words
    vm.state[NEWS] += 1


def test_news_are_read_once(bench):
    tell(bench, ECHO_REPLY, 99 << 16 | 1, 0, 0)
    assert bench.box.has_news
    bench.box.hear()
    assert not bench.box.has_news


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 5), st.integers(0, 63), st.integers(0, (1 << 32) - 1), st.integers(0, (1 << 48) - 1))
def test_whatever_is_told_is_heard_without_harm(made, kind, interface, address, mac):
    bench = made
    tell(bench, kind, interface, address, mac)
    bench.box.hear()
    for where, who in [key for key in bench.box.routes.neighbours if key not in bench.box.routes.static]:
        assert any(who in each.network for each in bench.box.interfaces[where].addresses)
        bench.box.routes.forget(where, who)


def test_a_neighbour_of_a_deleted_interface_is_not_noted(bench):
    wire = bench.wire(9, "10.9.0.1/24")
    index = wire.index
    wire.send(asks("10.9.0.7", "10.9.0.1", wire))
    bench.box.vm.news[bench.box.vm.state[NEWS] % NEWS_LENGTH] = (
        ARP_LEARNED,
        index,
        int(ipaddress.ip_address("10.9.0.7")),
        5,
    )
    bench.box.vm.state[NEWS] += 1
    bench.cut(wire)
    bench.box.hear()
    assert not [each for each, _ in bench.box.routes.neighbours if each == index]


def test_a_broken_ring_that_nobody_has_is_forgotten(bench):
    bench.box.vm.state[BAD_RING], bench.box.vm.state[BAD_CODE] = 12345, -1
    assert bench.box.has_news
    bench.box.hear()
    assert not bench.box.has_news
    assert all(each.memif.connection for each in bench.wires)


def test_setting_up_what_is_up_changes_nothing(bench):
    wire = bench.wires[0]
    bench.box.memifs.queues.set_mode(wire.memif, "interrupt")
    rows = list(wire.memif.rows)
    bench.box.set_up(wire.interface, is_up=True)
    assert wire.memif.rows == rows
    assert bench.box.vm.rx_queues[rows[0]]["mode"] == 1
    bench.box.memifs.queues.set_mode(wire.memif, "polling")


def test_traces_can_be_cleared(bench):
    box, wire = bench.box, bench.wires[0]
    box.vm.nodes[box.graph.number("memif-input")]["traces"] = 3
    bench.through(wire, *many(wire, A, B, 5))
    assert box.vm.state[TRACED] == 3
    assert box.vm.state[RECORDS] >= 3 * 6
    box.clear_trace()
    bench.through(wire, *many(wire, A, B, 5))
    assert not box.vm.state[TRACED]
    assert not box.vm.state[RECORDS]


def test_traces_are_no_more_than_there_is_room_for(bench):
    box, wire = bench.box, bench.wires[0]
    box.vm.nodes[box.graph.number("memif-input")]["traces"] = 100_000
    for _ in range(8):
        bench.through(wire, *many(wire, A, B, 200))
    assert box.vm.state[RECORDS] == box.vm.records.size
    box.clear_trace()


def test_a_traced_packet_tells_its_whole_way(bench):
    box, wire = bench.box, bench.wires[0]
    box.vm.nodes[box.graph.number("memif-input")]["traces"] = 1
    bench.through(wire, *many(wire, A, B, 3))
    lines = box.vm.records[: box.vm.state[RECORDS]]
    box.clear_trace()
    way = [box.graph.names[each] for each in lines["node"]]
    assert way == [
        "memif-input",
        "ethernet-input",
        "ip4-input",
        "ip4-lookup",
        "ip4-rewrite",
        "memif0/1-output",
        "memif0/1-tx",
    ]
    assert len(set(lines["mark"].tolist())) == 1
    assert (np.diff(lines["at"]) > 0).all()


def test_two_boxes_in_one_process_do_not_meet(folder):
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    boxes = [Bench(folder / "a"), Bench(folder / "b")]
    for each in boxes:
        each.neighbour(each.wire(0, "10.0.0.1/24"), A)
    wire = boxes[0].wires[0]
    assert len(boxes[0].through(wire, wire.frame() / udp(A, A))[0]) == 1
    assert not boxes[1].box.vm.vectors.any()
    for each in boxes:
        each.close()


def test_a_ping_needs_a_number_that_is_free(bench):
    bench.box._next_ping = 0xFFFF
    pings = [bench.box.ping(ipaddress.ip_address(A), repeat=1) for _ in range(3)]
    assert len(bench.box.pings) == 3
    assert set(bench.box.pings) <= set(range(1, 0x10000))
    for each in pings:
        each.abort()
    assert not bench.box.pings


def test_what_is_not_there_is_refused(bench):
    with pytest.raises(LabError, match="77"):
        _ = bench.box.interfaces[77]
    with pytest.raises(LabError, match="nobody"):
        bench.box.interfaces.named("nobody")
