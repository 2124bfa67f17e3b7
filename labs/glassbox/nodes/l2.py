"""l2-input, l2-fwd and l2-flood: frames between interfaces that are wired or bridged, never looked into."""
# ruff: noqa: ANN001, ANN201, ARG001 - numba infers the types; every node has the same arguments
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.buffers import claim
from labs.glassbox.dispatch import enqueue
from labs.glassbox.drops import NO_COPY, NO_L2_PEER
from labs.glassbox.graph import DROP, node, output
from labs.glassbox.headers import DESTINATION_MAC, GROUP, SOURCE_MAC
from labs.glassbox.memory import get48
from labs.glassbox.packet import because, begin, came_by, leave_by, length, origin, start
from labs.glassbox.vm import BRIDGE, CROSS_CONNECT
from labs.memif.atoms import copy
from labs.memif.jit import step

FORWARD, FLOOD = 1, 2
_TRIES = 8
_MIX = 0x9E3779B1


@step
def place_of(macs, bridge, mac):
    """Return the row of an address in the table, or the row to write it to."""
    at = ((mac ^ (bridge << 40)) * _MIX >> 16) % macs.shape[0]
    free = -1
    for each in range(_TRIES):
        row = (at + each) % macs.shape[0]
        if macs[row, 0] == mac and macs[row, 1] == bridge:
            return row
        if macs[row, 0] <= 0 and free < 0:
            free = row  # never used, or forgotten: then the address may still stand behind it
        if macs[row, 0] == 0:
            break
    return free if free >= 0 else at  # the table is full here: the newest wins


@node("l2-input", to=("error-drop", "l2-fwd"))
def l2_input(vm, me, frame, nexts, count):
    """Cross-connected interfaces hand frames to each other; a bridge learns who is where."""
    for each in range(count):
        packet = frame[each]
        interface = vm.interfaces[came_by(packet)]
        if interface.mode == CROSS_CONNECT:
            leave_by(packet, interface.peer)
            nexts[each] = output(interface.peer)
        elif interface.mode == BRIDGE:
            source = get48(start(packet) + SOURCE_MAC)
            if source & GROUP == 0:
                row = place_of(vm.macs, interface.peer, source)
                vm.macs[row, 0] = source
                vm.macs[row, 1] = interface.peer
                vm.macs[row, 2] = came_by(packet)
            nexts[each] = FORWARD
        else:
            because(packet, NO_L2_PEER)
            nexts[each] = DROP


@node("l2-fwd", to=("error-drop", "l2-flood"))
def l2_fwd(vm, me, frame, nexts, count):
    """Send a frame to where its destination was last seen; to all others in the bridge if nowhere."""
    for each in range(count):
        packet = frame[each]
        bridge = vm.interfaces[came_by(packet)].peer
        wanted = get48(start(packet) + DESTINATION_MAC)
        row = place_of(vm.macs, bridge, wanted)
        known = vm.macs[row, 0] == wanted and vm.macs[row, 1] == bridge
        there = vm.macs[row, 2]
        is_port = vm.interfaces[there].mode == BRIDGE and vm.interfaces[there].peer == bridge
        if wanted & GROUP or not known or not is_port:
            nexts[each] = 1
        elif there == came_by(packet):
            because(packet, NO_L2_PEER)
            nexts[each] = DROP
        else:
            leave_by(packet, there)
            nexts[each] = output(there)


@node("l2-flood", to=("error-drop",))
def l2_flood(vm, me, frame, nexts, count):
    """Copy a frame to every other interface of the bridge; the last one gets the frame itself."""
    for each in range(count):
        packet = frame[each]
        came = came_by(packet)
        bridge = vm.interfaces[came].peer
        last = -1
        for other in range(1, vm.interfaces.size):
            there = vm.interfaces[other]
            if other != came and there.mode == BRIDGE and there.peer == bridge and there.up:
                if last >= 0:
                    twin = claim(vm)
                    if twin == 0:
                        vm.errors[NO_COPY] += np.uint64(1)
                    else:
                        begin(twin, length(packet), came)
                        copy(origin(twin), start(packet), length(packet))
                        leave_by(twin, last)
                        enqueue(vm, vm.interfaces[last].output_node, twin)
                last = other
        if last < 0:
            because(packet, NO_L2_PEER)
            nexts[each] = DROP
        else:
            leave_by(packet, last)
            nexts[each] = output(last)
