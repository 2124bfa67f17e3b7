"""Compile every kernel ahead of its first packet, and say how far it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from labs.memif import kernels
from labs.memif.burst import Burst
from labs.memif.doorbell import make_doorbell
from labs.memif.layout import Layout
from labs.memif.queue import Queue
from labs.memif.regions import make_region
from labs.memif.wire import close_all

if TYPE_CHECKING:
    from collections.abc import Callable


def warm_up(progress: Callable[[int, int, str], None] | None = None) -> float:
    """Compile, or load from the cache, all kernels of `labs.memif`, and return the seconds it took.

    Compiled kernels are kept beside the sources, or in the user's cache where that cannot be written.

    Parameters
    ----------
    progress : callable, optional
        Called before each kernel and at the end with (kernels done, kernels in all, name of the next).
    """
    began = time.monotonic()
    queues = _loop()
    burst = Burst.of([bytes(64)])
    room = Burst.empty(1, 4096)
    steps: list[tuple[Any, tuple[Any, ...]]] = [
        (kernels.send, (queues[0].control, burst.data, burst.offsets, burst.lengths, 0, 1)),
        (kernels.receive, (queues[1].control, room.data, room.offsets, room.lengths)),
        (kernels.waiting, (queues[1].control,)),
    ]
    for number, (kernel, arguments) in enumerate(steps):
        if progress:
            progress(number, len(steps), kernel.__name__)
        kernel(*arguments)
    for queue in queues:
        queue.close()
    if progress:
        progress(len(steps), len(steps), "")
    return time.monotonic() - began


def _loop() -> list[Queue]:
    """Return the two ends of one ring."""
    layout = Layout(queues_s2m=1, queues_m2s=1, log2_size=1, buffer_size=64, line=64)
    region, memory = make_region(0, layout.region_size, "memif warm-up")
    close_all([memory])
    ring = layout.write(region)[0]
    return [
        Queue(ring, [region], make_doorbell(), is_client=True, table=layout.descriptors(0)),
        Queue(ring, [region], make_doorbell(), is_client=False),
    ]
