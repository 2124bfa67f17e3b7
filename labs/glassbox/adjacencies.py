"""Adjacencies: what lies behind routes. Each has a number, and a row in the data plane's table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from labs.errors import LabError
from labs.glassbox.vm import ADJACENCIES, TO_ARP, TO_DROP, TO_LOCAL, TO_REWRITE

if TYPE_CHECKING:
    import ipaddress
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from labs.glassbox.interfaces import Interface, Interfaces

    Key = tuple[str, int, ipaddress.IPv4Address | None]
    Neighbours = dict[tuple[int, ipaddress.IPv4Address], bytes]

DROP: Key = ("drop", 0, None)
"""The key of number 0; every address without a route leads there."""

LOCAL: Key = ("local", 0, None)
_IP4_TYPE = b"\x08\x00"


def towards(interface: int, next_hop: ipaddress.IPv4Address | None) -> Key:
    """Return the key of the way to a neighbour; None as next hop is each packet's own destination."""
    return ("to", interface, next_hop)


class Adjacencies:
    """All adjacencies, by what they are.

    Parameters
    ----------
    table : ndarray of ADJACENCY
        The data plane's.
    interfaces : Interfaces
    neighbours : dict
        The hardware addresses that are known, by interface and address.
    in_use : callable
        Returns the keys of all that routes lead to.
    """

    def __init__(
        self,
        table: NDArray[np.void],
        interfaces: Interfaces,
        neighbours: Neighbours,
        in_use: Callable[[], Iterable[Key]],
    ) -> None:
        self._table = table
        self._interfaces = interfaces
        self._neighbours = neighbours
        self._in_use = in_use
        self._numbers: dict[Key, int] = {DROP: 0}
        self._spare = list(range(ADJACENCIES - 1, 0, -1))

    def number(self, key: Key) -> int:
        """Return the number of an adjacency; make it if it is not there.

        Raises
        ------
        LabError
            There is no room for it.
        """
        if key not in self._numbers:
            if not self._spare:
                self._sweep()
            if not self._spare:
                raise LabError(f"There are {ADJACENCIES} adjacencies; no more fit.", "delete some routes.")
            self._numbers[key] = self._spare.pop()
            self.fill(key)
        return self._numbers[key]

    def refresh(self, interface: Interface) -> None:
        """Write an interface's rows anew: its hardware address or MTU has changed."""
        for key in self._numbers:
            if key[0] == "to" and key[1] == interface.index:
                self.fill(key)

    def fill(self, key: Key) -> None:
        """Write an adjacency's row, as far as the neighbour is known; if there is such an adjacency."""
        if key not in self._numbers:
            return
        kind, index, hop = key
        row = self._table[self._numbers[key]]
        row["header"] = 0
        row["next"] = {"drop": TO_DROP, "local": TO_LOCAL}.get(kind, TO_ARP)
        if kind != "to":
            return
        interface = self._interfaces[index]
        row["interface"], row["mtu"] = interface.index, interface.mtu
        row["next_hop"] = int(hop) if hop else 0
        mac = self._neighbours.get((index, hop)) if hop else None
        if not interface.mac:
            row["next"] = TO_REWRITE
        elif mac:
            raw = (mac + interface.mac + _IP4_TYPE).ljust(16, b"\0")
            row["header"] = np.frombuffer(raw, "<i8")
            row["next"] = TO_REWRITE

    def _sweep(self) -> None:
        """Make free what no route leads to any more."""
        used = {DROP, *self._in_use()}
        for key in [each for each in self._numbers if each not in used]:
            self._spare.append(self._numbers.pop(key))
