"""The graph: numbers, arcs, nodes put in between, and what it refuses."""

from __future__ import annotations

import pytest
from glassbox_bench import Bench, many

from labs.errors import LabError
from labs.glassbox.graph import KINDS, Node
from labs.glassbox.vm import ARCS, NODES

A, B = "10.0.0.2", "10.0.1.2"


@pytest.fixture
def own(folder):
    """Make a graph of a test's own."""
    bench = Bench(folder)
    yield bench.box.graph
    bench.box.close()


def target(graph, name, arc):
    return graph.names[int(graph._table[graph.number(name)]["arcs"][arc])]


def test_every_node_that_was_declared_has_a_number(own):
    wanted = {name for name in KINDS if not name.startswith("interface-")}
    assert wanted <= set(own.names)
    assert [own.number(name) for name in own.names] == list(range(len(own)))


def test_every_arc_leads_where_it_says(own):
    for name, kind in zip(own.names, own.kinds, strict=True):
        for arc, wanted in enumerate(kind.to):
            assert target(own, name, arc) == wanted


def test_a_name_that_is_not_there_is_refused(own):
    with pytest.raises(LabError, match="no-such"):
        own.number("no-such")


def test_a_node_before_another_gets_all_that_was_on_its_way_there(own):
    into = [
        (name, arc)
        for name, kind in zip(own.names, own.kinds, strict=True)
        for arc, to in enumerate(kind.to)
        if to == "ip4-lookup"
    ]
    own.insert("ip4-icmp-echo-request", "ip4-lookup")
    for name, arc in into:
        wanted = "ip4-lookup" if name == "ip4-icmp-echo-request" else "ip4-icmp-echo-request"
        assert target(own, name, arc) == wanted
    own.connect()  # whatever else changes, it stays in between
    assert target(own, "ip4-input", 1) == "ip4-icmp-echo-request"
    assert own.remove("ip4-icmp-echo-request")
    assert target(own, "ip4-input", 1) == "ip4-lookup"
    assert not own.remove("ip4-icmp-echo-request")


def test_a_node_that_does_not_lead_there_cannot_be_put_before_it(own):
    with pytest.raises(LabError, match="ip4-lookup"):
        own.insert("error-drop", "ip4-lookup")


def test_a_full_graph_refuses_new_names_and_takes_known_ones(own):
    kind = KINDS["error-drop"]
    for number in range(NODES - len(own)):
        own.add(kind, f"copy-{number}")
    assert len(own) == NODES
    with pytest.raises(LabError, match=str(NODES)):
        own.add(kind, "one-more")
    assert own.add(kind, "copy-0") == own.number("copy-0")


def test_a_node_with_too_many_arcs_is_refused(own):
    kind = KINDS["error-drop"]
    wide = Node("wide", kind.function, ("drop",) * (ARCS + 1))
    own.add(wide)
    with pytest.raises(LabError, match="wide"):
        own.connect()


def test_an_arc_is_made_once(own):
    first = own.arc_to("pg-input", "drop")
    assert own.arc_to("pg-input", "drop") == first
    assert target(own, "pg-input", first) == "drop"


def test_a_box_does_not_change_what_another_one_declares(folder):
    before = {name: kind.to for name, kind in KINDS.items()}
    bench = Bench(folder)
    bench.box.graph.arc_to("pg-input", "ip4-local")
    bench.box.close()
    assert {name: kind.to for name, kind in KINDS.items()} == before


def test_packets_take_the_way_through_an_inserted_node(bench):
    """l2-fwd knows no bridge here, and sends all to l2-flood: enough to see that it was asked."""
    graph, wire = bench.box.graph, bench.wires[0]
    number = graph.number("ip4-drop")
    before = int(bench.box.vm.vectors[number])
    graph.arc_to("ip4-drop", "ip4-rewrite")
    graph.insert("ip4-drop", "ip4-rewrite")
    out = bench.through(wire, *many(wire, A, B, 5))
    graph.remove("ip4-drop")
    assert int(bench.box.vm.vectors[number]) - before == 5
    assert out == [[], [], []]
    assert [len(each) for each in bench.through(wire, *many(wire, A, B, 5))] == [0, 5, 0]
