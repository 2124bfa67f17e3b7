"""What the picture of a lab is drawn from; the nodes are asked seldom, and looked at often."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from labs.bench.figures import present
from labs.bench.wiring import Wire, planned, wires
from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.bench.tables import Table
    from labs.drawing import LabView
    from labs.lab import Lab

Rates = dict[tuple[str, str], tuple[float, float]]


class Scene:
    """A lab as it was when it was last asked, and which of its nodes have ended since.

    Parameters
    ----------
    lab : Lab
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._view: LabView = lab.view()
        # of a node that has ended just now the view shows no link
        self.wires: tuple[Wire, ...] = max(wires(self._view), planned(lab.current), key=len)
        self.modes: dict[str, str] = {}
        self.look()

    def look(self) -> None:
        """Ask the nodes anew: after a turn, not at each drawing, since a VPP's CLI holds its workers up."""
        with contextlib.suppress(LabError):
            self._view = self._lab.view()
            seen = wires(self._view)
            if len(seen) == len(self.wires) or not self.wires:  # else a link is down: its rate is unknown
                self.wires = seen
            silent = {node.name for node in self._view.nodes if node.cores is None or not node.answers}
            self.modes = {
                name: " and ".join(sorted(set(node.rx_modes().values())))
                for name, node in self._lab.nodes.items()
                if name not in silent
            }

    def ended(self) -> list[str]:
        """Return the nodes that have ended."""
        with contextlib.suppress(LabError):
            return [name for name, node in self._lab.nodes.items() if not node.alive]
        return []

    def now(self) -> LabView:
        """Return the view as it was, with the nodes that have ended since."""
        ended = self.ended()
        nodes = tuple(replace(node, cores=None) if node.name in ended else node for node in self._view.nodes)
        return replace(self._view, nodes=nodes)

    def rates(self, tables: Mapping[str, Table], now: float) -> Rates:
        """Return the present rates of each link in Mpps, there and back, by the names of its two nodes."""
        found: Rates = {}
        for number, wire in enumerate(self.wires):
            forth, back = (
                present(tables.get("links"), f"link{number}_{way}", now) for way in ("forth", "back")
            )
            found[wire.left, wire.right] = (forth, back)
        return found
