"""Burst in, burst out: compiled, without the GIL, with every number of the peer's checked before use."""
# ruff: noqa: ANN001, ANN201 - numba infers the types, and calls intrinsics by its own rules
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.memif.atoms import copy, fence
from labs.memif.control import (
    BAD_INPUT,
    BAD_LENGTH,
    BYTES,
    DROPPED,
    ENDLESS_CHAIN,
    FULL,
    OFFER,
    PACKETS,
    POSITION,
    SIZE,
)
from labs.memif.hints import apart, usual
from labs.memif.jit import kernel, seldom, step
from labs.memif.steps import fill, hand_over, look, offer, packet_in, publish, room_in


@step
def put(q, slot, free, source, length):
    """Copy one packet into the `free` slots from `slot` on.

    Returns
    -------
    int
        Slots used; 0 if there are too few; or a negative code.
    """
    if usual(free > 0):
        target, capacity = room_in(q, slot)
        if usual(target >= 0 and 0 < length <= capacity):
            copy(target, source, length)
            fill(q, slot, length, 0)
            return 1
    return put_in_parts(q, slot, free, source, length)


@seldom
def put_in_parts(q, slot, free, source, length):
    """Copy one packet into as many slots as it needs; as `put`."""
    apart()
    used = 0
    while used < free:
        target, capacity = room_in(q, slot + used)
        if target < 0:
            return target
        part = min(length, capacity)
        if part == 0:
            return BAD_LENGTH
        copy(target, source, part)
        source += part
        length -= part
        fill(q, slot + used, part, 1 if length else 0)
        used += 1
        if length == 0:
            return used
    return 0


@step
def take(q, slot, available, target, room):
    """Copy one packet out of the `available` slots from `slot` on, as far as there is `room` for it.

    Returns
    -------
    (int, int)
        Slots it takes, and its bytes, which may be more than there was room for. The slots are 0 if it is
        not all there yet, or a negative code.
    """
    if usual(available > 0):
        source, length, goes_on = packet_in(q, slot)
        if usual(source >= 0 and not goes_on and 0 < length <= room):
            copy(target, source, length)
            return 1, length
    return take_in_parts(q, slot, available, target, room)


@seldom
def take_in_parts(q, slot, available, target, room):
    """Copy one packet out of as many slots as it takes; as `take`."""
    apart()
    length = 0
    for used in range(available):
        source, part, goes_on = packet_in(q, slot + used)
        if source < 0:
            return source, length
        if part and length + part <= room:
            copy(target + length, source, part)
        length += part
        if not goes_on:
            return used + 1, length
    return (ENDLESS_CHAIN if available == q[SIZE] else 0), length


@step
def give_back(q, begin, end):
    """Make the received slots from `begin` to `end` - 1 the peer's again; `publish` tells it."""
    if q[OFFER]:
        for each in range(begin, end):
            offer(q, each)


@kernel
def send(q, data, offsets, lengths, first, last):
    """Send packets `first` to `last` - 1 of a burst, as far as there is room.

    Parameters
    ----------
    q : ndarray of int64
        Control block of a ring we send on.
    data : ndarray of uint8
        The packets' bytes.
    offsets, lengths : ndarray of uint32
        Where each packet begins in `data`, and its bytes.

    Returns
    -------
    int
        Packets sent, or a negative code if nothing more can be sent on this ring. Packets before the faulty
        one have been sent then, and are counted.
    """
    free = look(q)
    if free < 0:
        return free
    position = q[POSITION]
    base = np.int64(data.ctypes.data)
    sent = 0
    total = 0
    used = 1
    for number in range(first, last):
        length = np.int64(lengths[number])
        if length == 0 or offsets[number] + length > data.size:
            used = BAD_INPUT
            break
        used = put(q, position, free, base + offsets[number], length)
        if used <= 0:
            break
        position += used
        free -= used
        total += length
        sent += 1
    if used == 0:
        q[FULL] += 1
        if free == q[SIZE]:
            used = BAD_INPUT  # it would not fit the empty ring either
    if sent:
        hand_over(q, position, sent, total)
    return used if used < 0 else sent


@kernel
def receive(q, data, offsets, lengths):
    """Take what packets there are, copy them out, and hand their slots back.

    Parameters
    ----------
    q : ndarray of int64
        Control block of a ring we receive on.
    data : ndarray of uint8
        Takes the packets, each at a multiple of 64 bytes.
    offsets, lengths : ndarray of uint32
        Take where each packet begins in `data`, and its bytes; as long as the burst may be.

    Returns
    -------
    int
        Packets received, or a negative code.
    """
    available = look(q)
    if available < 0:
        return available
    begin = position = q[POSITION]
    base = np.int64(data.ctypes.data)
    room = data.size
    used = 0
    count = 0
    total = 0
    slots = 0
    while available > 0 and count < offsets.size:
        slots, length = take(q, position, available, base + used, room - used)
        if slots <= 0 or (used + length > room and used > 0):
            break
        if 0 < length <= room:
            offsets[count] = used
            lengths[count] = length
            used = min(used + ((length + 63) & ~63), room)
            total += length
            count += 1
        else:
            q[DROPPED] += 1
        position += slots
        available -= slots
    if position != begin:
        give_back(q, begin, position)
        publish(q, position)
    q[PACKETS] += count
    q[BYTES] += total
    return slots if slots < 0 else count


@kernel
def waiting(q):
    """Return how many slots the peer has filled (or freed) for us, or a negative code.

    The fence puts the look after an unmasking of the doorbell: a packet that is not seen here will ring.
    """
    fence()
    return look(q)
