from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.bench.tracks import Column, Table, Track
from labs.errors import LabError

TWO = (Column("p50", "p50", "µs"), Column("lost", "lost", "%"))
figures = st.floats(width=32, allow_infinity=False)
rows = st.lists(st.tuples(st.floats(0, 1e6), figures, figures), max_size=40)


def filled(capacity, given_rows):
    track = Track("probe", TWO, capacity)
    for t, *values in given_rows:
        track.append(t, values)
    return track


def same(left, right):
    return np.array_equal(np.array(left, np.float32), np.array(right, np.float32), equal_nan=True)


@given(st.integers(1, 12), rows)
def test_a_track_holds_the_newest_rows_in_the_order_of_time(capacity, given_rows):
    table = filled(capacity, given_rows).since(-math.inf)
    kept = sorted(given_rows[-capacity:], key=lambda row: row[0])
    assert table.times.tolist() == [row[0] for row in kept]
    assert same(table.values.reshape(-1), [value for row in kept for value in row[1:]])


@given(st.integers(1, 12), rows, st.floats(0, 1e6))
def test_since_returns_the_rows_from_a_moment_on(capacity, given_rows, moment):
    table = filled(capacity, given_rows).since(moment)
    assert sorted(table.times) == sorted(row[0] for row in given_rows[-capacity:] if row[0] >= moment)


@given(st.integers(1, 12), rows)
def test_last_is_the_row_that_was_written_last(capacity, given_rows):
    last = filled(capacity, given_rows).last()
    assert len(last) == min(len(given_rows), 1)
    if given_rows:
        assert last.times[0] == given_rows[-1][0]
        assert same(last.values[0], given_rows[-1][1:])


@given(st.integers(1, 12), rows, rows)
def test_a_cleared_track_is_as_a_new_one(capacity, before, after):
    track = filled(capacity, before)
    track.clear()
    assert (len(track), len(track.since(-math.inf)), len(track.last())) == (0, 0, 0)
    for t, *values in after:
        track.append(t, values)
    assert track.since(-math.inf) == filled(capacity, after).since(-math.inf)


def test_what_was_read_does_not_change_when_the_track_does():
    track = filled(2, [(1.0, 1, 1), (2.0, 2, 2)])
    table, last = track.since(0), track.last()
    for t in (3.0, 4.0):
        track.append(t, (9, 9))
    assert table.times.tolist() == [1.0, 2.0]
    assert table.column("p50").tolist() == [1.0, 2.0]
    assert last.values.tolist() == [[2.0, 2.0]]


def test_writing_takes_no_memory_after_the_beginning():
    track = Track("probe", TWO, 10)
    times, values = track._times, track._values
    for t in range(1000):
        track.append(t, (t, t))
    assert track._times is times
    assert track._values is values


def is_whole(table):
    in_order = not np.any(np.diff(table.times) < 0)
    return in_order and np.array_equal(table.values, np.repeat(table.times[:, None], 8, axis=1))


def test_readers_never_see_half_a_row_while_others_write():
    columns = [Column(str(number), "", "") for number in range(8)]
    track = Track("mixed", columns, 64)
    torn, end = [], threading.Event()

    def read():
        while not end.is_set():
            torn.extend(table for table in (track.since(-math.inf), track.last()) if not is_whole(table))

    def write(first):
        for t in range(first, 6000, 3):
            track.append(t, [t] * 8)

    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [threading.Thread(target=write, args=(first,)) for first in range(3)]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    end.set()
    for thread in readers:
        thread.join()
    assert not torn
    assert len(track) == 64


def test_a_row_of_another_width_is_refused_and_nothing_is_written():
    track = filled(4, [(1.0, 1, 1)])
    with pytest.raises(ValueError, match="3 values for the 2 columns of probe"):
        track.append(2.0, (1, 2, 3))
    assert track.since(0).times.tolist() == [1.0]


def test_a_table_names_its_columns_to_whoever_asks_for_another():
    table = filled(4, [(1.0, 1, 1)]).since(0)
    with pytest.raises(LabError, match=r"no column 'p99'.\nHint: it has p50, lost"):
        table.column("p99")


def test_a_part_of_a_table_has_its_beginning_and_not_its_end():
    table = Table("t", TWO[:1], np.arange(5.0), np.arange(5, dtype=np.float32)[:, None])
    assert table.between(1, 3).times.tolist() == [1.0, 2.0]
    assert table.moved(-1).times.tolist() == [-1.0, 0.0, 1.0, 2.0, 3.0]
