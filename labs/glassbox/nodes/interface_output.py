"""NAME-output and NAME-tx: the last two nodes of every interface."""
# ruff: noqa: ANN001, ANN201, ARG001 - numba infers the types; every node has the same arguments
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.buffers import give_up
from labs.glassbox.drops import INTERFACE_DOWN, NO_SLOTS, NOT_CONNECTED
from labs.glassbox.graph import DROP, GONE, node
from labs.glassbox.lending import lend, lot, reap, slot_at
from labs.glassbox.memory import swap64, words_at
from labs.glassbox.news import accuse
from labs.glassbox.packet import because, length, set_came_by, start
from labs.glassbox.vm import FREE, THREAD, VECTOR
from labs.memif.atoms import pause
from labs.memif.control import EDGE, FULL, KEPT, MASK, POSITION, SIZE, SLOTS, STOP
from labs.memif.hints import prefetch_to_write
from labs.memif.jit import step
from labs.memif.kernels import put
from labs.memif.steps import fixed, hand_over, look

TX = BACK_IN = 1
AHEAD = 48
"""Descriptors to ask the memory for before their turn: the receiver has written to them."""


@node("interface-output", to=("error-drop", "interface-tx"))
def interface_output(vm, me, frame, nexts, count):
    """Count what leaves by an interface, if it is up."""
    interface = vm.nodes[me].data
    if vm.interfaces[interface].up:
        total = 0
        for each in range(count):
            total += length(frame[each])
            nexts[each] = TX
        vm.tx[interface, 0] += np.uint64(count)
        vm.tx[interface, 1] += np.uint64(total)
    else:
        refuse(frame, nexts, 0, count, INTERFACE_DOWN)


@step
def refuse(frame, nexts, first, count, reason):
    """Drop the packets of a frame from `first` on."""
    for each in range(first, count):
        because(frame[each], reason)
        nexts[each] = DROP


@node("interface-memif-tx", to=("error-drop",))
def memif_tx(vm, me, frame, nexts, count):
    """Copy packets into the ring of a memif, and ring the doorbell if the other side sleeps."""
    interface = vm.nodes[me].data
    queues = vm.interfaces[interface].tx_queues
    if queues == 0:
        refuse(frame, nexts, 0, count, NOT_CONNECTED)
        return
    queue = vm.state[THREAD] % queues
    lock = np.int64(vm.tx_locks.ctypes.data) + (interface * vm.tx_locks.shape[1] + queue) * 8
    while swap64(lock, 1):  # threads share it where there are more of them than queues
        pause()
    put_out(vm, vm.tx_blocks[interface, queue], frame, nexts, count)
    swap64(lock, 0)


@step
def put_out(vm, block, frame, nexts, count):
    """Copy packets into a ring, as far as there is room."""
    ring = words_at(block)
    free = look(ring)
    if free < 0 or ring[STOP]:
        if free < 0:
            accuse(vm, block, free)
        refuse(frame, nexts, 0, count, NOT_CONNECTED)
        return
    if ring[KEPT]:
        put_lent(vm, ring, frame, nexts, count)
        return
    position = ring[POSITION]
    sent = 0
    total = 0
    used = 0
    while sent < count:
        packet = frame[sent]
        size = length(packet)
        prefetch_to_write(fixed(ring, SLOTS) + ((position + AHEAD) & fixed(ring, MASK)) * 16)
        used = put(ring, position, free, start(packet), size)
        if used <= 0:
            break
        position += used
        free -= used
        total += size
        nexts[sent] = GONE
        sent += 1
    if sent:
        hand_over(ring, position, sent, total)
        give_up(vm, frame, sent)
    if sent < count:
        if used < 0:
            accuse(vm, block, used)
        ring[FULL] += 1
        refuse(frame, nexts, sent, count, NO_SLOTS)


@step
def put_lent(vm, ring, frame, nexts, count):
    """Let the server read packets where they are; they are free when it has."""
    reap(vm, ring, lot(ring))
    if vm.state[FREE] < VECTOR:
        reap(vm, ring, 1)
    position = ring[POSITION]
    free = fixed(ring, SIZE) - ((position - ring[EDGE]) & 0xFFFF)
    if vm.state[FREE] < VECTOR:
        free = 0  # else one server that is slow could hold all packets of the box
    sent = 0
    total = 0
    while sent < count:
        prefetch_to_write(slot_at(ring, position + AHEAD))
        packet = frame[sent]
        used = lend(ring, position, free, packet)
        if used == 0:
            break
        position += used
        free -= used
        total += length(packet)
        nexts[sent] = GONE
        sent += 1
    if sent:
        hand_over(ring, position, sent, total)
    if sent < count:
        ring[FULL] += 1
        refuse(frame, nexts, sent, count, NO_SLOTS)


@node("interface-pg-tx", to=("error-drop",))
def pg_tx(vm, me, frame, nexts, count):
    """Let packets go: a packet generator's interface has no wire."""
    for each in range(count):
        nexts[each] = GONE
    give_up(vm, frame, count)


@node("interface-loop-tx", to=("error-drop", "ethernet-input"))
def loop_tx(vm, me, frame, nexts, count):
    """Receive what the interface sends."""
    for each in range(count):
        set_came_by(frame[each], vm.nodes[me].data)
        nexts[each] = BACK_IN
