"""What a VPP counts, under the names it counts it: interfaces, nodes, errors, and the system's own.

The names are those of src/vnet/interface.h, src/vlib/error.c, src/vlib/stats/collector.c and init.c.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from labs.errors import LabError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from labs.glassbox.doors.stats_segment import StatsSegment

COMBINED_OF_INTERFACES = (
    "rx",
    "rx-unicast",
    "rx-multicast",
    "rx-broadcast",
    "tx",
    "tx-unicast",
    "tx-multicast",
    "tx-broadcast",
)
SIMPLE_OF_INTERFACES = (
    "drops",
    "punt",
    "ip4",
    "ip6",
    "rx-no-buf",
    "rx-miss",
    "rx-error",
    "tx-error",
    "mpls",
)
OF_NODES = ("calls", "vectors", "clocks", "suspends")

_NOBODY = "deleted"  # what VPP calls an interface that is no more


class Counters:
    """The counters of a data plane, as arrays to write into and as names for readers.

    Parameters
    ----------
    segment : StatsSegment
        Where they are; it should hold nothing else yet.
    threads : int
        Rows of every counter; thread 0 is the main thread.
    interfaces, nodes, errors : int
        Columns there can be.

    Attributes
    ----------
    interfaces : dict of str to ndarray of uint64
        ``rx``, ``tx``, … of shape (threads, interfaces, 2) for packets and bytes, and ``drops``, ``punt``,
        … of shape (threads, interfaces).
    nodes : dict of str to ndarray of uint64, shape (threads, nodes)
        ``calls``, ``vectors``, ``clocks``, ``suspends``.
    errors : ndarray of uint64, shape (threads, errors)
        One column an error of a node.
    system : dict of str to ndarray of uint64, shape (1,)
        ``heartbeat``, ``boottime``, ``last_stats_clear``, ``num_worker_threads``, ``vector_rate``,
        ``input_rate`` and ``last_update``.
    vector_rate_per_worker, loops_per_worker : ndarray of uint64, shape (1, threads)
    """

    def __init__(
        self, segment: StatsSegment, threads: int, *, interfaces: int = 64, nodes: int = 64, errors: int = 512
    ) -> None:
        self.segment = segment
        self._most = {"interfaces": interfaces, "nodes": nodes, "errors": errors}
        self._interfaces: dict[int, str] = {}
        self._shown = 0
        self._nodes: list[str] = []
        self._errors: dict[tuple[str, str], int] = {}
        self.system: dict[str, NDArray[np.uint64]] = {}
        with segment.changing():
            # VPP's own reader looks for the heartbeat in the first place (src/vlib/stats/stats.h).
            for name in ("heartbeat", "last_stats_clear", "boottime"):
                self.system[name] = segment.scalar(f"/sys/{name}")
            for name in ("num_worker_threads", "vector_rate", "input_rate", "last_update"):
                self.system[name] = segment.gauge(f"/sys/{name}")
            self.vector_rate_per_worker = segment.simple("/sys/vector_rate_per_worker", 1, threads)
            self.loops_per_worker = segment.simple("/sys/loops_per_worker", 1, threads)
            for name in ("vector_rate_per_worker", "loops_per_worker"):
                segment.show(f"/sys/{name}", threads)
            self.errors = segment.simple("/node/errors", threads, errors)
            segment.names("/sys/node/names", nodes)
            self.nodes = {name: segment.simple(f"/sys/node/{name}", threads, nodes) for name in OF_NODES}
            segment.names("/if/names", interfaces)
            self.interfaces = {
                name: segment.combined(f"/if/{name}", threads, interfaces) for name in COMBINED_OF_INTERFACES
            } | {name: segment.simple(f"/if/{name}", threads, interfaces) for name in SIMPLE_OF_INTERFACES}
        self.system["boottime"][0] = int(time.time())
        self.system["num_worker_threads"][0] = threads - 1

    def beat(self) -> None:
        """Tell readers that the data plane lives: to be called every half second or so."""
        self.system["heartbeat"][0] += 1
        self.system["last_update"][0] = int(time.time())

    def add_interface(self, index: int, name: str) -> None:
        """Count for an interface, from zero, under its name; for an index in use, rename it.

        Raises
        ------
        LabError
            There are too many.
        """
        if not 0 <= index < self._most["interfaces"]:
            raise LabError(
                f"The glass box has no room for interface number {index}.",
                f"it can have {self._most['interfaces']}: remove one that you do not need.",
            )
        with self.segment.changing():
            if index in self._interfaces:
                self._unlink(index)
            else:
                for counter in self.interfaces.values():
                    counter[:, index] = 0
            self._interfaces[index] = name
            self._shown = max(self._shown, index + 1)
            for kind in self.interfaces:
                self.segment.show(f"/if/{kind}", self._shown)
            self.segment.show("/if/names", self._shown)
            self.segment.set_name("/if/names", index, name)
            for kind in self.interfaces:
                self.segment.symlink(_interface_path(name, kind), f"/if/{kind}", index)

    def remove_interface(self, index: int) -> None:
        """Count no more for an interface; do nothing if there is none."""
        if index in self._interfaces:
            with self.segment.changing():
                self._unlink(index)
                self.segment.set_name("/if/names", index, _NOBODY)
            del self._interfaces[index]

    def add_node(self, name: str) -> int:
        """Count for a graph node; return its column, the same again for a name that is known.

        Raises
        ------
        LabError
            There are too many.
        """
        if name in self._nodes:
            return self._nodes.index(name)
        column = len(self._nodes)
        self._check("nodes", column)
        self._nodes.append(name)
        with self.segment.changing():
            for kind in OF_NODES:
                self.segment.show(f"/sys/node/{kind}", column + 1)
                self.segment.symlink(f"/nodes/{_as_path(name)}/{kind}", f"/sys/node/{kind}", column)
            self.segment.show("/sys/node/names", column + 1)
            self.segment.set_name("/sys/node/names", column, name)
        return column

    def add_error(self, node: str, error: str) -> int:
        """Count an error of a node, as ``no_free_slots``; return its column, the same again if known.

        Raises
        ------
        LabError
            There are too many.
        """
        known = self._errors.get((node, error))
        if known is not None:
            return known
        column = len(self._errors)
        self._check("errors", column)
        self._errors[node, error] = column
        with self.segment.changing():
            self.segment.show("/node/errors", column + 1)
            self.segment.symlink(f"/err/{node}/{error}", "/node/errors", column)
        return column

    def clear(self) -> None:
        """Begin to count interfaces from zero again, as ``clear interfaces`` does."""
        for counter in self.interfaces.values():
            counter[:] = 0
        self.system["last_stats_clear"][0] = int(time.time())

    def _check(self, kind: str, column: int) -> None:
        if column >= self._most[kind]:
            raise LabError(
                f"The glass box can count for {self._most[kind]} {kind}, and no more.",
                "use fewer of your own.",
            )

    def _unlink(self, index: int) -> None:
        for kind in self.interfaces:
            self.segment.remove(_interface_path(self._interfaces[index], kind))


def _interface_path(name: str, kind: str) -> str:
    return f"/interfaces/{_as_path(name)}/{kind}"


def _as_path(name: str) -> str:
    """Return a name without the character that parts names."""
    return name.replace("/", "_")
