"""Handing packets on: order, vectors, queues, and the time that nodes are charged for."""

from __future__ import annotations

import numpy as np
import pytest
from glassbox_bench import Bench, many, udp
from scapy.layers.inet import IP

from labs.glassbox import clock
from labs.glassbox.pinging import inject
from labs.glassbox.vm import FREE, PACKETS, PENDING, STREAMS, UNFINISHED, VECTOR, VECTORS

A, B = "10.0.0.2", "10.0.1.2"


def put(bench, target, raw):
    data = np.frombuffer(bytes(raw), np.uint8).copy()
    return inject(bench.box.vm, bench.box.graph.number(target), data, data.size)


def moved(bench, action):
    """Return what calls and vectors of nodes an action has caused."""
    vm, names = bench.box.vm, bench.box.graph.names
    before = vm.calls.copy(), vm.vectors.copy()
    action()
    calls, vectors = vm.calls - before[0], vm.vectors - before[1]
    return {
        name: (int(calls[number]), int(vectors[number]))
        for number, name in enumerate(names)
        if vectors[number]
    }


@pytest.fixture
def waiting(bench):
    """Let all queues wait in another way for the time of a test."""

    def wait(mode):
        for each in bench.wires:
            bench.box.memifs.queues.set_mode(each.memif, mode)
        bench.turn(3)

    yield wait
    wait("polling")


def test_one_vector_is_one_call_of_each_node(bench):
    wire = bench.wires[0]
    wire.send(*many(wire, A, B, VECTOR))
    found = moved(bench, bench.turn)
    assert {name: each[1] for name, each in found.items()} == dict.fromkeys(found, VECTOR)
    assert all(each[0] == 1 for name, each in found.items() if name != "memif-input")


def test_no_vector_is_longer_than_256(bench):
    packet = bytes(udp(A, B))
    for _ in range(600):
        assert put(bench, "ip4-lookup", packet)
    found = moved(bench, bench.turn)
    assert found["ip4-lookup"] == (3, 600)
    assert len(bench.wires[1].received()) == 600


def test_what_waits_in_a_queue_keeps_its_order(bench):
    for number in range(700):
        put(bench, "ip4-lookup", udp(A, B, id=number))
    bench.turn(2)
    assert [IP(each[14:]).id for each in bench.wires[1].received()] == list(range(700))


def test_packets_of_one_frame_that_part_keep_their_order(bench):
    wire = bench.wires[0]
    frames = [bytes(wire.frame() / udp(A, f"10.0.{each % 3}.2", id=each)) for each in range(VECTOR)]
    out = bench.through(wire, *frames)
    for number, each in enumerate(out):
        assert [IP(raw[14:]).id for raw in each] == list(range(number, VECTOR, 3))


def test_a_packet_injected_leaves_in_the_next_turn(bench):
    put(bench, "ip4-lookup", udp(A, B))
    assert bench.box.vm.state[PENDING] == 1
    bench.turn()
    assert bench.box.vm.state[PENDING] == 0
    assert bench.box.vm.state[UNFINISHED] == 0
    assert len(bench.wires[1].received()) == 1


def test_when_no_memory_is_left_nothing_more_is_injected(bench):
    count = 0
    while put(bench, "error-drop", udp(A, B)):
        count += 1
    assert count == PACKETS
    assert bench.box.vm.state[FREE] == 0
    assert not put(bench, "error-drop", udp(A, B))
    bench.turn()
    assert bench.box.vm.state[FREE] == PACKETS


def test_a_packet_too_long_is_not_injected(bench):
    assert not put(bench, "error-drop", bytes(20_000))


def test_packets_wait_in_the_ring_while_memory_is_short(bench):
    """As many as there is room for are taken; the others are there in the next turn."""
    wire = bench.wires[0]
    for _ in range(PACKETS - 10):
        put(bench, "error-drop", udp(A, "99.0.0.1"))
    wire.send(*many(wire, A, B, 100))
    bench.turn()
    first = len(bench.wires[1].received())
    bench.turn()
    assert first == 10
    assert len(bench.wires[1].received()) == 90


@pytest.mark.parametrize("mode", ["interrupt", "adaptive"])
def test_what_memory_was_short_for_is_not_forgotten_asleep(bench, waiting, mode):
    wire = bench.wires[0]
    waiting(mode)
    for _ in range(PACKETS - 10):
        put(bench, "error-drop", udp(A, "99.0.0.1"))
    wire.send(*many(wire, A, B, 100))
    bench.turn(4)
    assert len(bench.wires[1].received()) == 100


@pytest.mark.parametrize("count", [1, 255, 256, 257, 511, 512, 513, 1000])
def test_one_doorbell_brings_all_out(bench, waiting, count):
    wire = bench.wires[0]
    waiting("interrupt")
    wire.send(*many(wire, A, B, count))
    bench.turn(8)
    assert len(bench.wires[1].received()) == count
    assert not bench.box.vm.rx_queues[wire.memif.rows[0]]["pending"]  # it sleeps again


def test_an_idle_turn_calls_input_nodes_and_no_others(bench):
    vm, names = bench.box.vm, bench.box.graph.names
    before = vm.calls.copy()
    bench.turn(10)
    called = {names[each]: int(count) for each, count in enumerate(vm.calls - before) if count}
    assert called == {"memif-input": 10 * len(bench.wires)}


def test_vectors_taken_in_are_counted(bench):
    wire = bench.wires[0]
    before = int(bench.box.vm.state[VECTORS])
    bench.through(wire, *many(wire, A, B, 77))
    assert int(bench.box.vm.state[VECTORS]) - before == 77


def test_clocks_of_nodes_are_no_more_than_the_time_that_passed(bench):
    wire, vm = bench.wires[0], bench.box.vm
    wire.send(*many(wire, A, B, VECTOR))
    before, began = int(vm.clocks.sum()), clock.now()
    bench.turn()
    assert 0 < int(vm.clocks.sum()) - before <= clock.now() - began


def test_rows_of_streams_that_are_not_there_cost_nothing(folder):
    bench = Bench(folder)
    assert bench.box.streams.rows == 0
    assert bench.box.memifs.last_row == 0
    bench.turn(2)
    assert not bench.box.vm.calls.any()
    assert bench.box.streams.rows < STREAMS
    bench.close()
