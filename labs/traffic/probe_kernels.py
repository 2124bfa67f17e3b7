"""The probe's loop: compiled, without the GIL, nothing allocated.

The loop does three things in turn, and waits for none of them: it takes what has come back, it looks at the
clock, it sends what is due. The time of a reply is read right after the reply was seen, the time of a request
right before it is written; so a round trip holds all of our own work, and `labs.traffic.floor` tells how
much that is.

The clock is CLOCK_MONOTONIC through the vDSO (`labs.traffic.stamp.now`): no system call, 25 ns a look where
the kernel's clock source is the TSC, a resolution of one nanosecond, the same on all cores and in all
processes. The TSC itself would take 10 ns, but it has to be calibrated, is not to be trusted on every
machine, and is another register on Arm.
"""
# ruff: noqa: ANN001, ANN201 - numba infers the types, and calls intrinsics by its own rules
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np
from numba import types

from labs.memif.atoms import copy, fence, store16, store64
from labs.memif.control import BAD_INPUT, DOORBELL, FLAGS, POSITION
from labs.memif.control import STOP as CLOSED
from labs.memif.jit import kernel, step
from labs.memif.kernels import give_back
from labs.memif.steps import fill, look, packet_in, publish, ring_bell, room_in, wants_bell
from labs.traffic.stamp import SIZE as STAMP_SIZE
from labs.traffic.stamp import now, read_stamp

# the probe's own block: what does not change
FRAME, LENGTH, STAMP_AT, SUM, STREAM = 0, 1, 2, 3, 4
LIMIT, PATIENCE, GAP_OVER, SLEEPS, SPINS = 5, 6, 7, 8, 9
# and what the loop keeps
STOP, NEXT, HIGHEST, ANSWERED, FOREIGN, TWICE, LAST_SENT, LOOKED, CHAINED = range(16, 25)
GAPS, GAP_NS, GAP_LONGEST = 25, 26, 27
CLOCK, POLL, TIMEOUT = 32, 34, 35  # scratch for system calls
STATE_WORDS = 40

DONE, STOPPED = 1, 2
"""Why a loop has returned: all is answered or given up; or it was stopped, or the link went down."""

# an echo's block
E_STOP, E_DELAY, E_STALL_FROM, E_STALL_UNTIL, E_DROP, E_TIMED, E_SLEEPS, E_STAMPED, E_COUNT, E_CLOCK = range(
    10
)
ECHO_WORDS = 24
_E_POLL = 16

POLLIN = 1
MASKED = 1  # the ring's flag: no doorbell, please
_CHECKSUM_BEFORE, _SEQUENCE_BEFORE = 6, 2  # bytes before the stamp
_NUMBER_AFTER = 6  # and after its begin
_SPIN_NS = 30_000  # what a sleeper wakes before its time: it may be woken late by about as much
_LONGEST_NAP_NS = 20_000_000

c_ppoll = types.ExternalFunction("ppoll", types.int32(types.int64, types.uint64, types.int64, types.int64))
c_read = types.ExternalFunction("read", types.int64(types.int32, types.int64, types.uint64))


@step
def emit(tx, s, number):
    """Send request `number`; return 1, or 0 where there is no room, or a negative code.

    Its three words that change are written in the ring, and the ICMP checksum is brought up to date by them
    (RFC 1624); a sum of 16-bit words may be taken in either byte order (RFC 1071).
    """
    free = look(tx)
    if free <= 0:
        return free
    slot = tx[POSITION]
    target, capacity = room_in(tx, slot)
    if target < 0:
        return target
    if capacity < s[LENGTH]:
        return BAD_INPUT
    copy(target, s[FRAME], s[LENGTH])
    stamp = target + s[STAMP_AT]
    sequence = ((number & 0xFF) << 8) | ((number >> 8) & 0xFF)
    total = s[SUM] + sequence + (number & 0xFFFF) + ((number >> 16) & 0xFFFF) + ((number >> 32) & 0xFFFF)
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    store16(stamp - _CHECKSUM_BEFORE, ~total & 0xFFFF)
    store16(stamp - _SEQUENCE_BEFORE, sequence)
    store64(stamp + _NUMBER_AFTER, number | (s[STREAM] << 48))
    fill(tx, slot, s[LENGTH], 0)
    publish(tx, slot + 1)
    if wants_bell(tx):
        ring_bell(tx)
    return 1


@step
def collect(rx, s, got, available, moment):
    """Take what has arrived: note the time of each reply of ours; return a code for a peer's fault."""
    begin = position = rx[POSITION]
    code = 0
    while position < begin + available:
        source, length, goes_on = packet_in(rx, position)
        if source < 0:
            code = source
            break
        ours = False
        if not s[CHAINED] and length >= s[STAMP_AT] + STAMP_SIZE:
            stream, _, number = read_stamp(source + s[STAMP_AT])
            ours = stream == s[STREAM] and number < s[NEXT]
            if ours and got[number]:
                s[TWICE] += 1
            elif ours:
                got[number] = moment
                s[ANSWERED] += 1
                s[HIGHEST] = max(s[HIGHEST], number)
        s[FOREIGN] += not ours and not s[CHAINED]
        s[CHAINED] = goes_on
        position += 1
    if position != begin:
        give_back(rx, begin, position)
        publish(rx, position)
    return code


@step
def note_gap(s, gaps, begin, end):
    """Note a time in which we did not look: the kernel gave our core to another, or took us off it."""
    length = end - begin
    if length > s[GAP_OVER]:
        if s[GAPS] < gaps.shape[0]:
            gaps[s[GAPS], 0] = begin
            gaps[s[GAPS], 1] = length
        s[GAPS] += 1
        s[GAP_NS] += length
        s[GAP_LONGEST] = max(s[GAP_LONGEST], length)


@step
def nap(rx, s, gaps, moment, until):
    """Sleep on our doorbell until it rings or it is `until`; oversleeping is a gap.

    The peer is asked to ring only while we sleep.
    """
    base = np.int64(s.ctypes.data)
    left = until - moment
    s[POLL] = rx[DOORBELL] | (POLLIN << 32)
    s[TIMEOUT] = left // 1_000_000_000
    s[TIMEOUT + 1] = left % 1_000_000_000
    store16(rx[FLAGS], 0)
    fence()
    rung = 1
    if look(rx) == 0:
        rung = c_ppoll(base + 8 * POLL, 1, base + 8 * TIMEOUT, 0)
        if rung > 0:
            c_read(rx[DOORBELL], base + 8 * TIMEOUT, 8)
    store16(rx[FLAGS], MASKED)
    woken = now(base + 8 * CLOCK)
    if rung == 0:
        note_gap(s, gaps, until, woken)
    s[LOOKED] = woken


@step
def under_way(s):
    """Return how many requests are not answered yet; one that an answered request has overtaken is lost."""
    return s[NEXT] - 1 - s[HIGHEST]


@step
def send_due(tx, s, due, sent, moment):
    """Send the next request if it is due; return until when there is nothing to send, or a negative code."""
    number = s[NEXT]
    if number == due.size:
        return moment + _LONGEST_NAP_NS
    if under_way(s) >= s[LIMIT]:
        if moment > s[LAST_SENT] + s[PATIENCE]:
            s[HIGHEST] = number - 1  # given up
        return moment + _LONGEST_NAP_NS
    if moment < due[number]:
        return due[number] - _SPIN_NS
    code = emit(tx, s, number)
    if code > 0:
        sent[number] = moment
        s[LAST_SENT] = moment
        s[NEXT] = number + 1
    return min(code, moment)


@step
def turn(tx, rx, s, due, sent, got, gaps):
    """Go once round; return 0, why it is over, or a negative code."""
    available = look(rx)
    if available < 0:
        return available
    moment = now(np.int64(s.ctypes.data) + 8 * CLOCK)
    note_gap(s, gaps, s[LOOKED], moment)
    s[LOOKED] = moment
    if available:
        code = collect(rx, s, got, available, moment)
        if code < 0:
            return code
    if tx[CLOSED] or rx[CLOSED] or s[STOP]:
        return STOPPED
    if s[ANSWERED] == due.size or moment > max(due[due.size - 1], s[LAST_SENT]) + s[PATIENCE]:
        return DONE
    wake = send_due(tx, s, due, sent, moment)
    if wake < 0:
        return wake
    awaits = under_way(s) > 0 and moment < s[LAST_SENT] + s[SPINS]
    if s[SLEEPS] and not available and not awaits and wake > moment:
        nap(rx, s, gaps, moment, min(wake, moment + _LONGEST_NAP_NS))
    return 0


@kernel
def probe(tx, rx, s, due, sent, got, gaps):
    """Send each request when it is due, and note when its reply was seen.

    Parameters
    ----------
    tx, rx : ndarray of int64
        Control blocks of the ring we send on and the one we receive on, which may be another link's.
    s : ndarray of int64, shape (STATE_WORDS,)
        The block above.
    due, sent, got : ndarray of int64, shape (requests,)
        CLOCK_MONOTONIC in ns: when each is to be sent; takes when it was, and when its reply was seen.
    gaps : ndarray of int64, shape (capacity, 2)
        Takes the times in which we did not look: begin and length in ns.

    Returns
    -------
    int
        `DONE`, `STOPPED`, or a negative code.
    """
    s[LOOKED] = now(np.int64(s.ctypes.data) + 8 * CLOCK)
    code = 0
    while code == 0:
        code = turn(tx, rx, s, due, sent, got, gaps)
    return code
