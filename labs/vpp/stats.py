"""VPP's counters from Python, read from shared memory without asking VPP."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from labs.vpp import counters
from labs.vpp.counters import InterfaceCounters, NodeCounters
from labs.vpp.segment import DOOR, Segment
from labs.vpp.sockets import DoorError, explain, knock

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["STALE", "InterfaceCounters", "NodeCounters", "Stats"]

T = TypeVar("T")

STALE = 1.5
"""Seconds without a heartbeat after which VPP counts as stopped; it beats every 0.5 s as we start it."""


class Stats:
    """A reader of VPP's statistics segment (``statseg { socket-name PATH }``).

    It connects at the first read, and again when VPP was restarted. Interface and error counters
    move with every packet; rates, node counters and heartbeat once every update interval.

    Parameters
    ----------
    path : str or Path
        The socket.
    timeout : float
        Seconds a read may take.
    """

    def __init__(self, path: str | Path, timeout: float = 1.0) -> None:
        self.path = Path(path)
        self._timeout = timeout
        self._lock = threading.RLock()
        self._segment: Segment | None = None
        self._birth: tuple[int, int] = (0, 0)
        self._beat = -1
        self._beat_at = 0.0

    def connect(self) -> None:
        """Connect; do nothing if connected.

        Raises
        ------
        DoorError
            There is no VPP behind the socket.
        NotAvailable
            The segment's layout is of another version.
        """
        with self._lock:
            if self._segment is None:
                self.reconnect()

    def reconnect(self) -> None:
        """Leave the memory of a VPP that may be gone, and take that of the one behind the socket now."""
        with self._lock:
            birth = self._socket_birth()
            fresh = Segment(self.path, self._timeout)
            self.close()
            self._segment, self._birth = fresh, birth
            self._beat, self._beat_at = -1, time.monotonic()

    def close(self) -> None:
        """Give the memory back; the next read connects again."""
        with self._lock:
            if self._segment is not None:
                self._segment.disconnect()
                self._segment = None

    def counters(self, *, brief: bool = False) -> dict[str, InterfaceCounters]:
        """Return the counters of each interface, summed over threads.

        Parameters
        ----------
        brief : bool
            Read packets and bytes only, which takes a third of the time; the rest is then 0.
        """
        return self._read(lambda seg: counters.of_interfaces(seg, brief=brief))

    def errors(self) -> dict[str, int]:
        """Return the error counters that are not 0, by names like ``/err/memif1/0-tx/no_free_slots``."""
        return self._read(counters.of_errors)

    def error(self, name: str) -> int:
        """Return one error counter, by a name as `errors` tells; 0 where it never counted."""
        return self._read(lambda seg: counters.of_error(seg, name))

    def node_counters(self) -> dict[str, NodeCounters]:
        """Return what each graph node has done since ``clear runtime``, summed over threads.

        It needs ``per-node-counters on`` in the startup configuration.
        """
        return self._read(counters.of_nodes)

    def scalar(self, name: str) -> int:
        """Return a single value, as ``/sys/boottime`` or a gauge.

        Raises
        ------
        LabError
            There is no such value, or it is a vector.
        """
        return self._read(lambda seg: counters.of_one(seg, name))

    def vector_rate(self) -> int:
        """Return the average number of packets a node was handed in the last update interval."""
        return self.scalar("/sys/vector_rate")

    def heartbeat(self) -> int:
        """Return how often VPP has updated the segment since it started."""
        return self.scalar("/sys/heartbeat")

    def names(self, prefix: str = "/") -> list[str]:
        """Return the names in the segment that begin with `prefix`."""
        return sorted(name for name in self._read(lambda seg: seg.names()) if name.startswith(prefix))

    def stopped(self) -> bool:
        """Return whether VPP's heartbeat has stood still for `STALE` seconds, or VPP is gone.

        To notice, it must be asked, or something be read, at least once before.
        """
        try:
            self.heartbeat()
        except DoorError:
            return True
        return self._age() > STALE

    def check(self) -> None:
        """Raise if `stopped`.

        Raises
        ------
        DoorError
        """
        self.heartbeat()
        age = self._age()
        if age > STALE:
            raise DoorError(
                f"VPP's heartbeat has stood still for {age:.1f} s ({self.path}).",
                "VPP is stopped, dead or busy with a long command: look at its log and its process.",
                fault="stopped",
            )

    def _read(self, reader: Callable[[Segment], T]) -> T:
        with self._lock:
            seg = self._current()
            result, beat = seg.read(lambda: (reader(seg), seg.entry("/sys/heartbeat").value))
            if beat != self._beat:
                self._beat, self._beat_at = beat, time.monotonic()
            return result

    def _current(self) -> Segment:
        """Return the memory of the VPP that is behind the socket now.

        The memory of a VPP that has ended stays readable and stands still. It shows by the socket: a
        clean end removes it, a new VPP makes a new one, and a dead VPP's refuses.
        """
        if self._segment is None or self._socket_birth() != self._birth:
            self.reconnect()
        elif self._age() > STALE:
            knock(self.path, DOOR, socket.SOCK_SEQPACKET)
        assert self._segment is not None  # noqa: S101 - reconnect sets it or raises
        return self._segment

    def _age(self) -> float:
        return time.monotonic() - self._beat_at

    def _socket_birth(self) -> tuple[int, int]:
        try:
            status = self.path.stat()
        except OSError as error:
            raise explain(error, self.path, DOOR) from None
        return status.st_ino, status.st_ctime_ns
