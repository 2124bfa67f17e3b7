"""Which interface of which node meets which: what rates and pictures are drawn along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labs.topology import Topology
    from labs.views import LabView


@dataclass(frozen=True)
class Wire:
    """One link: the interfaces at its two ends, the earlier node of the lab on the left."""

    left: str
    left_interface: str
    right: str
    right_interface: str


def wires(view: LabView) -> tuple[Wire, ...]:
    """Return the links between nodes of a lab, from left to right."""
    found = []
    for i, a, j, b in view.links():
        (left, near), (right, far) = sorted(((i, a), (j, b)), key=lambda end: end[0])
        found.append(
            (left, Wire(view.nodes[left].name, near.interface, view.nodes[right].name, far.interface))
        )
    return tuple(wire for _, wire in sorted(found, key=lambda each: each[0]))


def planned(topology: Topology) -> tuple[Wire, ...]:
    """Return the links that a lab was made with, from left to right, whether its nodes run or not."""
    order = [spec.name for spec in topology.nodes]
    found = []
    for number, link in enumerate(topology.links):
        left, right = sorted((link.server, link.client), key=order.index)
        found.append(Wire(left, f"memif{number}/0", right, f"memif{number}/0"))
    return tuple(sorted(found, key=lambda wire: order.index(wire.left)))
