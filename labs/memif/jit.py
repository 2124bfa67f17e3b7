"""How kernels and their steps are compiled.

A *step* is inlined wherever it is used. A *kernel* is called from Python: it runs without the GIL and is kept
in numba's cache. Neither counts references (``_nrt=False``): a step that takes an array would otherwise cost
two atomic additions at each call, three times what the packet costs. So neither may make an array.

Numba finds a cached kernel outdated when the kernel's own file has changed, not when a step's has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

_STEP: dict[str, Any] = {"forceinline": True, "_nrt": False}
_KERNEL: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False}


def step(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function to be inlined into kernels."""
    compiled: Callable[P, R] = njit(**_STEP)(function)
    return compiled


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function to be called from Python, cached and without the GIL."""
    compiled: Callable[P, R] = njit(**_KERNEL)(function)
    return compiled
