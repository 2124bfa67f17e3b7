"""Look into another process's link: its memory, opened through ``/proc/PID/fd`` and mapped for reading."""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from labs.memif.errors import MemifError
from labs.memif.messages import AddRing
from labs.memif.microscope import LinkView, RegionView, view_of
from labs.memif.regions import seals_of
from labs.memif.ring import COOKIE, LINES, MAX_LOG2_SIZE, Ring, ring_bytes

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray

_MEMFD = "/memfd:"


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

    Raises
    ------
    MemifError
        There is no such link, or it may not be looked at.
    """

    def __init__(self, pid: int, name: str = "", queues_s2m: int | None = None) -> None:
        self.name, memory, self._seals = _open(pid, name)
        self._size = memory.size
        places = _places(memory)
        if queues_s2m is None and len(places) == 2:  # noqa: PLR2004 - one each way
            queues_s2m = 1
        self._title = f"process {pid}, {self.name}"
        self._rings = [
            (Ring(place, line, memory[place.offset : place.offset + ring_bytes(line, place.log2_size)]),
             _label(number, queues_s2m))
            for number, (place, line) in enumerate(places)
        ]  # fmt: skip

    def look(self) -> LinkView:
        """Return the link as it is now."""
        region = RegionView(0, self._size, self._seals)
        rings = tuple(view_of(ring, label) for ring, label in self._rings)
        return LinkView(time.monotonic(), self._title, (), (region,), rings)

    def close(self) -> None:
        """Unmap the memory."""
        self._rings = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def links_of(pid: int) -> list[str]:
    """Return the names of a process's shared memories that hold rings: its own links and its peers'."""
    return sorted({name for name, _ in _candidates(pid)})


def _candidates(pid: int) -> list[tuple[str, Path]]:
    found = []
    try:
        everything = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError as error:
        raise MemifError(
            f"Process {pid} cannot be looked into: {error.strerror}.", "it has to run, as the same user."
        ) from None
    for each in everything:
        with contextlib.suppress(OSError):  # closed meanwhile
            name = str(each.readlink())
            if name.startswith(_MEMFD) and _begins_with_a_ring(each):
                found.append((name.removeprefix(_MEMFD).removesuffix(" (deleted)"), each))
    return found


def _begins_with_a_ring(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, 4, 0) == COOKIE.to_bytes(4, "little")
    finally:
        os.close(descriptor)


def _open(pid: int, name: str) -> tuple[str, NDArray[np.uint8], tuple[str, ...]]:
    """Map the first matching memory, for reading."""
    found = _candidates(pid)
    for title, path in found:
        if name in title:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                seals = seals_of(descriptor) or ()
                if "shrink" not in seals:
                    raise MemifError(f"{title} could be taken away while we look: it is not sealed.")
                mapping = mmap.mmap(descriptor, 0, mmap.MAP_SHARED, mmap.PROT_READ)
            finally:
                os.close(descriptor)
            return title, np.frombuffer(mapping, np.uint8), seals
    have = ", ".join(title for title, _ in found) or "none"
    raise MemifError(f"Process {pid} has no connected memif {name}".rstrip() + ".", f"it has: {have}.")


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
