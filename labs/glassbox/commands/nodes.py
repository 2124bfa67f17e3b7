"""show node and show vlib graph: the graph as it is now, and where each node's source is to be read."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.commands.columns import centred
from labs.glassbox.commands.command import command
from labs.glassbox.commands.runtime import state_of
from labs.glassbox.commands.words import number as as_number
from labs.glassbox.loading import faults

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words
    from labs.glassbox.graph import Node


@command("show node", help="show node [<node-name> | index <node-index>]")
def show_node(box: Box, words: Words) -> str:
    """List all nodes; or tell what one does, where its source is, and which nodes follow."""
    if words.is_over:
        lines = [f"{'Index':>5}  {'Node':30} Next"]
        lines += [
            f"{each:5}  {name:30} {' '.join(box.graph.names[arc] for arc in arcs_of(box, each))}".rstrip()
            for each, name in enumerate(box.graph.names)
        ]
        return "\n".join(lines)
    node = words.read(as_number, "index")
    if node is None:
        node = _named(box, words)
    words.end()
    if not node < len(box.graph):
        raise LabError("please specify valid node")
    return "\n".join(_told(box, node))


@command("show vlib graph", help="Show packet processing node graph [<node-name>]")
def show_graph(box: Box, words: Words) -> str:
    """Print which nodes come after each node, and which before it."""
    wanted = range(len(box.graph)) if words.is_over else [_named(box, words)]
    words.end()
    lines = [centred("Name", 26) + centred("Next", 26) + centred("Previous", 26)]
    for node in sorted(wanted, key=lambda each: box.graph.names[each]):
        after = [f"{box.graph.names[arc]} [{slot}]" for slot, arc in enumerate(arcs_of(box, node))]
        before = [box.graph.names[each] for each in before_of(box, node)]
        for row in range(max(len(after), len(before), 1)):
            name = box.graph.names[node] if not row else ""
            columns = (each[row] if row < len(each) else "" for each in (after, before))
            lines.append(f"{name:26}{''.join(centred(each, 26) for each in columns)}".rstrip())
    return "\n".join(lines)


def arcs_of(box: Box, node: int) -> list[int]:
    """Return the nodes to which the arcs of a node lead now."""
    return [int(arc) for arc in box.vm.nodes[node]["arcs"][: len(box.graph.kinds[node].to)]]


def before_of(box: Box, node: int) -> list[int]:
    """Return the nodes with an arc to a node."""
    return [each for each in range(len(box.graph)) if node in arcs_of(box, each)]


def source_of(kind: Node) -> tuple[str, int, str]:
    """Return a node's file, the line at which it begins, and what its docstring says."""
    written: Any = getattr(kind, "written", None) or kind.function.py_func
    return written.__code__.co_filename, written.__code__.co_firstlineno, inspect.getdoc(written) or ""


def _named(box: Box, words: Words) -> int:
    start = words.at
    name = words.word()
    if name not in box.graph.names:
        words.at = start
        raise LabError(f"unknown node name `{words.shown}'")
    return box.graph.number(name)


def _told(box: Box, node: int) -> list[str]:
    """Return what there is to say of one node."""
    kind = box.graph.kinds[node]
    file, line, doc = source_of(kind)
    vectors = int(box.counters.nodes()["vectors"][:, node].sum())
    sort = "input" if kind.makes_packets else "internal"
    lines = [
        f"node {box.graph.names[node]}, type {sort}, state {state_of(box, node)}, index {node}",
        *(f"  {each}".rstrip() for each in doc.splitlines()),
        "",
        f"  source: {Path(file)}, line {line}",
        f"  vectors: {vectors}",
        *([f"  {wrong}"] if (wrong := faults(box, node)) else []),
        "",
        "  next nodes:",
        f"    {centred('next-index', 10)}  {centred('node-index', 10)}{centred('Node', 30)}",
    ]
    lines += [
        f"    {centred(str(slot), 10)}  {centred(str(arc), 10)}{centred(box.graph.names[arc], 30)}".rstrip()
        for slot, arc in enumerate(arcs_of(box, node))
    ]
    return [
        *lines,
        "",
        "  known previous nodes:",
        f"    {' '.join(box.graph.names[each] for each in before_of(box, node))}",
    ]
