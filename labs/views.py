"""A lab as it is now, in plain data: its nodes, the ends of their memifs, what flows between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labs.placement import Cores, describe

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class End:
    """One end of a memif, as its node tells it.

    Parameters
    ----------
    socket : str
        The socket's file name; with `id` it tells which ends belong together.
    id : int
    interface, role, address : str
        `role` is ``server`` or ``client``; `address` is empty where there is none.
    connected : bool
    peer : str
        What the other end calls itself, while it is connected: it need not be a node of the lab.
    """

    socket: str
    id: int
    interface: str
    role: str
    address: str
    connected: bool
    peer: str = ""

    @property
    def outside(self) -> str:
        """Whom it meets where that is no node of the lab, in words."""
        return f"connected to {self.peer}" if self.connected and self.peer else "meets no other end"


@dataclass(frozen=True)
class NodeView:
    """One node as it is now: `cores` is None for a node that has ended, `answers` false for a silent one."""

    name: str
    cores: Cores | None
    pinned: bool
    ends: tuple[End, ...] = ()
    answers: bool = True

    @property
    def placed(self) -> str:
        """Where it runs, in words."""
        if self.cores is None:
            return "ended"
        return describe(self.cores) if self.pinned else f"free to move on {describe(self.cores)}"


@dataclass(frozen=True)
class LabView:
    """A lab as it is now: a title and its nodes."""

    title: str
    nodes: tuple[NodeView, ...]

    def links(self) -> list[tuple[int, End, int, End]]:
        """Return pairs of ends that meet on one socket with one id, with the numbers of their nodes."""
        ends = [(number, end) for number, node in enumerate(self.nodes) for end in node.ends]
        return [
            (i, a, j, b)
            for at, (i, a) in enumerate(ends)
            for j, b in ends[at + 1 :]
            if i != j and (a.socket, a.id) == (b.socket, b.id)
        ]

    def loose(self) -> list[tuple[int, End]]:
        """Return the ends that meet no other, with the numbers of their nodes."""
        met = {(number, end) for i, a, j, b in self.links() for number, end in ((i, a), (j, b))}
        ends = [(number, end) for number, node in enumerate(self.nodes) for end in node.ends]
        return [each for each in ends if each not in met]


@dataclass(frozen=True)
class Live:
    """What moves in a lab.

    Parameters
    ----------
    rates : mapping of (str, str) to (float, float)
        Mpps by the names of two linked nodes: from the first to the second, and back; NaN where unknown.
    modes : mapping of str to str
        The rx-mode of each node in a word or two.
    running : bool
        False while nothing is measured.
    """

    rates: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    modes: Mapping[str, str] = field(default_factory=dict)
    running: bool = True

    def between(self, left: str, right: str) -> tuple[float, float]:
        """Return the rates from left to right and back, in Mpps; NaN where unknown."""
        if not self.running:
            return math.nan, math.nan
        if (left, right) in self.rates:
            return self.rates[left, right]
        back, forth = self.rates.get((right, left), (math.nan, math.nan))
        return forth, back


def mpps(rate: float) -> str:
    """Return a rate in words, three digits at most."""
    if math.isnan(rate):
        return "— Mpps"
    digits = 2 if rate < 10 else 1  # noqa: PLR2004 - so that no more than three digits stand there
    return f"{rate:.{digits}f} Mpps"
