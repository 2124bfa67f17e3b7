"""Rings: where head, tail and descriptors lie, and how a region is laid out.

A ring is a header of two cache lines, then 16 bytes for each slot::

    line 0   cookie (32 bits)  flags (16)  head (16)
    line 1   tail (16)
    line 2   descriptors: flags (16)  region (16)  length (32)  offset (32)  metadata (32)

A cache line is what the *peer* was built with: 64 bytes on x86, 64 or 128 on Arm (VPP: VPP_CACHE_LINE_SIZE in
plugins/memif/CMakeLists.txt; DPDK: RTE_CACHE_LINE_SIZE). No message says which. But clients lay their rings
end to end, so two neighbours are 2 lines + 16 bytes a slot apart, and a server can tell. A client cannot: on
x86 there is only 64, elsewhere the caller has to say.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from labs.memif.errors import BadMemory, MemifError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from labs.memif.messages import AddRing
    from labs.memif.regions import Region

COOKIE = 0x3E31F20
MASK_INTERRUPT = 1
"""Ring flag: the receiver polls and wants no doorbell."""
NEXT = 1
"""Descriptor flag: the packet goes on in the next slot."""
MAX_LOG2_SIZE = 14
MAX_SIZE = 1 << MAX_LOG2_SIZE
LINES = (64, 128)
FLAGS_AT, HEAD_AT = 4, 6
ALIGNMENT = 16
DESCRIPTOR = np.dtype(
    [("flags", "<u2"), ("region", "<u2"), ("length", "<u4"), ("offset", "<u4"), ("metadata", "<u4")]
)


def stride_of(buffer_size: int) -> int:
    """Return the bytes from one slot's buffer to the next: an odd number of lines of 64.

    With buffers 2048 bytes apart the first lines of 1024 packets would share a few places of the caches, and
    throw each other out of them.
    """
    return (-(-buffer_size // 64) | 1) * 64


@dataclass(frozen=True, eq=False)
class Ring:
    """A ring in mapped memory.

    Attributes
    ----------
    place : AddRing
        What the client said of it.
    line : int
        Bytes of a cache line.
    memory : ndarray of uint8
        The ring's own bytes.
    """

    place: AddRing
    line: int
    memory: NDArray[np.uint8]

    @property
    def size(self) -> int:
        """Slots."""
        return 1 << self.place.log2_size

    @property
    def address(self) -> int:
        """Where it is mapped in this process."""
        return int(self.memory.ctypes.data)

    @property
    def cookie(self) -> int:
        """`COOKIE`, if this is a ring."""
        return int(self.memory[:4].view("<u4")[0])

    @property
    def flags(self) -> int:
        """The receiver's flags, as they stand."""
        return int(self.memory[FLAGS_AT : FLAGS_AT + 2].view("<u2")[0])

    @property
    def head(self) -> int:
        """The client's index, as it stands."""
        return int(self.memory[HEAD_AT : HEAD_AT + 2].view("<u2")[0])

    @property
    def tail(self) -> int:
        """The server's index, as it stands."""
        return int(self.memory[self.line : self.line + 2].view("<u2")[0])

    @property
    def descriptors(self) -> NDArray[np.void]:
        """The slots, as an array of `DESCRIPTOR`."""
        return self.memory[2 * self.line :].view(DESCRIPTOR)


def log2_of(size: int) -> int:
    """Return the logarithm of a ring size.

    Raises
    ------
    MemifError
        `size` is no power of two, or out of range.
    """
    if not isinstance(size, int) or not 1 <= size <= MAX_SIZE or size & (size - 1):
        raise MemifError(f"A ring cannot have {size!r} slots.", f"use a power of two from 1 to {MAX_SIZE}.")
    return size.bit_length() - 1


def ring_bytes(line: int, log2_size: int) -> int:
    """Return the bytes of one ring."""
    return 2 * line + (DESCRIPTOR.itemsize << log2_size)


def own_line(line: int | None = None) -> int:
    """Return the cache line a client lays its rings out with.

    Raises
    ------
    MemifError
        It was not given, and cannot be known on this machine.
    """
    if line is None and platform.machine() in {"x86_64", "AMD64", "i686"}:
        return LINES[0]
    if line not in LINES:
        raise MemifError(
            "How far apart head and tail lie is not known here: it depends on how the peer was built.",
            "say line_size=64 or line_size=128; VPP and DPDK for Arm mostly use 128.",
        )
    return line


def line_of(rings: Iterable[AddRing], line: int | None = None) -> int:
    """Return the cache line that a client has laid its rings out with.

    Parameters
    ----------
    rings : iterable of AddRing
        All of them.
    line : int, optional
        What the caller knows already; it settles what the rings leave open.

    Raises
    ------
    BadMemory
        The rings do not tell, or contradict each other or the caller.
    """
    lines = {line} if line else set()
    by_place = sorted(rings, key=lambda each: (each.region, each.offset))
    for one, other in pairwise(by_place):
        if one.region == other.region:
            apart = other.offset - one.offset
            lines |= {each for each in LINES if ring_bytes(each, one.log2_size) == apart}
    if len(lines) != 1:
        raise BadMemory(
            "The peer's rings do not lie end to end, so where their tails are cannot be told.",
            "if you know the cache line that the peer was built for, say line_size=64 or line_size=128.",
            reason="unknown ring layout",
        )
    return lines.pop()


def map_rings(places: Sequence[AddRing], regions: Sequence[Region], line: int | None = None) -> list[Ring]:
    """Return a client's rings, checked.

    Raises
    ------
    BadMemory
        A ring that is not where it is said to be.
    """
    line = line_of(places, line)
    ends = dict.fromkeys(range(len(regions)), 0)
    rings = {}
    for place in sorted(places, key=lambda each: (each.region, each.offset)):
        name = f"{'s2m' if place.is_s2m else 'm2s'} ring {place.index}"
        if place.region >= len(regions):
            raise BadMemory(
                f"The peer's {name} is in region {place.region}, which there is not.",
                reason="bad ring region",
            )
        end = place.offset + ring_bytes(line, place.log2_size)
        if end > regions[place.region].size:
            raise BadMemory(f"The peer's {name} reaches beyond its region.", reason="ring outside its region")
        if place.offset % ALIGNMENT or place.offset < ends[place.region]:
            raise BadMemory(f"The peer's {name} lies across another one, or askew.", reason="bad ring offset")
        ends[place.region] = end
        ring = Ring(place, line, regions[place.region].memory[place.offset : end])
        if ring.cookie != COOKIE:
            raise BadMemory(
                f"There is no ring where the peer's {name} should be.", reason=f"wrong cookie on {name}"
            )
        rings[place] = ring
    return [rings[place] for place in places]
