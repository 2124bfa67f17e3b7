"""Zero-copy: a client's rings name packets of our own pool, and the server reads and writes them in place.

A packet that is lent stands in a list of the ring's (`KEPT`), a place for each slot, in memory of our own:
the descriptors are the server's to scribble on. What we read of them is a length and a flag, once.

=========  =========================  ==========================================
ring       slots that name packets    what becomes of them
=========  =========================  ==========================================
receiving  `POSITION` up to `EDGE`    filled by the server, then a node's
sending    `EDGE` up to `POSITION`    read by the server, then free
=========  =========================  ==========================================

As in VPP (plugins/memif/node.c, device.c) packets are lent and freed many at a time. Unlike there, the pool
never runs dry of it: receiving rings leave `RESERVE` packets, sending ones a vector.
"""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.buffers import waiting_at
from labs.glassbox.memory import get64, set64, words_at
from labs.glassbox.packet import BASE, OFFSET, ROOM, length, origin, start
from labs.glassbox.vm import FREE
from labs.memif.atoms import copy, load64, store16_release, store64
from labs.memif.control import (
    BAD_LENGTH,
    EDGE,
    ENDLESS_CHAIN,
    KEPT,
    LAST,
    LENT,
    MASK,
    MINE,
    PARTS,
    POSITION,
    REGION_TABLE,
    SIZE,
    SLOTS,
)
from labs.memif.hints import apart, prefetch_to_write
from labs.memif.jit import kernel, seldom, step
from labs.memif.steps import fixed, look

RESERVE = 512
"""Packets that receiving rings leave free: for other links, pings and copies."""

LOT = 32
"""Packets to lend or to free at least, at once, where the ring is long enough."""

POOL = 1
"""The region of a link that holds the pool."""

_WHAT = POOL << 16
_LOW32 = 0xFFFFFFFF


@step
def kept_at(ring, slot):
    """Return the address of the place where the packet of a slot stands."""
    return fixed(ring, KEPT) + (slot & fixed(ring, MASK)) * 8


@step
def slot_at(ring, slot):
    """Return the address of a descriptor."""
    return fixed(ring, SLOTS) + (slot & fixed(ring, MASK)) * 16


@step
def ask_for_lent(ring, slot):
    """Ask for the first line of the packet in a slot, to write to it."""
    prefetch_to_write(get64(get64(kept_at(ring, slot)) + BASE))


@step
def filled_in(ring, slot):
    """Return (length, whether it goes on) of a slot that the server has filled."""
    filled = load64(slot_at(ring, slot))
    return (filled >> 32) & _LOW32, filled & 1


@step
def lot(ring):
    """Return how many packets are worth while: few, where a ring is short."""
    return min(LOT, max(fixed(ring, SIZE) >> 2, 1))


@step
def refill(vm, ring):
    """Lend the server free packets to fill, but never the last ones."""
    edge = ring[EDGE]
    room = fixed(ring, SIZE) - ((edge - ring[POSITION]) & 0xFFFF)
    room = min(room, vm.state[FREE] - RESERVE)
    if room < lot(ring):
        return
    what = _WHAT | (fixed(ring, LENT) << 32)
    for each in range(room):
        packet = waiting_at(vm, each)
        set64(kept_at(ring, edge + each), packet)
        entry = slot_at(ring, edge + each)
        store64(entry + 8, get64(packet + OFFSET))
        store64(entry, what)
    vm.state[FREE] -= room
    ring[EDGE] = (edge + room) & 0xFFFF
    store16_release(fixed(ring, MINE), edge + room)


@seldom
def gather(vm, ring, position, available):
    """Put together a packet that the server has spread over several of ours, in the first of them.

    Returns
    -------
    (int, int)
        As `labs.memif.kernels.take`. If there are any slots, all packets but the first are free.
    """
    apart()
    target = origin(get64(kept_at(ring, position)))
    total = 0
    for used in range(available):
        part, goes_on = filled_in(ring, position + used)
        if part > fixed(ring, LENT):
            return BAD_LENGTH, total
        if used and part and total + part <= ROOM:
            copy(target + total, origin(get64(kept_at(ring, position + used))), part)
        total += part
        if not goes_on:
            for each in range(1, used + 1):
                set_free(vm, get64(kept_at(ring, position + each)))
            return used + 1, total
    return (ENDLESS_CHAIN if available == fixed(ring, SIZE) else 0), total


@step
def set_free(vm, packet):
    """Free one packet."""
    left = vm.state[FREE]
    set64(np.int64(vm.free.ctypes.data) + 8 * left, packet)
    vm.state[FREE] = left + 1


@step
def reap(vm, ring, least):
    """Free the packets that the server has read, if there are so many; `look` has seen how far it is."""
    edge = ring[EDGE]
    done = (ring[LAST] - edge) & 0xFFFF
    if done >= least:
        if ring[PARTS]:
            reap_one_by_one(vm, ring, edge, done)
        else:
            left = vm.state[FREE]
            to = np.int64(vm.free.ctypes.data) + 8 * left
            first = min(done, fixed(ring, SIZE) - (edge & fixed(ring, MASK)))
            copy(to, kept_at(ring, edge), 8 * first)
            copy(to + 8 * first, fixed(ring, KEPT), 8 * (done - first))
            vm.state[FREE] = left + done
        ring[EDGE] = ring[LAST]


@seldom
def reap_one_by_one(vm, ring, edge, done):
    """Free packets of which some take several slots; the last of these names it."""
    apart()
    for each in range(done):
        packet = get64(kept_at(ring, edge + each))
        if packet:
            set_free(vm, packet)
        else:
            ring[PARTS] -= 1


@step
def lend(ring, slot, free, packet):
    """Let the server read a packet in the `free` slots from `slot` on; return those used, 0 if too few."""
    size = length(packet)
    if free > 0 and size <= fixed(ring, LENT):
        set64(kept_at(ring, slot), packet)
        entry = slot_at(ring, slot)
        store64(entry + 8, start(packet) - fixed(ring, REGION_TABLE + 2 * POOL))
        store64(entry, _WHAT | (size << 32))
        return 1
    return lend_in_parts(ring, slot, free, packet)


@seldom
def lend_in_parts(ring, slot, free, packet):
    """Let several slots name the parts of a packet, each no longer than a buffer of the link."""
    apart()
    most = fixed(ring, LENT)
    left = length(packet)
    slots = (left + most - 1) // most
    if slots > free:
        return 0
    where = start(packet) - fixed(ring, REGION_TABLE + 2 * POOL)
    for each in range(slots):
        is_last = each == slots - 1
        set64(kept_at(ring, slot + each), packet if is_last else 0)
        entry = slot_at(ring, slot + each)
        store64(entry + 8, where + each * most)
        store64(entry, _WHAT | (min(left, most) << 32) | (0 if is_last else 1))
        left -= most
    ring[PARTS] += slots - 1
    return slots


@kernel
def collect(vm, block):
    """Free what the server has read of a ring that we send on, though nothing is sent just now."""
    ring = words_at(block)
    if look(ring) >= 0:
        reap(vm, ring, 1)
