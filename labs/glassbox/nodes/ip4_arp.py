"""ip4-arp: the next hop's hardware address is not known; ask for it."""
# ruff: noqa: ANN001, ANN201, ARG001 - numba infers the types; every node has the same arguments
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.drops import ARP_REQUESTS_SENT, ARP_THROTTLED
from labs.glassbox.graph import DROP, node, output
from labs.glassbox.headers import (
    ARP,
    ARP_KIND,
    ARP_OPERATION,
    ARP_REQUEST,
    ARP_SENDER,
    ARP_SENDER_MAC,
    ARP_TARGET,
    ARP_TARGET_MAC,
    BROADCAST_MAC,
    DESTINATION,
    DESTINATION_MAC,
    ETHERNET,
    ETHERNET_IP4,
    ETHERTYPE,
    IS_ARP,
    SOURCE_MAC,
)
from labs.glassbox.memory import net32, set48, set_net16, set_net32, ticks
from labs.glassbox.packet import adjacency_of, because, begin, leave_by, mark_of, origin, set_mark, start
from labs.glassbox.vm import TICKS_PER_MS

PAUSE_MS = 1
"""One question a millisecond and neighbour is enough."""


@node("ip4-arp", to=("error-drop",))
def ip4_arp(vm, me, frame, nexts, count):
    """Turn a packet into the question for its next hop: what waits for the answer is lost, as in VPP."""
    for each in range(count):
        packet = frame[each]
        adjacency = adjacency_of(packet)
        towards = vm.adjacencies[adjacency]
        now = ticks()
        if now - towards.asked_at < PAUSE_MS * vm.state[TICKS_PER_MS]:
            because(packet, ARP_THROTTLED)
            nexts[each] = DROP
        else:
            vm.adjacencies[adjacency].asked_at = now
            wanted = towards.next_hop
            if wanted == 0:
                wanted = net32(start(packet) + DESTINATION)
            mark = mark_of(packet)
            begin(packet, ETHERNET + ARP, 0)
            set_mark(packet, mark)
            own = vm.interfaces[towards.interface]
            at = origin(packet)
            set48(at + DESTINATION_MAC, BROADCAST_MAC)
            set48(at + SOURCE_MAC, own.mac)
            set_net16(at + ETHERTYPE, IS_ARP)
            arp = at + ETHERNET
            set_net16(arp + ARP_KIND, ETHERNET_IP4 >> 48)
            set_net32(arp + ARP_KIND + 2, ETHERNET_IP4 >> 16)
            set_net16(arp + ARP_OPERATION, ARP_REQUEST)
            set48(arp + ARP_SENDER_MAC, own.mac)
            set_net32(arp + ARP_SENDER, own.address)
            set48(arp + ARP_TARGET_MAC, 0)
            set_net32(arp + ARP_TARGET, wanted)
            leave_by(packet, towards.interface)
            nexts[each] = output(towards.interface)
            vm.errors[ARP_REQUESTS_SENT] += np.uint64(1)
