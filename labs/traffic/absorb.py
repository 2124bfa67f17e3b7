"""The sink's kernel: count what comes, and give the slots back."""
# ruff: noqa: ANN001, ANN201 - numba infers the types, and calls intrinsics by its own rules
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.memif.atoms import pause
from labs.memif.control import BYTES as ALL_BYTES
from labs.memif.control import DROPPED, ENDLESS_CHAIN, POSITION, SIZE, STOP
from labs.memif.control import PACKETS as ALL_PACKETS
from labs.memif.hints import prefetch
from labs.memif.jit import kernel, step
from labs.memif.kernels import give_back
from labs.memif.steps import look, packet_in, publish
from labs.traffic.blocks import (
    AT,
    BEGAN,
    BYTES,
    DELAY,
    DONE,
    EDGE,
    EMPTY,
    FIRST,
    GOING,
    HALT,
    HALTED,
    IDLE,
    LAST,
    LASTS,
    LINK_STOPPED,
    NOW,
    PACKETS,
    SCRATCH,
    STALE,
    WAITS,
    WINDOW,
    WINDOWS,
)
from labs.traffic.numbering import note
from labs.traffic.stamp import now

_MOST = 512  # packets taken before their slots are given back
_AHEAD = 24  # packets
_GATHER = 256  # packets worth waiting for: fewer, larger bursts leave the peer's cache lines alone
_LOOKS, _PAUSES = 10, 100  # how long to wait for them: some 40 µs on x86


@step
def take_some(q, run, table, available, time):
    """Take packets from the `available` slots and give the slots back.

    Returns
    -------
    int
        Slots, or a negative code.
    """
    begin = position = q[POSITION]
    end = position + available
    count = 0
    total = 0
    fault = 0
    while position < end and count < _MOST:
        address, length, goes_on = packet_in(q, position)
        if position + _AHEAD < end:
            ahead, _, _ = packet_in(q, position + _AHEAD)
            prefetch(ahead + run[AT])
        room = length
        used = 1
        while goes_on and address >= 0 and position + used < end:
            address_on, part, goes_on = packet_in(q, position + used)
            address = address_on if address_on < 0 else address
            length += part
            used += 1
        if address < 0:
            fault = address
            break
        if goes_on:
            fault = ENDLESS_CHAIN if available == q[SIZE] and count == 0 else 0
            break
        if length:
            note(run, table, address, length, room, time)
            count += 1
            total += length
        else:
            run[EMPTY] += 1
            q[DROPPED] += 1
        position += used
    if position != begin:
        give_back(q, begin, position)
        publish(q, position)
        q[ALL_PACKETS] += count
        q[ALL_BYTES] += total
        run[PACKETS] += count
        run[BYTES] += total
        if run[FIRST] == 0:
            run[FIRST] = time
        run[LAST] = time
    return fault if fault < 0 else position - begin


@step
def clear(q, run):
    """Give back what was sent before the sink began."""
    stale = look(q)
    if stale > 0:
        give_back(q, q[POSITION], q[POSITION] + stale)
        publish(q, q[POSITION] + stale)
    run[STALE] = max(stale, 0)


@step
def gather(q):
    """Look at the ring, and if there are only a few packets give them a moment to become more."""
    available = look(q)
    if available > 0:
        looks = 0
        while 0 < available < min(_GATHER, q[SIZE] // 4) and looks < _LOOKS:
            for _ in range(_PAUSES):
                pause()
            available = look(q)
            looks += 1
    return available


@step
def turn_over(run, windows, time):
    """Write the counts down whenever a window is over."""
    if run[EDGE] == 0:
        run[EDGE] = time + run[WINDOW]
    if time >= run[EDGE]:
        row = windows[run[WINDOWS] % windows.shape[0]]
        row[0], row[1], row[2] = time, run[PACKETS], run[BYTES]
        run[WINDOWS] += 1
        run[EDGE] += run[WINDOW] * ((time - run[EDGE]) // run[WINDOW] + 1)


@step
def over(q, run, time):
    """Return why to end now, or `GOING`."""
    if q[STOP]:
        return LINK_STOPPED
    if run[HALT]:
        return HALTED
    return DONE if 0 < run[LASTS] <= time - run[BEGAN] else GOING


@kernel
def absorb(q, run, table, windows):
    """Take packets until told to stop, or until there are none for one that sleeps.

    Parameters
    ----------
    q : ndarray of int64
        Control block of a ring we receive on.
    run : ndarray of int64
        See `labs.traffic.blocks`.
    table : ndarray of int64, shape (flows, 16)
    windows : ndarray of int64, shape (any, 3)
        Takes time in ns, packets and bytes at the end of each window; the oldest is written over.

    Returns
    -------
    int
        Why it ended, or a negative code.
    """
    scratch = np.int64(run.ctypes.data) + SCRATCH * 8
    time = now(scratch)
    if run[BEGAN] == 0:
        clear(q, run)
        run[BEGAN] = time
    while True:
        why = over(q, run, time)
        if why != GOING:
            return why
        available = look(q) if run[DELAY] else gather(q)
        if available < 0:
            return available
        time = run[NOW] = now(scratch)
        turn_over(run, windows, time)
        slots = take_some(q, run, table, available, time) if available else 0
        if slots < 0:
            return slots
        if slots == 0:
            if run[WAITS]:
                return IDLE
            pause()
