"""A packet: some facts about it, headroom, then its bytes, all at one address.

=======  ============================================================
at       what
=======  ============================================================
0        where its present header begins (offset from the address)
4        bytes from there on
8        the interface it came in by
12       the interface it shall leave by
16       its adjacency: what lies behind the route that was found
20       why it is dropped (see `labs.glassbox.drops`)
24       its number in the trace, or 0
64       headroom, for headers that nodes put in front
128      bytes as they came
=======  ============================================================

A node gets the addresses of its packets. What it may touch is written down here.
"""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from labs.glassbox.memory import get32, get64, set32, set64
from labs.memif.jit import step

FACTS, HEADROOM = 64, 64
DATA = FACTS + HEADROOM
STRIDE = 151 * 64
"""Bytes from packet to packet: an odd number of cache lines, so that their heads spread over the cache."""

ROOM = STRIDE - DATA
"""The longest packet that fits."""


@step
def start(packet):
    """Return the address of the present header."""
    return packet + get32(packet)


@step
def length(packet):
    """Return the bytes from the present header on."""
    return get32(packet + 4)


@step
def advance(packet, count):
    """Move on to the header `count` bytes behind the present one, or before it if negative."""
    set64(packet, get64(packet) + count - (count << 32))  # two facts at once


@step
def begin(packet, count, interface):
    """Make a fresh packet of `count` bytes that came in by `interface`."""
    set64(packet, DATA | (count << 32))  # two facts at once
    set64(packet + 8, interface)
    set64(packet + 20, 0)


@step
def set_length(packet, count):
    """Say how many bytes there are from the present header on."""
    set32(packet + 4, count)


@step
def came_by(packet):
    """Return the interface it came in by."""
    return get32(packet + 8)


@step
def set_came_by(packet, interface):
    """Say which interface it came in by; 0 (`local0`) for a packet that was made here."""
    set32(packet + 8, interface)


@step
def leave_by(packet, interface):
    """Say which interface it shall leave by."""
    set32(packet + 12, interface)


@step
def leaves_by(packet):
    """Return the interface it shall leave by."""
    return get32(packet + 12)


@step
def set_adjacency(packet, adjacency):
    """Note what lies behind the route that was found."""
    set32(packet + 16, adjacency)


@step
def adjacency_of(packet):
    """Return what lies behind the route that was found."""
    return get32(packet + 16)


@step
def because(packet, reason):
    """Note why it is dropped."""
    set32(packet + 20, reason)


@step
def reason_of(packet):
    """Return why it is dropped."""
    return get32(packet + 20)


@step
def set_mark(packet, number):
    """Give it a number in the trace."""
    set32(packet + 24, number)


@step
def mark_of(packet):
    """Return its number in the trace; 0 if it is not traced."""
    return get32(packet + 24)
