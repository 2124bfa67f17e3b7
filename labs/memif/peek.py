"""Look into another process's link: its memory, opened through ``/proc/PID/fd`` and mapped for reading."""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from typing import TYPE_CHECKING, Self

import numpy as np

from labs.memif.errors import MemifError
from labs.memif.messages import AddRing
from labs.memif.microscope import LinkView, RegionView, view_of
from labs.memif.open_files import memories_of, rung
from labs.memif.regions import seals_of
from labs.memif.ring import COOKIE, LINES, MAX_LOG2_SIZE, Ring, ring_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

    from numpy.typing import NDArray

    from labs.memif.open_files import Memory


class Peek:
    """The rings of another process's link, mapped for reading only.

    Parameters
    ----------
    pid : int
        A process of the same user.
    name : str
        Part of the memory's name, where the process has several links: ``memif0/0`` for VPP's.
    queues_s2m : int, optional
        How many of the rings the client sends on. Of two rings it is one; of more, the memory does not tell.
    peer : int, optional
        The process at the link's other end: only memory that it holds too is meant.
    doorbells : mapping of str to int, optional
        The process's descriptor of each ring's doorbell, by the ring's name, where that is known.
    lent : mapping of int to int, optional
        Descriptors of the link's other regions, by region: a zero-copy client's packet buffers.

    Raises
    ------
    MemifError
        There is no such link, or it may not be looked at.
    """

    def __init__(
        self,
        pid: int,
        name: str = "",
        queues_s2m: int | None = None,
        *,
        peer: int | None = None,
        doorbells: Mapping[str, int] | None = None,
        lent: Mapping[int, int] | None = None,
    ) -> None:
        self._pid, self._peer, self._doorbells = pid, peer, doorbells or {}
        self._memory = _choose(pid, name, peer)
        self.name = self._memory.name
        memory, seals = _map(self._memory)
        self._regions = [RegionView(0, memory.size, seals, self.name, self._memory.descriptor)]
        self._regions += _lent(pid, lent or {})
        places = _places(memory)
        if queues_s2m is None and len(places) == 2:  # noqa: PLR2004 - one each way
            queues_s2m = 1
        self._title = f"process {pid}, {self.name}"
        self._labels = [_label(number, queues_s2m) for number in range(len(places))]
        self.rings = [
            Ring(place, line, memory[place.offset : place.offset + ring_bytes(line, place.log2_size)])
            for place, line in places
        ]
        """The rings, in the client's order."""

    def look(self) -> LinkView:
        """Return the link as it is now."""
        rings = tuple(
            view_of(ring, label, unheard=self._unheard(label))
            for ring, label in zip(self.rings, self._labels, strict=True)
        )
        return LinkView(time.monotonic(), self._title, (), tuple(self._regions), rings)

    def is_live(self) -> bool:
        """Return whether the link still stands: both processes hold its memory."""
        with contextlib.suppress(MemifError):
            return all(
                any(each.inode == self._memory.inode for each in memories_of(pid))
                for pid in (self._pid, self._peer or self._pid)
            )
        return False

    def _unheard(self, label: str) -> int | None:
        return rung(self._pid, self._doorbells[label]) if label in self._doorbells else None

    def close(self) -> None:
        """Unmap the memory."""
        self.rings = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def links_of(pid: int) -> list[str]:
    """Return the names of a process's shared memories that hold rings: its own links and its peers'."""
    return sorted({each.name for each in memories_of(pid) if _begins_with_a_ring(each)})


def _begins_with_a_ring(memory: Memory) -> bool:
    try:
        descriptor = os.open(memory.path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # closed meanwhile
        return False
    try:
        return os.pread(descriptor, 4, 0) == COOKIE.to_bytes(4, "little")
    finally:
        os.close(descriptor)


def _choose(pid: int, name: str, peer: int | None) -> Memory:
    """Return the first memory that holds rings and is meant."""
    found = [each for each in memories_of(pid) if _begins_with_a_ring(each)]
    shared = {each.inode for each in memories_of(pid if peer is None else peer)}
    for each in found:
        if name in each.name and each.inode in shared:
            return each
    have = ", ".join(each.name for each in found) or "none"
    raise MemifError(f"Process {pid} has no connected memif {name}".rstrip() + ".", f"it has: {have}.")


def _map(memory: Memory) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Map a memory for reading, and return its seals too."""
    try:
        descriptor = os.open(memory.path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise MemifError(f"{memory.name} cannot be opened: {error.strerror}.") from None
    try:
        seals = seals_of(descriptor) or ()
        if "shrink" not in seals:
            raise MemifError(f"{memory.name} could be taken away while we look: it is not sealed.")
        mapping = mmap.mmap(descriptor, 0, mmap.MAP_SHARED, mmap.PROT_READ)
    finally:
        os.close(descriptor)
    return np.frombuffer(mapping, np.uint8), seals


def _lent(pid: int, lent: Mapping[int, int]) -> Iterator[RegionView]:
    """Return regions of which no more than their name, size and seals is wanted."""
    by_descriptor = {each.descriptor: each for each in memories_of(pid)}
    for index, descriptor in sorted(lent.items()):
        if memory := by_descriptor.get(descriptor):
            with contextlib.suppress(OSError), memory.path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                yield RegionView(index, size, seals_of(file.fileno()) or (), memory.name, descriptor)


def _places(memory: NDArray[np.uint8]) -> list[tuple[AddRing, int]]:
    """Return the rings that lie end to end from the memory's begin on, and their cache line."""
    steps = sorted(
        (ring_bytes(line, log2), line, log2) for line in LINES for log2 in range(MAX_LOG2_SIZE + 1)
    )
    for step, line, log2 in steps:
        count = 0
        while (end := (count + 1) * step) <= memory.size and _is_cookie(memory, count * step):
            count += 1
        if count > 1 and end:
            return [(AddRing(0, number, 0, number * step, log2), line) for number in range(count)]
    raise MemifError("This memory does not hold rings that lie end to end.")


def _is_cookie(memory: NDArray[np.uint8], at: int) -> bool:
    return bool(memory[at : at + 4].tobytes() == COOKIE.to_bytes(4, "little"))


def _label(number: int, queues_s2m: int | None) -> str:
    if queues_s2m is None:
        return f"ring {number}"
    return f"s2m {number}" if number < queues_s2m else f"m2s {number - queues_s2m}"
