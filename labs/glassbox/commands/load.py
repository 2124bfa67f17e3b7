"""load node, insert node, remove node: the glass box's own commands, for nodes that a learner wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.commands.command import command
from labs.glassbox.loading import Loading, restore

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words
    from labs.glassbox.doors.running import Running


@command("load node", help="load node <file>: add the nodes of a Python file to the graph (glass box only)")
def load_node(box: Box, words: Words) -> str | Running:
    """Compile a file's nodes beside the data plane, and put them into the graph."""
    file = words.line()
    if not file:
        raise LabError("expected the name of a Python file")
    return Loading(box, Path(file).expanduser())


@command(
    "insert node", help="insert node <name> before <name>: let packets through it first (glass box only)"
)
def insert_node(box: Box, words: Words) -> str:
    """Let all packets that are on their way to one node go to another one first."""
    name = _node(box, words)
    if not words.take("before"):
        raise words.unknown() if not words.is_over else LabError("expected before NODE")
    before = _node(box, words)
    words.end()
    if box.graph.kinds[box.graph.number(before)].makes_packets:
        raise LabError(
            f"{before} makes packets; none come to it.", "insert the node before one that takes packets."
        )
    box.graph.insert(name, before)
    return ""


@command(
    "remove node",
    help="remove node <name>: undo insert node, or a load that replaced a node (glass box only)",
)
def remove_node(box: Box, words: Words) -> str:
    """Take a node out of the packets' way again."""
    name = _node(box, words)
    words.end()
    was_inserted = box.graph.remove(name)
    if not restore(box, name) and not was_inserted:
        raise LabError(f"{name} was neither inserted nor loaded in the place of another node.")
    return ""


def _node(box: Box, words: Words) -> str:
    name = words.peek()
    if name not in box.graph.names:
        raise LabError(f"unknown node name `{words.shown}'")
    return words.word()
