"""Packets' memory: taken from a stack, and put back on top, so that the next packet finds it in the cache."""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.memory import get64
from labs.glassbox.vm import FREE
from labs.memif.atoms import copy
from labs.memif.jit import step


@step
def claim(vm):
    """Return the address of a packet that is free, or 0 if there is none."""
    left = vm.state[FREE]
    if left == 0:
        return 0
    vm.state[FREE] = left - 1
    return vm.free[left - 1]


@step
def waiting_at(vm, depth):
    """Return the address of the free packet so many places below the top."""
    return get64(np.int64(vm.free.ctypes.data) + (vm.state[FREE] - 1 - depth) * 8)


@step
def give_up(vm, frame, count):
    """Free the first `count` packets of a frame."""
    left = vm.state[FREE]
    copy(np.int64(vm.free.ctypes.data) + 8 * left, np.int64(frame.ctypes.data), 8 * count)
    vm.state[FREE] = left + count
