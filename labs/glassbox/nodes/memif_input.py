"""memif-input: copy packets out of a ring of shared memory, and hand the slots back.

The copy is what keeps a neighbour honest: once a packet is ours, nobody can change it while we work on it.
"""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.buffers import waiting_at
from labs.glassbox.drops import TOO_LARGE
from labs.glassbox.graph import node
from labs.glassbox.memory import words_at
from labs.glassbox.news import accuse
from labs.glassbox.packet import DATA, ROOM, begin
from labs.glassbox.vm import FREE, POLLING
from labs.memif.atoms import load64
from labs.memif.control import BYTES, MASK, PACKETS, POSITION, STOP, TABLE
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


@node("memif-input", to=("error-drop", "ethernet-input", "ip4-input"), makes_packets=True)
def memif_input(vm, which, frame, nexts, most):
    """Take up to `most` packets from receive queue `which`."""
    queue = vm.rx_queues[which]
    ring = words_at(queue.block)
    available = look(ring)
    if available <= 0 or ring[STOP]:
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
        slots, size = take(ring, position, available, packet + DATA, ROOM)
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
        ring[PACKETS] += count
        ring[BYTES] += total
    if available > 0 and slots > 0 and queue.mode != POLLING:
        vm.rx_queues[which].pending = 1  # no bell will ring for what is left
    vm.rx[interface, 0] += np.uint64(count)
    vm.rx[interface, 1] += np.uint64(total)
    return count
