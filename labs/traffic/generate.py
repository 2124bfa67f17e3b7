"""The generator's kernel: when to send, and what next."""
# ruff: noqa: ANN001, ANN201 - numba infers the types, and calls intrinsics by its own rules
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np
from numba import types

from labs.memif.atoms import load64, pause, store64
from labs.memif.control import BAD_INPUT, BIAS, LAST, POSITION, SIZE, STOP
from labs.memif.control import FULL as ALL_FULL
from labs.memif.jit import kernel, step
from labs.memif.steps import hand_over, look
from labs.traffic.blocks import (
    ANCHOR,
    BEGAN,
    BEHIND,
    BUCKET,
    BYTES,
    DONE,
    FLOW,
    FLOWS,
    FULL,
    GOING,
    HALT,
    HALTED,
    LASTS,
    LIMIT,
    LINK_STOPPED,
    MISSED,
    NOW,
    PACE,
    PACKETS,
    PLACE,
    RATE,
    ROUND,
    SCRATCH,
    SINCE,
    STUCK,
)
from labs.traffic.build import build, hold_plan, hold_ring
from labs.traffic.stamp import now

_UNIT = 1e-12  # packets a ns, of which a rate is a multiple
_BATCH = 64  # packets published at a time, flat out
_SPACING = 2000.0  # ns between bursts at a rate, where a packet is not due less often
_PAUSES = 10  # where the ring is full
_PATIENCE = 1_000_000  # ns of a full ring, before the processor is left to others
_NAP = 50  # µs
_SHORT, _LONG = 200_000.0, 10_000_000.0  # ns that are worth sleeping, and the longest sleep

c_usleep = types.ExternalFunction("usleep", types.int32(types.int32))


@step
def address_of(array):
    """Return where an array's first number is."""
    return np.int64(array.ctypes.data)


@step
def send_some(q, run, plan, lengths, pattern, sequences, todo, free, time):
    """Build and publish up to `todo` packets in the `free` slots, and count them.

    Returns
    -------
    int
        Packets sent, or a negative code. Packets before the faulty one have been sent then, and are counted.
    """
    position = q[POSITION]
    flow, place, first = run[FLOW], run[PLACE], run[ROUND]
    flows, places = plan[FLOWS], pattern.size
    ring, kept = hold_ring(q), hold_plan(plan)
    # by address: numba would also allow for negative indexes
    kinds, sizes, numbers = address_of(pattern), address_of(lengths), address_of(sequences)
    sent = 0
    total = 0
    used = 1
    while sent < todo:
        kind = load64(kinds + place * 8)
        length = load64(sizes + kind * 8)
        sequence = load64(numbers + flow * 8)
        used = build(ring, kept, position, free, kind, length, flow, sequence, time)
        if used <= 0:
            break
        position += used
        free -= used
        total += length
        sent += 1
        store64(numbers + flow * 8, sequence + 1)
        flow += 1
        place += 1
        if place == places:
            place = 0
        if flow == flows:  # the next round begins one place later, so that every flow gets every size
            flow = 0
            first = first + 1 if first + 1 < places else 0
            place = first
    run[FLOW], run[PLACE], run[ROUND] = flow, place, first
    if sent:
        hand_over(q, position, sent, total)
        run[PACKETS] += sent
        run[BYTES] += total
    return used if used < 0 else sent


@step
def due(run, time):
    """Return how many packets should have been sent by now and were not, no more than the bucket holds.

    The schedule counts from the moment the rate was set, so no rounding adds up.
    """
    if run[RATE] != run[PACE]:
        run[PACE], run[ANCHOR], run[SINCE] = run[RATE], time, 0
    owed = int((time - run[ANCHOR]) * (run[PACE] * _UNIT)) - run[SINCE]
    if owed > 0:
        oldest = run[ANCHOR] + (run[SINCE] + 1) / (run[PACE] * _UNIT)
        run[BEHIND] = max(run[BEHIND], int(time - oldest))
    late = owed - run[BUCKET]
    if late > 0:
        run[MISSED] += late
        run[SINCE] += late
    return min(owed, run[BUCKET])


@step
def rest(run, owed, wanted):
    """Wait until as many packets are due as are wanted, or less long."""
    wait = (wanted - owed) / (run[PACE] * _UNIT)
    if wait > _SHORT:
        c_usleep(int(min(wait - _SHORT / 2, _LONG) / 1000))
    else:
        pause()


@step
def turn(run, time):
    """Return how many packets to send now; where it is none, some time has passed."""
    left = run[LIMIT] - run[PACKETS] if run[LIMIT] else _BATCH
    if run[RATE] == 0:
        run[PACE] = 0
        return min(_BATCH, left)
    owed = due(run, time)
    wanted = min(max(int(run[PACE] * _UNIT * _SPACING), 1), _BATCH, run[BUCKET], left)
    if owed >= wanted:
        return min(owed, _BATCH, left)
    rest(run, owed, wanted)
    return 0


@step
def full(q, run, time):
    """Wait a moment for room in the ring."""
    if run[STUCK] == 0:
        run[STUCK] = time
        run[FULL] += 1
        q[ALL_FULL] += 1
    if time - run[STUCK] > _PATIENCE:
        c_usleep(_NAP)
    else:
        for _ in range(_PAUSES):
            pause()


@step
def over(q, run, time):
    """Return why to end now, or `GOING`."""
    if q[STOP]:
        return LINK_STOPPED
    if run[HALT]:
        return HALTED
    if 0 < run[LASTS] <= time - run[BEGAN] or 0 < run[LIMIT] <= run[PACKETS]:
        return DONE
    return GOING


@kernel
def generate(q, run, plan, lengths, pattern, sequences):
    """Send packets until told to stop.

    Parameters
    ----------
    q : ndarray of int64
        Control block of a ring we send on.
    run, plan : ndarray of int64
        See `labs.traffic.blocks`.
    lengths : ndarray of int64, shape (kinds,)
        Bytes of each kind of packet.
    pattern : ndarray of int64
        The kinds in the order they are sent.
    sequences : ndarray of int64, shape (flows,)
        The next number of each flow.

    Returns
    -------
    int
        Why it ended, or a negative code.
    """
    scratch = np.int64(run.ctypes.data) + SCRATCH * 8
    enough = max(1, min(_BATCH, q[SIZE] // 2))
    time = run[BEGAN] = run[NOW] = now(scratch)
    while True:
        why = over(q, run, time)
        if why != GOING:
            return why
        time = run[NOW] = now(scratch)
        todo = turn(run, time)
        if todo == 0:
            continue
        free = (q[BIAS] + q[LAST] - q[POSITION]) & 0xFFFF  # as far as is known
        if free < enough:
            free = look(q)
        if free < 0:
            return free
        sent = 0
        if free >= min(todo, enough):
            sent = send_some(q, run, plan, lengths, pattern, sequences, todo, free, time)
            if sent < 0:
                return sent
        if sent:
            run[SINCE] += sent
            run[STUCK] = 0
        elif free == q[SIZE]:
            return BAD_INPUT  # it does not fit the empty ring
        else:
            full(q, run, time)
