"""ethernet-input: tell what a frame carries, and whether it is for us."""
# ruff: noqa: ANN001, ANN201, ARG001 - numba infers the types; every node has the same arguments
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from labs.glassbox.drops import INTERFACE_DOWN, NOT_FOR_US, RUNT, UNKNOWN_TYPE
from labs.glassbox.graph import DROP, node
from labs.glassbox.headers import (
    DESTINATION_MAC,
    ETHERNET,
    ETHERTYPE,
    GROUP,
    IS_ARP,
    IS_IP4,
)
from labs.glassbox.memory import get8, get48, net16
from labs.glassbox.packet import advance, because, came_by, length, start
from labs.glassbox.vm import LAYER3

IP4, ARP, L2 = 1, 2, 3


@node("ethernet-input", to=("error-drop", "ip4-input", "arp-input", "l2-input"))
def ethernet_input(vm, me, frame, nexts, count):
    """Look at the Ethernet header and step over it."""
    for each in range(count):
        packet = frame[each]
        frame_at = start(packet)
        interface = vm.interfaces[came_by(packet)]
        nexts[each] = DROP
        if not interface.up:
            because(packet, INTERFACE_DOWN)
        elif length(packet) < ETHERNET:
            because(packet, RUNT)
        elif interface.mode != LAYER3:
            nexts[each] = L2
        elif (
            get48(frame_at + DESTINATION_MAC) != interface.mac
            and get8(frame_at + DESTINATION_MAC) & GROUP == 0
        ):
            because(packet, NOT_FOR_US)
        else:
            carries = net16(frame_at + ETHERTYPE)
            if carries == IS_IP4:
                nexts[each] = IP4
                advance(packet, ETHERNET)
            elif carries == IS_ARP:
                nexts[each] = ARP
                advance(packet, ETHERNET)
            else:
                because(packet, UNKNOWN_TYPE)
