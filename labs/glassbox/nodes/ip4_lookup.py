"""ip4-lookup: find the route that fits an address most closely."""
# ruff: noqa: ANN001, ANN201, ARG001 - numba infers the types; every node has the same arguments
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from labs.glassbox.drops import BLACKHOLED
from labs.glassbox.fib import find
from labs.glassbox.graph import node
from labs.glassbox.headers import DESTINATION
from labs.glassbox.memory import net32
from labs.glassbox.packet import because, set_adjacency, start


@node("ip4-lookup", to=("ip4-drop", "ip4-arp", "ip4-local", "ip4-rewrite"))
def ip4_lookup(vm, me, frame, nexts, count):
    """Find the route, note what lies behind it, and send the packet there.

    Adjacency 0 drops: it is what an address without a route comes to.
    """
    for each in range(count):
        packet = frame[each]
        adjacency = find(vm.root, vm.plies, net32(start(packet) + DESTINATION))
        set_adjacency(packet, adjacency)
        nexts[each] = vm.adjacencies[adjacency].next
        if nexts[each] == 0:
            because(packet, BLACKHOLED)
