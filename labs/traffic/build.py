"""Build a packet where it will be sent from: in the ring's own slots.

What does not change from packet to packet is read once a burst, into the tuples `ring` and `kept`: the
compiler cannot know that no packet is written over a control block, and would read it all again for each.
"""
# ruff: noqa: ANN001, ANN201 - numba infers the types, and calls intrinsics by its own rules
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.memif.atoms import copy, load64, store64
from labs.memif.control import (
    BAD_INPUT,
    BAD_REGION,
    MASK,
    OUTSIDE_REGION,
    REGION_TABLE,
    REGIONS,
    SLOTS,
    TABLE,
)
from labs.memif.hints import demote
from labs.memif.jit import step
from labs.traffic.blocks import AT, BODIES, BODY_BYTES, FLOWS, HEAD_BYTES, HEADS, STREAM
from labs.traffic.stamp import restamp

_LINE = 64
_REGION = 0xFFFF0000
_LOW32 = 0xFFFFFFFF


@step
def hold_ring(q):
    """Return what `begin` and `go_on` need to know of a control block."""
    return q[MASK], q[TABLE], q[SLOTS], q[REGIONS], np.int64(q.ctypes.data) + REGION_TABLE * 8


@step
def hold_plan(plan):
    """Return what `begin` needs to know of a plan."""
    return plan[HEADS], plan[HEAD_BYTES], plan[BODIES], plan[BODY_BYTES], plan[FLOWS], plan[AT], plan[STREAM]


@step
def place_of(ring, slot, length):
    """Return (address, bytes, what, where) of a slot's buffer, of which `length` bytes at most are wanted.

    The last two are the halves of its descriptor. The address may be a negative code: it is checked as
    `labs.memif.steps.locate` does.
    """
    mask, table, _, regions, table_of_regions = ring
    entry = table + (slot & mask) * 16
    what, where = load64(entry), load64(entry + 8)
    room = min(length, (what >> 32) & _LOW32)
    region = (what >> 16) & 0xFFFF
    if region >= regions:
        return BAD_REGION, room, what, where
    offset = where & _LOW32
    of_region = table_of_regions + region * 16
    if offset + room > load64(of_region + 8):
        return OUTSIDE_REGION, room, what, where
    return load64(of_region) + offset, room, what, where


@step
def say(ring, slot, what, where, length, goes_on):
    """Write the descriptor of a slot that holds `length` bytes, where it does not say so already.

    With packets of one size it does from the second lap on. Then its line stays in both sides' caches.
    """
    mask, _, slots, _, _ = ring
    here = slots + (slot & mask) * 16
    filled = (what & _REGION) | (length << 32) | goes_on
    if load64(here + 8) != where:
        store64(here + 8, where)
    if load64(here) != filled:
        store64(here, filled)


@step
def begin(ring, kept, slot, kind, length, flow, sequence, time):
    """Write as much of a packet as the slot holds, and return how many bytes that is, or a negative code.

    The head, which is the flow's own, comes first, then what changes in its stamp, then the body, which all
    packets of a kind share.
    """
    heads, heading, bodies, body_bytes, flows, at, stream = kept
    target, room, what, where = place_of(ring, slot, max(length, heading))
    if target < 0:
        return target
    if room < heading:
        return BAD_INPUT
    head = heads + (kind * flows + flow) * heading
    copy(target, head, _LINE)
    if heading > _LINE:
        copy(target + _LINE, head + _LINE, heading - _LINE)
    if at >= 0:
        restamp(target + at, stream, sequence, time)
    done = min(length, room)
    if done > heading:
        copy(target + heading, bodies + kind * body_bytes + heading, done - heading)
    demote(target)
    say(ring, slot, what, where, done, length > done)
    return done


@step
def go_on(ring, slot, source, left):
    """Write as much of the rest of a packet as the slot holds; return its bytes, or a negative code."""
    target, part, what, where = place_of(ring, slot, left)
    if target < 0:
        return target
    if part == 0:
        return BAD_INPUT
    copy(target, source, part)
    say(ring, slot, what, where, part, left > part)
    return part


@step
def build(ring, kept, slot, free, kind, length, flow, sequence, time):
    """Write one packet into the `free` slots from `slot` on.

    Returns
    -------
    int
        Slots used; 0 if there are too few; or a negative code.
    """
    if free < 1:
        return 0
    done = begin(ring, kept, slot, kind, length, flow, sequence, time)
    if done < 0 or done == length:
        return min(done, 1)
    body = kept[2] + kind * kept[3]
    for used in range(1, free):
        part = go_on(ring, slot + used, body + done, length - done)
        if part < 0:
            return part
        done += part
        if done == length:
            return used + 1
    return 0
