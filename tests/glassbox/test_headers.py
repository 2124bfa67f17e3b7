"""Checksums of headers against the plain reckoning of RFC 1071."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.glassbox import headers
from labs.glassbox.memory import net16, set8, set_net16
from labs.memif.jit import kernel

TTL, CHECKSUM = 8, 10


def plain_sum(raw):
    """Return the ones' complement sum of bytes, in network order."""
    total = sum(struct.unpack(f"!{len(raw) // 2}H", raw[: len(raw) // 2 * 2]))
    total += raw[-1] << 8 if len(raw) % 2 else 0
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def turned(value):
    return (value & 0xFF) << 8 | value >> 8


@kernel
def summed(data, size):
    return headers.sum_of(np.int64(data.ctypes.data), size)


@kernel
def judged(data):
    return headers.is_sound(np.int64(data.ctypes.data))


@kernel
def aged(data, before, after):
    """Age a header for every pair of time to live and checksum."""
    ip = np.int64(data.ctypes.data)
    for number in range(before.size):
        set8(ip + TTL, before[number] >> 16)
        set_net16(ip + CHECKSUM, before[number])
        headers.age(ip)
        after[number] = net16(ip + CHECKSUM)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_the_sum_of_any_bytes(raw):
    assert turned(int(summed(np.frombuffer(raw + b"\xaa", np.uint8).copy(), len(raw)))) == plain_sum(raw)


@pytest.mark.parametrize("byte", [0, 0xFF])
def test_the_sum_of_the_longest_packet(byte):
    raw = bytes([byte]) * 9536
    assert turned(int(summed(np.frombuffer(raw, np.uint8).copy(), len(raw)))) == plain_sum(raw)


@settings(deadline=None)
@given(st.binary(min_size=20, max_size=20))
def test_a_header_is_sound_exactly_if_its_sum_is_all_ones(raw):
    fixed = raw[:10] + b"\0\0" + raw[12:]
    right = fixed[:10] + (~plain_sum(fixed) & 0xFFFF).to_bytes(2) + fixed[12:]
    for each in (raw, right):
        assert judged(np.frombuffer(each, np.uint8).copy()) == (plain_sum(each) == 0xFFFF)


def test_ageing_gives_what_a_new_sum_would_for_every_time_to_live_and_checksum():
    ttls, checksums = np.arange(1, 256), np.arange(1 << 16)
    before = (ttls[:, None] << 16 | checksums[None, :]).ravel()
    after = np.zeros(before.size, np.int64)
    aged(np.zeros(20, np.uint8), before, after)
    # RFC 1624, equation 3, with the field that holds time to live and protocol
    old_field, new_field = ttls << 8, (ttls - 1) << 8
    total = (~checksums & 0xFFFF)[None, :] + (~old_field & 0xFFFF)[:, None] + new_field[:, None]
    for _ in range(2):
        total = (total & 0xFFFF) + (total >> 16)
    assert (after == (~total & 0xFFFF).ravel()).all()


@settings(deadline=None)
@given(st.binary(min_size=20, max_size=20), st.integers(1, 255))
def test_ageing_a_real_header(raw, ttl):
    fixed = bytearray(b"\x45" + raw[1:])
    fixed[TTL], fixed[CHECKSUM : CHECKSUM + 2] = ttl, b"\0\0"
    fixed[CHECKSUM : CHECKSUM + 2] = (~plain_sum(bytes(fixed)) & 0xFFFF).to_bytes(2)
    one = np.frombuffer(bytes(fixed), np.uint8).copy()
    after = np.zeros(1, np.int64)
    aged(one, np.array([ttl << 16 | int.from_bytes(fixed[CHECKSUM : CHECKSUM + 2])]), after)
    fixed[TTL], fixed[CHECKSUM : CHECKSUM + 2] = ttl - 1, b"\0\0"
    assert one[TTL] == ttl - 1
    assert after[0] == ~plain_sum(bytes(fixed)) & 0xFFFF
