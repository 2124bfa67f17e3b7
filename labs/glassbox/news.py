"""What the data plane tells Python: a short ring of messages, four words each, read after each `run`."""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from labs.glassbox.vm import ATTENTION, BAD_CODE, BAD_RING, NEWS, NEWS_LENGTH, NEWS_READ
from labs.memif.jit import step


@step
def tell(vm, kind, first, second, third):
    """Leave a message, unless Python is too far behind."""
    if vm.state[NEWS] - vm.state[NEWS_READ] < NEWS_LENGTH:
        line = vm.state[NEWS] % NEWS_LENGTH
        vm.news[line, 0] = kind
        vm.news[line, 1] = first
        vm.news[line, 2] = second
        vm.news[line, 3] = third
        vm.state[NEWS] += 1
    vm.state[ATTENTION] = 1


@step
def accuse(vm, block, code):
    """Say that a peer broke the ring with that control block; what was told first goes first."""
    if vm.state[BAD_RING] == 0:
        vm.state[BAD_RING] = block
        vm.state[BAD_CODE] = code
        vm.state[ATTENTION] = 1
