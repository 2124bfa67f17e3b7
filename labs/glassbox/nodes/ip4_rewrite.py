"""ip4-rewrite: one less to live, and a new Ethernet header in front."""
# ruff: noqa: ANN001, ANN201, ARG001 - numba infers the types; every node has the same arguments
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from labs.glassbox.drops import TOO_BIG, TTL_EXPIRED
from labs.glassbox.graph import DROP, node, output
from labs.glassbox.headers import CHECKSUM, ETHERNET, TTL, age
from labs.glassbox.memory import get8, set8, set16, set32, set64, set_net16
from labs.glassbox.packet import (
    adjacency_of,
    advance,
    because,
    came_by,
    leave_by,
    length,
    start,
)


@node("ip4-rewrite", to=("ip4-drop",))
def ip4_rewrite(vm, me, frame, nexts, count):
    """Make each packet ready for its next hop; those that we made ourselves do not age.

    What came in by interface 0 (`local0`) was made here.
    """
    for each in range(count):
        packet = frame[each]
        ip = start(packet)
        towards = vm.adjacencies[adjacency_of(packet)]
        ttl = get8(ip + TTL)
        ours = came_by(packet) == 0
        nexts[each] = DROP
        if ttl <= 1 and not ours:
            because(packet, TTL_EXPIRED)
        elif length(packet) > towards.mtu:
            because(packet, TOO_BIG)
        else:
            if not ours:
                set_net16(ip + CHECKSUM, age(ip))
                set8(ip + TTL, ttl - 1)
            if towards.header[0] | towards.header[1]:
                advance(packet, -ETHERNET)
                at = start(packet)
                set64(at, towards.header[0])
                set32(at + 8, towards.header[1])
                set16(at + 12, towards.header[1] >> 32)
            leave_by(packet, towards.interface)
            nexts[each] = output(towards.interface)
