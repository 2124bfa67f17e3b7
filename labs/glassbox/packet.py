"""A packet: what we know about it, at one address, and what it holds, at another.

=======  ============================================================
at       what
=======  ============================================================
0        the address of its present header
8        bytes from there on
12       the interface it came in by
16       the interface it shall leave by
20       its adjacency: what lies behind the route that was found
24       why it is dropped (see `labs.glassbox.drops`)
28       its number in the trace, or 0
32       the address of its bytes as they came; before them is headroom
40       where these are in the memory of all packets
=======  ============================================================

A node gets the addresses of its packets' facts, written down here. The bytes lie elsewhere: a zero-copy link
shares them with its server, who may write to them at any time, but not to the facts.
"""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from labs.glassbox.memory import get32, get64, set32, set64
from labs.memif.jit import step

FACTS, HEADROOM = 64, 64
LENGTH, BASE, OFFSET = 8, 32, 40
STRIDE = 151 * 64
"""Bytes from packet to packet: an odd number of cache lines, so that their heads spread over the cache."""

ROOM = STRIDE - HEADROOM
"""The longest packet that fits."""


@step
def start(packet):
    """Return the address of the present header."""
    return get64(packet)


@step
def origin(packet):
    """Return the address of its bytes as they came."""
    return get64(packet + BASE)


@step
def length(packet):
    """Return the bytes from the present header on."""
    return get32(packet + LENGTH)


@step
def advance(packet, count):
    """Move on to the header `count` bytes behind the present one, or before it if negative."""
    set64(packet, get64(packet) + count)
    set32(packet + LENGTH, get32(packet + LENGTH) - count)


@step
def begin(packet, count, interface):
    """Make a fresh packet of `count` bytes that came in by `interface`."""
    set64(packet, get64(packet + BASE))
    set64(packet + LENGTH, count | (interface << 32))  # two facts at once
    set64(packet + 24, 0)


@step
def set_length(packet, count):
    """Say how many bytes there are from the present header on."""
    set32(packet + LENGTH, count)


@step
def came_by(packet):
    """Return the interface it came in by."""
    return get32(packet + 12)


@step
def set_came_by(packet, interface):
    """Say which interface it came in by; 0 (`local0`) for a packet that was made here."""
    set32(packet + 12, interface)


@step
def leave_by(packet, interface):
    """Say which interface it shall leave by."""
    set32(packet + 16, interface)


@step
def leaves_by(packet):
    """Return the interface it shall leave by."""
    return get32(packet + 16)


@step
def set_adjacency(packet, adjacency):
    """Note what lies behind the route that was found."""
    set32(packet + 20, adjacency)


@step
def adjacency_of(packet):
    """Return what lies behind the route that was found."""
    return get32(packet + 20)


@step
def because(packet, reason):
    """Note why it is dropped."""
    set32(packet + 24, reason)


@step
def reason_of(packet):
    """Return why it is dropped."""
    return get32(packet + 24)


@step
def set_mark(packet, number):
    """Give it a number in the trace."""
    set32(packet + 28, number)


@step
def mark_of(packet):
    """Return its number in the trace; 0 if it is not traced."""
    return get32(packet + 28)
