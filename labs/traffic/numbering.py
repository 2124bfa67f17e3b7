"""What a sink notes of each packet: which numbers are missing, late or twice there, and how long it took."""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.memif.jit import step
from labs.traffic.blocks import (
    AT,
    DELAY,
    DELAY_COUNT,
    DELAY_MAX,
    DELAY_MIN,
    DELAY_SUM,
    DUPLICATES,
    EARLIER,
    FLOWS,
    LENGTH,
    LOST,
    LOWEST,
    NEXT,
    ORIGIN,
    OTHER,
    RECENT,
    REORDERED,
    STRANGE,
    STREAM,
    UNIQUE,
)
from labs.traffic.stamp import SIZE as STAMP_SIZE
from labs.traffic.stamp import read_stamp, read_time

_BITS = 64


@step
def follow(row, stream, sequence):
    """Follow a stream from here on, and settle what the one before it has lost."""
    if row[UNIQUE]:
        row[LOST] += max(row[NEXT] - row[LOWEST] - row[UNIQUE], 0)
        row[EARLIER] += row[UNIQUE]
        row[UNIQUE] = 0
    row[ORIGIN] = stream
    row[LOWEST] = row[NEXT] = sequence
    row[RECENT] = 0


@step
def number(row, stream, sequence):
    """Note one packet's sequence number in the row of its flow.

    A packet is reordered when its number is below the next one expected (RFC 4737), unless it is among the
    last 64 numbers and has come before: then it is a duplicate.
    """
    if row[UNIQUE] == 0 or stream != row[ORIGIN]:
        follow(row, stream, sequence)
    ahead = sequence - row[NEXT]
    if ahead >= 0:
        row[RECENT] = (row[RECENT] << (ahead + 1) if ahead < _BITS - 1 else 0) | 1
        row[NEXT] = sequence + 1
    else:
        back = -ahead - 1
        if back < _BITS and (row[RECENT] >> back) & 1:
            row[DUPLICATES] += 1
            return
        row[REORDERED] += 1
        row[LOWEST] = min(row[LOWEST], sequence)
        if back < _BITS:
            row[RECENT] |= np.int64(1) << back
    row[UNIQUE] += 1


@step
def delay(run, address, time):
    """Note how long ago a packet was sent, if its stamp says so."""
    sent = read_time(address)
    if 0 < sent <= time:
        took = time - sent
        run[DELAY_MIN] = min(run[DELAY_MIN], took)
        run[DELAY_MAX] = max(run[DELAY_MAX], took)
        run[DELAY_SUM] += took
        run[DELAY_COUNT] += 1


@step
def note(run, table, address, length, room, time):
    """Note a packet of `length` bytes, the first `room` of which lie at an address."""
    stream, flow, sequence = -1, 0, 0
    if room >= run[AT] + STAMP_SIZE:
        stream, flow, sequence = read_stamp(address + run[AT])
    if stream < 0:
        run[OTHER] += 1
    elif flow >= run[FLOWS] or (stream != run[STREAM] and run[STREAM] >= 0):
        run[STRANGE] += 1
    else:
        row = table[flow]
        number(row, stream, sequence)
        row[LENGTH] += length
        if run[DELAY]:
            delay(run, address + run[AT], time)
