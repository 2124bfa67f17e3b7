"""The tree of routes as Python writes it; `labs.glassbox.fib` is how packets read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from labs.errors import LabError
from labs.glassbox import fib
from labs.glassbox.vm import PLIES

if TYPE_CHECKING:
    import ipaddress
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Entries = Callable[[], Iterable[tuple[ipaddress.IPv4Network, int]]]


class Tree:
    """A tree of prefixes.

    Parameters
    ----------
    root, plies : ndarray of uint32
        The data plane's.
    entries : callable
        Returns all prefixes that are in the tree, each with its adjacency.
    """

    def __init__(self, root: NDArray[np.uint32], plies: NDArray[np.uint32], entries: Entries) -> None:
        self._root, self._plies = root, plies
        self._root_lengths = np.full(root.shape, -1, np.int8)
        self._ply_lengths = np.full(plies.shape, -1, np.int8)
        self._used = np.zeros(1, np.int64)
        self._entries = entries
        self._may_shrink = False

    def put(self, prefix: ipaddress.IPv4Network, adjacency: int) -> None:
        """Let a prefix lead to an adjacency, where nothing longer does.

        Raises
        ------
        LabError
            There is no room; all other prefixes lead where they did.
        """
        if self._written(prefix, adjacency):
            return
        if self._may_shrink:
            self._build()
            if self._written(prefix, adjacency):
                return
        raise LabError(f"The tree of routes has {PLIES} plies and is full.", "delete some routes.")

    def take(self, prefix: ipaddress.IPv4Network, around: ipaddress.IPv4Network, adjacency: int) -> None:
        """Take a prefix away: what lies `around` it, and leads to `adjacency`, shows again."""
        self._write(prefix, around.prefixlen, prefix.prefixlen, adjacency)
        self._may_shrink = True

    def _build(self) -> None:
        """Write all anew: the plies that deleted routes have left behind are free then."""
        self._may_shrink = False
        self._used[0] = 0
        self._root[:] = 0
        self._root_lengths[:] = -1
        for prefix, adjacency in self._entries():
            self._written(prefix, adjacency)

    def _written(self, prefix: ipaddress.IPv4Network, adjacency: int) -> bool:
        return self._write(prefix, prefix.prefixlen, -1, adjacency)

    def _write(self, prefix: ipaddress.IPv4Network, new: int, least: int, adjacency: int) -> bool:
        """Write a prefix over entries whose length is at least `least` and at most its own."""
        failed = fib.write(
            self._root,
            self._root_lengths,
            self._plies,
            self._ply_lengths,
            self._used,
            int(prefix.network_address),
            prefix.prefixlen,
            new,
            least,
            prefix.prefixlen,
            adjacency,
        )
        return not failed
