"""What the parts of a lab have in common: `labs.instruments` and `labs.rebuilding` see these of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labs.launch import Launch
    from labs.node import Node
    from labs.topology import Topology


class LabPart:
    """A part of `labs.lab.Lab`, which has all of this."""

    topology: Topology
    _launch: Launch | None

    @property
    def nodes(self) -> dict[str, Node]:
        """The running nodes by name."""
        raise NotImplementedError

    def __getitem__(self, node: str) -> Node:
        raise NotImplementedError

    def _running(self) -> Launch:
        raise NotImplementedError
