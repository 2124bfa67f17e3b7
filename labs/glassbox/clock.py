"""The processor's clock, and how fast it runs."""

from __future__ import annotations

import time

from labs.glassbox.memory import ticks
from labs.memif.jit import kernel

_SECONDS = 0.02


@kernel
def now() -> int:
    """Return the clock's ticks."""
    return ticks()  # type: ignore[call-arg]  # numba passes the first argument itself


def ticks_per_ms() -> int:
    """Return the clock's ticks a millisecond, measured against the system's own clock."""
    now()  # compiled by now
    begin, first = time.perf_counter_ns(), now()
    time.sleep(_SECONDS)
    end, last = time.perf_counter_ns(), now()
    return max(1, round((last - first) * 1_000_000 / (end - begin)))
