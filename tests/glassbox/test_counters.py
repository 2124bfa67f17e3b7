"""What is counted, as readers of the statistics segment see it."""

from __future__ import annotations

import numpy as np
import pytest
from glassbox_bench import many

from labs.glassbox import drops
from labs.glassbox.drops import COUNTED
from labs.glassbox.graph import KINDS
from labs.glassbox.vm import VECTORS

A, B = "10.0.0.2", "10.0.1.2"


def test_every_counter_has_a_number_of_its_own():
    names = [name for name in vars(drops) if name.isupper() and name != "COUNTED"]
    numbers = [getattr(drops, name) for name in names]
    assert sorted(numbers) == list(range(len(COUNTED)))
    assert len(set(COUNTED)) == len(COUNTED)
    with pytest.raises(ValueError, match="not in"):
        drops.number_of("nobody", "nothing")


def test_nodes_count_calls_and_vectors(bench):
    counters, graph = bench.box.counters, bench.box.graph
    before = counters.nodes()
    wire = bench.wires[0]
    wire.send(*many(wire, A, B, 100))
    bench.turn()
    after = counters.nodes()
    for name in (
        "memif-input",
        "ethernet-input",
        "ip4-input",
        "ip4-lookup",
        "ip4-rewrite",
        "memif0/1-output",
        "memif0/1-tx",
    ):
        number = graph.number(name)
        assert after["vectors"][0, number] - before["vectors"][0, number] == 100
        assert after["clocks"][0, number] > before["clocks"][0, number]
        assert after["calls"][0, number] - before["calls"][0, number] == (3 if name == "memif-input" else 1)


def test_rates_follow_what_was_done(bench):
    box, wire = bench.box, bench.wires[0]
    box.counters.update(int(box.vm.state[VECTORS]))
    for _ in range(4):
        wire.send(*many(wire, A, B, 200))
        bench.turn()
        bench.wires[1].received()
    box.counters.update(int(box.vm.state[VECTORS]))
    assert box.counters._layout.system["vector_rate"][0] == 200
    assert box.counters._layout.system["input_rate"][0] > 0
    box.counters.update(int(box.vm.state[VECTORS]))
    assert box.counters._layout.system["vector_rate"][0] == 0
    assert box.counters._layout.system["input_rate"][0] == 0


def test_a_new_interface_begins_at_zero(bench):
    box = bench.box
    wire = bench.wire(9, "10.9.0.1/24")
    wire.send(*many(wire, "10.9.0.2", B, 10))
    bench.turn()
    index = wire.index
    assert box.counters.of_interface(index)["rx packets"] == 10
    bench.cut(wire)
    again = box.add_interface("pg8", "pg")
    assert again.index == index
    assert not any(box.counters.of_interface(index).values())
    box.remove_interface(again)


def test_clearing_interfaces_clears_them_all(bench):
    wire = bench.wires[0]
    wire.send(*many(wire, A, B, 10))
    bench.turn()
    bench.box.counters.clear_interfaces()
    assert not any(any(bench.box.counters.of_interface(each.index).values()) for each in bench.wires)


def test_what_readers_get_does_not_change_under_them(bench):
    wire = bench.wires[0]
    errors, nodes = bench.box.counters.errors(), bench.box.counters.nodes()
    kept = errors.copy(), {name: each.copy() for name, each in nodes.items()}
    wire.send(*many(wire, A, "99.0.0.1", 10))
    bench.turn()
    assert (errors == kept[0]).all()
    assert all((nodes[name] == kept[1][name]).all() for name in nodes)
    assert int(np.sum(bench.box.counters.errors() - errors)) == 10


def test_input_nodes_are_known_as_such(bench):
    graph = bench.box.graph
    inputs = [name for name in graph.names if name in KINDS and KINDS[name].makes_packets]
    assert sorted(inputs) == ["memif-input", "pg-input"]
    assert sorted(set(bench.box.counters._inputs)) == sorted(graph.number(each) for each in inputs)
