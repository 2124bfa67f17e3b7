"""memif-input: copy packets out of a ring of shared memory, and hand the slots back.

The copy is what keeps a neighbour honest: once a packet is ours, nobody can change it while we work on it.
A zero-copy client goes without: the packets are its own, and it trusts its server not to touch them any more.
What they hold may then change at any moment, but not where they begin and end.
"""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.buffers import waiting_at
from labs.glassbox.drops import TOO_LARGE
from labs.glassbox.graph import node
from labs.glassbox.lending import ask_for_lent, filled_in, gather, kept_at, refill, set_free
from labs.glassbox.memory import get64, words_at
from labs.glassbox.news import accuse
from labs.glassbox.packet import ROOM, begin, origin
from labs.glassbox.vm import FREE, POLLING
from labs.memif.atoms import load64
from labs.memif.control import BYTES, EDGE, INDEX_JUMPED, KEPT, LENT, MASK, PACKETS, POSITION, STOP, TABLE
from labs.memif.hints import prefetch, usual
from labs.memif.jit import step
from labs.memif.kernels import give_back, take
from labs.memif.steps import fixed, locate, look, publish

AHEAD = 12
"""Packets to ask the memory for before their turn: another core's writes are far away."""


@step
def ask_for(ring, slot):
    """Ask for the first cache line of the packet in a slot."""
    entry = fixed(ring, TABLE) + (slot & fixed(ring, MASK)) * 16
    where = locate(ring, load64(entry + 8), load64(entry), 0)
    if usual(where > 0):
        prefetch(where)


@step
def ask_for_first(ring, position, available):
    """Ask for the packets that come first."""
    for ahead in range(min(AHEAD, available)):
        ask_for(ring, position + ahead)


@step
def ask_for_later(ring, position, available):
    """Ask for the packet that comes a few behind this one."""
    if available > AHEAD:
        ask_for(ring, position + AHEAD)


@step
def counted(vm, ring, interface, count, total):
    """Count packets and bytes of a ring and its interface; return the packets."""
    ring[PACKETS] += count
    ring[BYTES] += total
    vm.rx[interface, 0] += np.uint64(count)
    vm.rx[interface, 1] += np.uint64(total)
    return count


@step
def take_copies(vm, which, ring, frame, nexts, most):
    """Take packets out of the slots, and hand these back."""
    queue = vm.rx_queues[which]
    available = look(ring)
    if available <= 0:
        if available < 0:
            accuse(vm, queue.block, available)
        return 0
    interface = queue.interface
    to = 1 + vm.interfaces[interface].input_next
    first = position = ring[POSITION]
    most = min(most, vm.state[FREE])
    count = 0
    total = 0
    slots = 1
    ask_for_first(ring, position, available)
    while available > 0 and count < most:
        ask_for_later(ring, position, available)
        packet = waiting_at(vm, count)
        slots, size = take(ring, position, available, origin(packet), ROOM)
        if slots <= 0:
            if slots < 0:
                accuse(vm, queue.block, slots)
            break
        position += slots
        available -= slots
        if usual(0 < size <= ROOM):
            begin(packet, size, interface)
            frame[count] = packet
            nexts[count] = to
            count += 1
            total += size
        else:
            vm.errors[TOO_LARGE] += np.uint64(1)
    vm.state[FREE] -= count
    if position != first:
        give_back(ring, first, position)
        publish(ring, position)
    if available > 0 and slots > 0 and queue.mode != POLLING:
        vm.rx_queues[which].pending = 1  # no bell will ring for what is left
    return counted(vm, ring, interface, count, total)


@step
def take_lent(vm, which, ring, frame, nexts, most):
    """Take packets of our own that the server has filled, and lend it others."""
    queue = vm.rx_queues[which]
    available = look(ring)
    position = ring[POSITION]
    if available < 0 or available > (ring[EDGE] - position) & 0xFFFF:
        accuse(vm, queue.block, INDEX_JUMPED)
        return 0
    interface = queue.interface
    to = 1 + vm.interfaces[interface].input_next
    count = 0
    total = 0
    slots = 1
    for ahead in range(min(AHEAD, available)):
        ask_for_lent(ring, position + ahead)
    while available > 0 and count < most:
        if available > AHEAD:
            ask_for_lent(ring, position + AHEAD)
        packet = get64(kept_at(ring, position))
        size, goes_on = filled_in(ring, position)
        slots = 1
        if not usual(not goes_on and 0 < size <= fixed(ring, LENT)):
            slots, size = gather(vm, ring, position, available)
            if slots <= 0:
                if slots < 0:
                    accuse(vm, queue.block, slots)
                break
        position += slots
        available -= slots
        if usual(0 < size <= ROOM):
            begin(packet, size, interface)
            frame[count] = packet
            nexts[count] = to
            count += 1
            total += size
        else:
            set_free(vm, packet)
            vm.errors[TOO_LARGE] += np.uint64(1)
    ring[POSITION] = position & 0xFFFF
    refill(vm, ring)
    if available > 0 and slots > 0 and queue.mode != POLLING:
        vm.rx_queues[which].pending = 1
    return counted(vm, ring, interface, count, total)


@node("memif-input", to=("error-drop", "ethernet-input", "ip4-input"), makes_packets=True)
def memif_input(vm, which, frame, nexts, most):
    """Take up to `most` packets from receive queue `which`."""
    queue = vm.rx_queues[which]
    ring = words_at(queue.block)
    if ring[STOP]:
        return 0
    if ring[KEPT]:
        return take_lent(vm, which, ring, frame, nexts, most)
    return take_copies(vm, which, ring, frame, nexts, most)
