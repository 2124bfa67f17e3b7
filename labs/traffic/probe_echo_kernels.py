"""An echo to try a probe on: compiled, without the GIL."""
# ruff: noqa: ANN001, ANN201 - numba infers the types, and calls intrinsics by its own rules
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.memif.atoms import c_poll, fence, store16
from labs.memif.control import DOORBELL, FLAGS, MASK, POSITION
from labs.memif.control import STOP as CLOSED
from labs.memif.jit import kernel, step
from labs.memif.kernels import give_back, put
from labs.memif.steps import look, packet_in, publish, ring_bell, wants_bell
from labs.traffic.probe_kernels import CLOCK, LOOKED, MASKED, POLLIN, c_read, turn
from labs.traffic.stamp import now

# an echo's block
STOP, DELAY, STALL_FROM, STALL_UNTIL, DROP, TIMED, SLEEPS, STAMPED, COUNT = range(9)
_CLOCK, _POLL = 16, 18  # scratch for system calls
WORDS = 24

_NAP_MS = 20


@step
def ripe(rx, e, seen, available):
    """Return how many of the packets that are there have waited as long as they are to.

    They wait in their ring: it is the delay line, and `seen` holds when each was first seen.
    """
    if not e[TIMED]:
        return available
    moment = now(np.int64(e.ctypes.data) + 8 * _CLOCK)
    if e[STALL_FROM] <= moment < e[STALL_UNTIL]:
        return 0
    begin = rx[POSITION]
    for slot in range(begin + e[STAMPED], begin + available):
        seen[slot & rx[MASK]] = moment
    e[STAMPED] = available
    count = 0
    while count < available and moment - seen[(begin + count) & rx[MASK]] >= e[DELAY]:
        count += 1
    return count


@step
def echo_turn(rx, tx, e, seen):
    """Send back what has come if its time is there; return how many packets, or a negative code."""
    available = look(rx)
    if available < 0:
        return available
    begin = position = rx[POSITION]
    for slot in range(begin, begin + ripe(rx, e, seen, available)):
        free = look(tx)
        source, length, _ = packet_in(rx, slot)
        if free < 0 or source < 0:
            return min(free, source)
        if not (e[DROP] and (e[COUNT] + 1) % e[DROP] == 0):
            used = put(tx, tx[POSITION], free, source, length)
            if used <= 0:
                break
            publish(tx, tx[POSITION] + used)
        e[COUNT] += 1
        position = slot + 1
    if position != begin:
        give_back(rx, begin, position)
        publish(rx, position)
        e[STAMPED] = max(e[STAMPED] - (position - begin), 0)
        if wants_bell(tx):
            ring_bell(tx)
    return position - begin


@kernel
def echo(rx, tx, e, seen):
    """Send back what comes until ``e[STOP]`` is set or the link goes down; return 0 or a negative code.

    Parameters
    ----------
    rx, tx : ndarray of int64
        Control blocks.
    e : ndarray of int64, shape (WORDS,)
        The block above.
    seen : ndarray of int64, shape (ring size,)
    """
    base = np.int64(e.ctypes.data)
    done = 0
    while done >= 0 and not (e[STOP] or rx[CLOSED] or tx[CLOSED]):
        done = echo_turn(rx, tx, e, seen)
        if done == 0 and e[SLEEPS]:
            store16(rx[FLAGS], 0)
            fence()
            e[_POLL] = rx[DOORBELL] | (POLLIN << 32)
            if look(rx) == 0 and c_poll(base + 8 * _POLL, 1, _NAP_MS) > 0:
                c_read(rx[DOORBELL], base + 8 * (_POLL + 1), 8)
            store16(rx[FLAGS], MASKED)
    return min(done, 0)


@kernel
def probe_and_echo(tx, rx, s, due, sent, got, gaps, echo_rx, echo_tx, e, seen):
    """Run a probe and an echo for it in one thread, turn by turn; see `labs.traffic.probe_kernels.probe`."""
    s[LOOKED] = now(np.int64(s.ctypes.data) + 8 * CLOCK)
    code = 0
    while code == 0:
        code = turn(tx, rx, s, due, sent, got, gaps)
        if code == 0:
            code = min(echo_turn(echo_rx, echo_tx, e, seen), 0)
    return code
