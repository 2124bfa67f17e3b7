"""ip4-drop, error-drop and drop: where packets end, and are counted by why."""
# ruff: noqa: ANN001, ANN201, ARG001 - numba infers the types; every node has the same arguments
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.buffers import give_up
from labs.glassbox.graph import GONE, node
from labs.glassbox.packet import came_by, reason_of


@node("ip4-drop", to=("error-drop",))
def ip4_drop(vm, me, frame, nexts, count):
    """Show in traces and counters that it was an IPv4 packet."""
    for each in range(count):
        nexts[each] = 0


@node("error-drop", to=("drop",))
def error_drop(vm, me, frame, nexts, count):
    """Count the drop at the interface the packet came in by."""
    for each in range(count):
        vm.drops[came_by(frame[each])] += np.uint64(1)
        nexts[each] = 0


@node("drop")
def drop(vm, me, frame, nexts, count):
    """Count the reason, and free the packet."""
    for each in range(count):
        vm.errors[reason_of(frame[each])] += np.uint64(1)
        nexts[each] = GONE
    give_up(vm, frame, count)
