"""How a client lays out the memory of a link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from labs.memif.messages import S2M, AddRing
from labs.memif.ring import COOKIE, DESCRIPTOR, Ring, ring_bytes, stride_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labs.memif.regions import Region


@dataclass(frozen=True)
class Layout:
    """How a client lays out its one region: rings end to end, then the buffers of each ring's slots.

    Parameters
    ----------
    queues_s2m, queues_m2s : int
    log2_size : int
        Of every ring.
    buffer_size : int
        Bytes of every slot's buffer.
    line : int
        Bytes of a cache line.
    has_buffers : bool
        False for a zero-copy client: there are only rings.
    """

    queues_s2m: int
    queues_m2s: int
    log2_size: int
    buffer_size: int
    line: int
    has_buffers: bool = True

    @property
    def places(self) -> list[AddRing]:
        """The rings, s2m first."""
        directions = [(S2M, each) for each in range(self.queues_s2m)]
        directions += [(0, each) for each in range(self.queues_m2s)]
        step = ring_bytes(self.line, self.log2_size)
        return [
            AddRing(flags=flag, index=index, region=0, offset=number * step, log2_size=self.log2_size)
            for number, (flag, index) in enumerate(directions)
        ]

    @property
    def buffers_at(self) -> int:
        """Offset of the first buffer, on a page of its own: no buffer lies across more lines than it must."""
        end = (self.queues_s2m + self.queues_m2s) * ring_bytes(self.line, self.log2_size)
        return -(-end // 4096) * 4096

    @property
    def region_size(self) -> int:
        """Bytes."""
        if not self.has_buffers:
            return self.buffers_at
        buffers = self.queues_s2m + self.queues_m2s << self.log2_size
        return self.buffers_at + (buffers - 1) * stride_of(self.buffer_size) + self.buffer_size

    def descriptors(self, number: int) -> NDArray[np.void]:
        """Return the descriptors that ring `number` begins with, as an array of `DESCRIPTOR`."""
        size = 1 << self.log2_size
        slots = np.zeros(size, DESCRIPTOR)
        if not self.has_buffers:
            return slots
        slots["length"] = self.buffer_size
        slots["offset"] = self.buffers_at + (number * size + np.arange(size)) * stride_of(self.buffer_size)
        return slots

    def write(self, region: Region) -> list[Ring]:
        """Write all rings into a fresh region and return them."""
        rings = []
        for number, place in enumerate(self.places):
            end = place.offset + ring_bytes(self.line, self.log2_size)
            ring = Ring(place, self.line, region.memory[place.offset : end])
            ring.descriptors[:] = self.descriptors(number)
            ring.memory[:4].view("<u4")[0] = COOKIE
            rings.append(ring)
        return rings
