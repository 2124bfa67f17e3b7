"""A memif of this process's own, for a probe to try itself on."""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING, Self

from labs.memif.doorbell import make_doorbell
from labs.memif.layout import Layout
from labs.memif.queue import Queue
from labs.memif.regions import make_region
from labs.traffic.probe_plan import BUFFER, RING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from labs.memif.regions import Region


def prefault(regions: Iterable[Region]) -> None:
    """Have the kernel map each page that we made, so that no packet has to wait for it.

    A page of a new memfd takes a microsecond or two when it is first touched. Reading is enough, and harms
    no peer that uses it meanwhile.
    """
    for region in regions:
        if region.is_ours:
            int(region.memory[:: mmap.PAGESIZE].sum())


class Pair:
    """A private memif of this process: both ends of a ring in each direction, without a socket.

    Attributes
    ----------
    near, far : tuple of Queue
        Each side's sending and receiving queue.
    """

    def __init__(self, log2_size: int = RING.bit_length() - 1, buffer_size: int = BUFFER) -> None:
        layout = Layout(1, 1, log2_size, buffer_size, 64)
        region, descriptor = make_region(0, layout.region_size, "memif probe")
        os.close(descriptor)
        prefault([region])
        there, back = layout.write(region)
        bells = [make_doorbell(), make_doorbell()]
        self.near = (
            Queue(there, [region], bells[0], is_client=True, table=layout.descriptors(0)),
            Queue(back, [region], bells[1], is_client=True, table=layout.descriptors(1)),
        )
        self.far = (
            Queue(back, [region], os.dup(bells[1]), is_client=False),
            Queue(there, [region], os.dup(bells[0]), is_client=False),
        )
        self.near[1].offer_all()
        for queue in (self.near[1], self.far[1]):
            queue.polls(polls=True)

    def close(self) -> None:
        """Let go of it."""
        for queue in (*self.near, *self.far):
            queue.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
