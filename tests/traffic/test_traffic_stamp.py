"""The stamp: what Python writes compiled code reads, and the other way round."""

from __future__ import annotations

import time

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.memif.jit import kernel
from labs.traffic import stamp
from labs.traffic.stamp import Stamp, now, read_stamp, read_time, write_stamp

STREAMS = st.integers(0, stamp.MAX_STREAM)
FLOWS = st.integers(0, stamp.MAX_FLOW)
SEQUENCES = st.integers(0, (1 << 48) - 1)
TIMES = st.integers(0, (1 << 63) - 1)
STAMPS = st.builds(Stamp, STREAMS, FLOWS, SEQUENCES, TIMES)


@kernel
def write(memory, at, stream, flow, sequence, time):
    write_stamp(np.int64(memory.ctypes.data) + at, stream, flow, sequence, time)


@kernel
def read(memory, at):
    stream, flow, sequence = read_stamp(np.int64(memory.ctypes.data) + at)
    return stream, flow, sequence, read_time(np.int64(memory.ctypes.data) + at)


@kernel
def clock(memory):
    return now(np.int64(memory.ctypes.data))


@settings(deadline=None)
@given(STAMPS, st.integers(0, 20))
def test_compiled_code_writes_what_python_reads_and_no_byte_beside_it(wanted, at):
    memory = np.full(64, 0xEE, np.uint8)
    write(memory, at, wanted.stream, wanted.flow, wanted.sequence, wanted.time_ns)
    assert Stamp.read(memory.tobytes(), at) == wanted
    outside = np.delete(memory, range(at, at + stamp.SIZE))
    assert (outside == 0xEE).all()


@settings(deadline=None)
@given(STAMPS, st.integers(0, 20))
def test_compiled_code_reads_what_python_writes(wanted, at):
    memory = np.zeros(64, np.uint8)
    memory[at : at + stamp.SIZE] = np.frombuffer(bytes(wanted), np.uint8)
    assert read(memory, at) == (wanted.stream, wanted.flow, wanted.sequence, wanted.time_ns)


@settings(deadline=None)
@given(st.binary(min_size=22, max_size=22).filter(lambda raw: raw[:2] != bytes(Stamp(0, 0, 0))[:2]))
def test_other_bytes_are_no_stamp(raw):
    assert Stamp.read(raw, 0) is None
    assert read(np.frombuffer(raw + bytes(2), np.uint8).copy(), 0)[0] == -1


@settings(deadline=None)
@given(STAMPS, st.integers(-60, 200))
def test_no_stamp_is_read_beyond_the_packet(wanted, at):
    packet = bytes(42) + bytes(wanted)
    assert Stamp.read(packet, at) == (wanted if at == 42 else None)


def test_it_fits_the_smallest_frame():
    assert 14 + 20 + 8 + stamp.SIZE == 64
    assert len(bytes(Stamp(1, 2, 3, 4))) == stamp.SIZE


def test_the_compiled_clock_is_pythons():
    memory = np.zeros(16, np.uint8)
    before = time.monotonic_ns()
    found = clock(memory)
    assert before <= found <= time.monotonic_ns()
