"""What stands around a node that a learner wrote, so that its faults cost packets and not the data plane."""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from labs.glassbox.dispatch import call_node
from labs.glassbox.drops import NO_NEXT
from labs.glassbox.graph import GONE, OUTPUT
from labs.glassbox.packet import because
from labs.glassbox.vm import ARCS, INTERFACES
from labs.memif.jit import cached

TO_DROP = ARCS - 1
"""The arc on which packets leave that were given no valid next node."""

FAULTS = ARCS - 2
"""In place of an arc: in how many vectors some packet was given none."""

MOST_FAULTS = 100
"""After so many a node is called no more: it would fill the log with its errors."""

NOWHERE = -1
"""In an arc: it leads nowhere."""

_NOT_CHOSEN = -2


@cached
def guarded(vm, me, frame, nexts, count):
    """Call the learner's node, whose address is the node's `data`, and check where it sends each packet.

    An error in it ends it early: what it has not chosen by then is dropped.
    """
    for each in range(count):
        nexts[each] = _NOT_CHOSEN
    faults = vm.nodes[me].arcs[FAULTS]
    if faults < MOST_FAULTS:
        call_node(vm.nodes[me].data, vm.image, me, frame, nexts, count)
    is_sound = True
    for each in range(count):
        chosen = nexts[each]
        leads = 0 <= chosen < FAULTS and vm.nodes[me].arcs[chosen] != NOWHERE
        if not (leads or chosen == GONE or OUTPUT <= chosen < OUTPUT + INTERFACES):
            because(frame[each], NO_NEXT)
            nexts[each] = TO_DROP
            is_sound = False
    if not is_sound:
        vm.nodes[me].arcs[FAULTS] = faults + 1
