"""What there is to draw of a node, asked of it as it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs import drawing
from labs.errors import NodeDied
from labs.vpp.sockets import DoorError

if TYPE_CHECKING:
    from labs.node import Node

PATIENCE = 1.0
"""Seconds that a node may take for each question; a picture is not worth waiting longer for."""


def portrait(node: Node) -> drawing.NodeView:
    """Return what there is to draw of a node."""
    pinned = bool(node.spec.cores)
    try:
        cores = node.cores()
        try:
            table, addresses = node.memifs(PATIENCE), node.addresses(PATIENCE)
        except DoorError:  # it is stopped, or busy
            return drawing.NodeView(node.name, cores, pinned=pinned, answers=False)
    except NodeDied:
        return drawing.NodeView(node.name, None, pinned=True)
    ends = tuple(
        drawing.End(
            table.socket_of(state),
            state.id,
            state.name,
            state.role,
            next(iter(addresses.get(state.name, [])), ""),
            state.connected,
            f"{state.remote_interface} of {state.remote_name}",
        )
        for state in table.interfaces
    )
    return drawing.NodeView(node.name, cores, pinned=pinned, ends=ends)
