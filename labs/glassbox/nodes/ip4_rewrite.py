"""ip4-rewrite: one less to live, and a new Ethernet header in front."""
# ruff: noqa: ANN001, ANN201, ARG001 - numba infers the types; every node has the same arguments
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from labs.glassbox.drops import TOO_BIG, TTL_EXPIRED
from labs.glassbox.graph import DROP, node, output
from labs.glassbox.headers import ETHERNET, TTL, age
from labs.glassbox.memory import get8, set64
from labs.glassbox.packet import (
    adjacency_of,
    advance,
    because,
    came_by,
    leave_by,
    length,
    start,
)
from labs.memif.hints import usual
from labs.memif.jit import step


@node("ip4-rewrite", to=("ip4-drop",))
def ip4_rewrite(vm, me, frame, nexts, count):
    """Make each packet ready for its next hop; those that we made ourselves do not age.

    What came in by interface 0 (`local0`) was made here.
    """
    for each in range(count):
        packet = frame[each]
        ip = start(packet)
        towards = vm.adjacencies[adjacency_of(packet)]
        is_ours = came_by(packet) == 0
        nexts[each] = DROP
        if not usual(is_ours or get8(ip + TTL) > 1):
            because(packet, TTL_EXPIRED)
        elif not usual(length(packet) <= towards.mtu):
            because(packet, TOO_BIG)
        else:
            if not is_ours:
                age(ip)
            wrap(packet, towards.header)
            leave_by(packet, towards.interface)
            nexts[each] = output(towards.interface)


@step
def wrap(packet, header):
    """Put an Ethernet header in front, where the link has such."""
    if usual(header[0] | header[1]):
        advance(packet, -ETHERNET)
        at = start(packet)
        set64(at, header[0])
        set64(at + 6, ((header[0] >> 48) & 0xFFFF) | (header[1] << 16))  # 14 bytes in two moves
