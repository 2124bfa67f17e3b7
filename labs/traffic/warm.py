"""Compile generator, sink and probe ahead of their first packet, and say how far it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from numba import int64

from labs.traffic.absorb import absorb
from labs.traffic.generate import generate
from labs.traffic.probe_echo_kernels import echo, probe_and_echo
from labs.traffic.probe_kernels import probe

if TYPE_CHECKING:
    from collections.abc import Callable

_ROW, _TABLE = int64[::1], int64[:, ::1]
KERNELS: list[tuple[Any, tuple[Any, ...]]] = [
    (generate, (_ROW, _ROW, _ROW, _ROW, _ROW, _ROW)),
    (absorb, (_ROW, _ROW, _TABLE, _TABLE)),
    (probe, (_ROW, _ROW, _ROW, _ROW, _ROW, _ROW, _TABLE)),
    (echo, (_ROW, _ROW, _ROW, _ROW)),
    (probe_and_echo, (_ROW, _ROW, _ROW, _ROW, _ROW, _ROW, _TABLE, _ROW, _ROW, _ROW, _ROW)),
]
"""Each kernel, and the types of its arguments."""


def warm_up(progress: Callable[[int, int, str], None] | None = None) -> float:
    """Compile, or load from the cache, these kernels, and return the seconds it took.

    Parameters
    ----------
    progress : callable, optional
        Called before each kernel and at the end with (kernels done, kernels in all, name of the next).
    """
    began = time.monotonic()
    for number, (kernel, types) in enumerate(KERNELS):
        if progress:
            progress(number, len(KERNELS), kernel.__name__)
        kernel.compile(types)
    if progress:
        progress(len(KERNELS), len(KERNELS), "")
    return time.monotonic() - began
