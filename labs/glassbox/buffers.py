"""Packets' memory: taken from a stack, and put back on top, so that the next packet finds it in the cache."""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from labs.glassbox.vm import FREE
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
def give_up(vm, frame, count):
    """Free the first `count` packets of a frame."""
    left = vm.state[FREE]
    for each in range(count):
        vm.free[left + count - 1 - each] = frame[each]
    vm.state[FREE] = left + count
