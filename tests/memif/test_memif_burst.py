from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.memif.burst import Burst, listed
from labs.memif.errors import MemifError


@given(st.lists(st.binary(min_size=1, max_size=200), max_size=20))
def test_a_burst_holds_its_packets(packets):
    burst = Burst.of(packets)
    assert len(burst) == len(packets)
    assert burst.packets() == packets
    assert not (burst.offsets % 64).any()


def test_rows_are_packets_and_are_not_copied():
    rows = np.arange(12, dtype=np.uint8).reshape(3, 4)
    burst = Burst.of(rows)
    assert burst.packets() == [bytes(range(4)), bytes(range(4, 8)), bytes(range(8, 12))]
    assert np.shares_memory(burst.data, rows)


def test_a_packet_is_a_view_and_a_copy_is_not():
    burst = Burst.of([b"abc"])
    other = burst.copy()
    burst[0][0] = ord("x")
    assert burst.packets() == [b"xbc"]
    assert other.packets() == [b"abc"]


@pytest.mark.parametrize(
    "packets",
    [
        [b""],
        [b"a", b""],
        7,
        None,
        ["text"],
        np.zeros(3, np.uint8),
        np.zeros((2, 2)),
        np.zeros((2, 0), np.uint8),
    ],
)
def test_what_is_no_packets_is_refused(packets):
    with pytest.raises(MemifError):
        Burst.of(packets)


class Packet:
    """As scapy's: made of layers, and iterable."""

    def __bytes__(self):
        return b"packet"

    def __iter__(self):
        yield self


def test_one_packet_is_a_list_of_one():
    assert listed(b"abc") == [b"abc"]
    assert listed(Packet()) == [b"packet"]
    assert listed([Packet(), b"abc"]) == [b"packet", b"abc"]
