"""What the glass box counts, in the shared memory that anyone may read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from labs.glassbox.doors.stats_layout import COMBINED_OF_INTERFACES
from labs.glassbox.doors.stats_layout import Counters as Layout
from labs.glassbox.doors.stats_segment import StatsSegment
from labs.glassbox.drops import COUNTED
from labs.glassbox.graph import KINDS
from labs.glassbox.vm import INTERFACES, NODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Counters:
    """The statistics segment, filled by the data plane's threads.

    Parameters
    ----------
    threads : int
    """

    def __init__(self, threads: int) -> None:
        self.segment = StatsSegment()
        self._layout = Layout(self.segment, threads, interfaces=INTERFACES, nodes=NODES, errors=len(COUNTED))
        for node, text in COUNTED:
            self._layout.add_error(node, text)
        self._inputs: list[int] = []
        self._before = (time.monotonic(), 0, 0, 0)

    def rows(self, thread: int) -> dict[str, NDArray[np.uint64]]:
        """Return what `labs.glassbox.vm.make_vm` needs for a thread."""
        nodes, interfaces = self._layout.nodes, self._layout.interfaces
        return {
            **{each: nodes[each][thread] for each in ("calls", "vectors", "clocks")},
            **{each: interfaces[each][thread] for each in ("rx", "tx", "drops")},
            "errors": self._layout.errors[thread],
        }

    def name_nodes(self, names: Sequence[str]) -> None:
        """Show readers the nodes there are; those it knew before keep their places."""
        for number, name in enumerate(names):
            if self._layout.add_node(name) == number and name in KINDS and KINDS[name].makes_packets:
                self._inputs = sorted({*self._inputs, number})

    def name_interface(self, index: int, name: str) -> None:
        """Show readers an interface, with its counters at zero."""
        self._layout.add_interface(index, name)

    def forget_interface(self, index: int) -> None:
        """Show readers that an interface is deleted."""
        self._layout.remove_interface(index)

    def of_interface(self, index: int) -> dict[str, int]:
        """Return an interface's counters, summed over threads."""
        sums: dict[str, int] = {}
        for name, array in self._layout.interfaces.items():
            if name in COMBINED_OF_INTERFACES:
                packets, size = array[:, index].sum(axis=0)
                sums[f"{name} packets"], sums[f"{name} bytes"] = int(packets), int(size)
            else:
                sums[name] = int(array[:, index].sum())
        return sums

    def clear_interfaces(self) -> None:
        """Set every interface's counters to zero, as ``clear interfaces`` does."""
        self._layout.clear()

    def clear_interface(self, index: int) -> None:
        """Set one interface's counters to zero."""
        for array in self._layout.interfaces.values():
            array[:, index] = 0

    def errors(self) -> NDArray[np.uint64]:
        """Return the counts of `labs.glassbox.drops.COUNTED`, shape (threads, entries)."""
        return self._layout.errors.copy()

    def nodes(self) -> dict[str, NDArray[np.uint64]]:
        """Return calls, vectors, clocks and suspends, each of shape (threads, NODES)."""
        return {each: array.copy() for each, array in self._layout.nodes.items()}

    def update(self, vectors: int) -> None:
        """Bring heartbeat and rates up to date.

        Parameters
        ----------
        vectors : int
            Packets taken in so far.
        """
        now = time.monotonic()
        worked, called = (int(self._layout.nodes[each].sum()) for each in ("vectors", "calls"))
        looked = int(self._layout.nodes["calls"][:, self._inputs].sum())
        then, old_vectors, old_worked, old_called = self._before
        calls = called - looked - old_called
        system = self._layout.system
        system["input_rate"][0] = int((vectors - old_vectors) / max(now - then, 1e-6))
        system["vector_rate"][0] = (worked - vectors - old_worked) // max(calls, 1)
        self._before = (now, vectors, worked - vectors, called - looked)
        self._layout.beat()
