"""The steps of the data path, small enough to be inlined: kernels are made of these.

Each takes a control block (see `labs.memif.control`). A slot is an index that counts on without end; it is
masked where it is used. Steps that meet a fault of the peer's return a negative code.
"""
# ruff: noqa: ANN001, ANN201 - numba infers the types, and calls intrinsics by its own rules
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.memif.atoms import (
    c_poll,
    c_write,
    fence,
    load16,
    load16_acquire,
    load64,
    load64_fixed,
    store16_release,
    store64,
)
from labs.memif.control import (
    BAD_LENGTH,
    BAD_REGION,
    BIAS,
    BYTES,
    DOORBELL,
    FLAGS,
    INDEX_JUMPED,
    LAST,
    MASK,
    MINE,
    OFFER,
    OUTSIDE_REGION,
    PACKETS,
    POSITION,
    REGION_TABLE,
    REGIONS,
    RUNG,
    SCRATCH,
    SIZE,
    SLOTS,
    TABLE,
    THEIRS,
)
from labs.memif.jit import step

_POLLOUT = 4
_REGION = 0xFFFF0000
_LOW32 = 0xFFFFFFFF


@step
def fixed(q, word):
    """Return a word of the control block that stays as it is while the link is up.

    The compiler cannot tell that what is written to the ring does not change it, and would read it for each
    packet anew.
    """
    return load64_fixed(np.int64(q.ctypes.data) + word * 8)


@step
def look(q):
    """Return how many slots are ours to use, from ``q[POSITION]`` on, or `INDEX_JUMPED`.

    The peer's index may only move forward, and never beyond what the ring can hold.
    """
    theirs = load16_acquire(fixed(q, THEIRS))
    known = (fixed(q, BIAS) + q[LAST] - q[POSITION]) & 0xFFFF
    ours = known + ((theirs - q[LAST]) & 0xFFFF)
    if ours > fixed(q, SIZE):
        return INDEX_JUMPED
    q[LAST] = theirs
    return ours


@step
def publish(q, position):
    """Hand all slots before `position` to the peer."""
    q[POSITION] = position & 0xFFFF
    store16_release(fixed(q, MINE), position + fixed(q, OFFER))


@step
def locate(q, where, what, length):
    """Return the address that a descriptor names, or a negative code.

    Parameters
    ----------
    where, what : int64
        The descriptor's second and first 8 bytes.
    length : int64
        Bytes from there on that must lie inside the region.
    """
    region = (what >> 16) & 0xFFFF
    if region >= fixed(q, REGIONS):
        return BAD_REGION
    offset = where & _LOW32
    if offset + length > fixed(q, REGION_TABLE + 2 * region + 1):
        return OUTSIDE_REGION
    return fixed(q, REGION_TABLE + 2 * region) + offset


@step
def room_in(q, slot):
    """Return (address, bytes) of the buffer of a slot that is ours to fill; the address may be a code."""
    entry = fixed(q, TABLE) + (slot & fixed(q, MASK)) * 16
    what = load64(entry)
    length = (what >> 32) & _LOW32
    return locate(q, load64(entry + 8), what, length), length


@step
def fill(q, slot, length, goes_on):
    """Write the descriptor of a slot that holds `length` bytes."""
    index = (slot & fixed(q, MASK)) * 16
    what = load64(fixed(q, TABLE) + index) & _REGION
    if fixed(q, TABLE) != fixed(
        q, SLOTS
    ):  # a client's; a server finds in the ring what the client has put there
        store64(fixed(q, SLOTS) + index + 8, load64(fixed(q, TABLE) + index + 8))
    store64(fixed(q, SLOTS) + index, what | (length << 32) | goes_on)


@step
def packet_in(q, slot):
    """Return (address, length, whether it goes on) of a slot that the peer has filled.

    The address may be a negative code. The length is checked against the slot's buffer where that is known
    (a client's own table) and against the region always.
    """
    index = (slot & fixed(q, MASK)) * 16
    filled = load64(fixed(q, SLOTS) + index)
    entry = fixed(q, TABLE) + index
    what = load64(entry)
    length = (filled >> 32) & _LOW32
    if length > ((what >> 32) & _LOW32):
        return BAD_LENGTH, length, 0
    return locate(q, load64(entry + 8), what, length), length, filled & 1


@step
def offer(q, slot):
    """Make a received slot's descriptor fit for the peer to fill again; only a client's needs it."""
    index = (slot & fixed(q, MASK)) * 16
    store64(fixed(q, SLOTS) + index + 8, load64(fixed(q, TABLE) + index + 8))
    store64(fixed(q, SLOTS) + index, load64(fixed(q, TABLE) + index))


@step
def wants_bell(q):
    """Return whether the receiver sleeps on its doorbell.

    The fence keeps the look at the flags after the publishing: else we might see the receiver still awake,
    and it might not see the packet.
    """
    fence()
    return q[DOORBELL] >= 0 and (load16(fixed(q, FLAGS)) & 1) == 0


@step
def ring_bell(q):
    """Write the doorbell's eventfd, unless that would block: then its counter is full, and it is ringing."""
    base = np.int64(q.ctypes.data) + SCRATCH * 8
    q[SCRATCH] = q[DOORBELL] | (_POLLOUT << 32)
    q[SCRATCH + 1] = 1
    if c_poll(base, 1, 0) == 1 and (q[SCRATCH] >> 48) == _POLLOUT:
        c_write(q[DOORBELL], base + 8, 8)
        q[RUNG] += 1


@step
def hand_over(q, position, sent, total):
    """Publish packets that end before `position`, count them, and wake a receiver that sleeps."""
    publish(q, position)
    q[PACKETS] += sent
    q[BYTES] += total
    if wants_bell(q):
        ring_bell(q)
