from __future__ import annotations

from pathlib import Path

import pytest
from cli_pair import pair_of
from glassbox_cli import SET_UP

from labs.glassbox.nodes import ip4_lookup


@pytest.fixture(scope="module")
def pair():
    with pair_of("a") as made:
        made.do("a", *SET_UP)
        yield made


def test_a_node_tells_where_its_source_is(pair):
    text = pair.do("a", "show node ip4-lookup")
    assert ip4_lookup.__file__ in text
    assert "Find the route, note what lies behind it, and send the packet there." in text
    assert "known previous nodes:" in text


def test_the_line_it_tells_is_where_the_node_begins(pair):
    text = pair.do("a", "show node ip4-lookup")
    line = int(text.split(", line ")[1].split()[0])
    assert Path(ip4_lookup.__file__).read_text().splitlines()[line - 1].startswith('@node("ip4-lookup"')


def test_all_nodes_are_listed_with_their_numbers(pair):
    rows = [line.split() for line in pair.do("a", "show node").splitlines()[1:]]
    graph = pair.boxes["a"].graph
    assert [(int(row[0]), row[1]) for row in rows] == list(enumerate(graph.names))
    assert pair.do("a", f"show node index {graph.number('drop')}").startswith("node drop,")


def test_the_graph_has_each_arc_from_both_sides(pair):
    text = pair.do("a", "show vlib graph ip4-lookup")
    assert "ip4-rewrite [3]" in text
    assert "ip4-input" in text
    assert "ip4-lookup [1]" in pair.do("a", "show vlib graph ip4-input")
    assert pair.do("a", "show vlib graph").count("\n") > 60


@pytest.mark.parametrize("line", ["show node no", "show vlib graph no", "show node index 255"])
def test_an_unknown_node_is_refused(pair, line):
    assert "node" in pair.refusal("a", line)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("insert node", "unknown node name `'"),
        ("insert node no before ip4-input", "unknown node name `no before ip4-input'"),
        ("insert node ip4-drop after ip4-input", "unknown input `after ip4-input'"),
        ("insert node ip4-drop before no", "unknown node name `no'"),
        ("insert node ip4-drop before ip4-input", "ip4-drop does not hand packets to ip4-input"),
        ("insert node ip4-drop before pg-input", "pg-input makes packets; none come to it"),
        ("remove node no", "unknown node name `no'"),
        ("remove node ip4-input", "was neither inserted nor loaded"),
        ("load node", "expected the name of a Python file"),
    ],
)
def test_refusals(pair, line, words):
    assert words in pair.refusal("a", line)
