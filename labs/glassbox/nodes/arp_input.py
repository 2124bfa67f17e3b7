"""arp-input and arp-reply: answer who asks for us, and learn who tells us."""
# ruff: noqa: ANN001, ANN201, ARG001 - numba infers the types; every node has the same arguments
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.drops import (
    ARP_LIES,
    ARP_NOT_LOCAL,
    ARP_REPLIES_RECEIVED,
    ARP_REPLIES_SENT,
    ARP_UNKNOWN,
)
from labs.glassbox.fib import find
from labs.glassbox.graph import DROP, node, output
from labs.glassbox.headers import (
    ARP,
    ARP_KIND,
    ARP_OPERATION,
    ARP_REPLY,
    ARP_REQUEST,
    ARP_SENDER,
    ARP_SENDER_MAC,
    ARP_TARGET,
    ARP_TARGET_MAC,
    DESTINATION_MAC,
    ETHERNET,
    ETHERNET_IP4,
    GROUP,
    SOURCE_MAC,
)
from labs.glassbox.memory import get48, net16, net32, set48, set_net16, set_net32
from labs.glassbox.news import tell
from labs.glassbox.packet import advance, because, came_by, leave_by, length, set_came_by, set_length, start
from labs.glassbox.vm import ARP_ANNOUNCED, ARP_LEARNED, TO_LOCAL

REPLY = 1


@node("arp-input", to=("error-drop", "arp-reply"))
def arp_input(vm, me, frame, nexts, count):
    """Take only ARP for IPv4 over Ethernet."""
    for each in range(count):
        arp = start(frame[each])
        kind = (net16(arp + ARP_KIND) << 48) | (net32(arp + ARP_KIND + 2) << 16)
        if length(frame[each]) < ARP or kind != ETHERNET_IP4:
            because(frame[each], ARP_UNKNOWN)
            nexts[each] = DROP
        else:
            nexts[each] = REPLY


@node("arp-reply", to=("error-drop",))
def arp_reply(vm, me, frame, nexts, count):
    """Answer a request for our address in the packet it came in; tell Python what the sender is called.

    A host that announces itself (it asks for its own address) is believed if it is known already.
    """
    for each in range(count):
        packet = frame[each]
        arp = start(packet)
        interface = came_by(packet)
        own = vm.interfaces[interface]
        target = net32(arp + ARP_TARGET)
        asker = net32(arp + ARP_SENDER)
        sender = get48(arp + ARP_SENDER_MAC)
        nexts[each] = DROP
        if sender != get48(arp - ETHERNET + SOURCE_MAC) or sender & GROUP:
            because(packet, ARP_LIES)
        elif not own.ip4 or vm.adjacencies[find(vm.root, vm.plies, target)].next != TO_LOCAL:
            because(packet, ARP_NOT_LOCAL)
            if target == asker:
                tell(vm, ARP_ANNOUNCED, interface, asker, sender)
        else:
            tell(vm, ARP_LEARNED, interface, asker, sender)
            if net16(arp + ARP_OPERATION) == ARP_REQUEST:
                set48(arp + ARP_TARGET_MAC, sender)
                set_net32(arp + ARP_TARGET, asker)
                set48(arp + ARP_SENDER_MAC, own.mac)
                set_net32(arp + ARP_SENDER, target)
                set_net16(arp + ARP_OPERATION, ARP_REPLY)
                set_length(packet, ARP)
                advance(packet, -ETHERNET)
                set48(start(packet) + DESTINATION_MAC, sender)
                set48(start(packet) + SOURCE_MAC, own.mac)
                set_came_by(packet, 0)
                leave_by(packet, interface)
                nexts[each] = output(interface)
                vm.errors[ARP_REPLIES_SENT] += np.uint64(1)
            else:
                because(packet, ARP_REPLIES_RECEIVED)
