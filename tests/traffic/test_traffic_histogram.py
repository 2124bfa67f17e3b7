from __future__ import annotations

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.errors import LabError
from labs.traffic.histogram import DIGITS, LONGEST_NS, Histogram, bucketed

times = st.lists(st.integers(1, LONGEST_NS), min_size=1, max_size=200)
few = settings(deadline=None, max_examples=12)  # the library walks through its buckets in Python
percentiles = st.sampled_from([0, 1, 50, 90, 99, 99.9, 100])


def one_by_one(values):
    """Record each value by itself, as the library would have it."""
    slow = HdrHistogram(1, LONGEST_NS, DIGITS)
    for each in values:
        assert slow.record_value(each)
    return slow


@few
@given(times, percentiles)
def test_counting_many_at_once_changes_no_percentile(values, q):
    assert Histogram.of(values).percentile_ns(q) == one_by_one(values).get_value_at_percentile(q)


@few
@given(times)
def test_a_bucket_begins_where_the_library_says(values):
    slow = HdrHistogram(1, LONGEST_NS, DIGITS)
    expected = [slow.get_lowest_equivalent_value(each) for each in values]
    assert bucketed(np.array(values)).tolist() == expected


@few
@given(times, percentiles)
def test_a_percentile_is_a_sample_to_three_digits(values, q):
    found = Histogram.of(values).percentile_ns(q)
    assert min(abs(found - each) / each for each in values) < 2 * 10**-DIGITS


@few
@given(times)
def test_half_of_the_times_do_not_exceed_the_median(values):
    median = Histogram.of(values).percentile_ns(50)
    assert sum(each <= median for each in values) >= len(values) / 2 - 0.5
    below = median * (1 - 2 * 10**-DIGITS)
    assert sum(each < below for each in values) <= len(values) / 2 + 0.5


@few
@given(times, times)
def test_merging_is_recording_all(some, others):
    merged = Histogram.of(some)
    merged.merge(Histogram.of(others))
    everything = Histogram.of(some + others)
    assert merged.count == everything.count == len(some) + len(others)
    assert [merged.percentile_ns(q) for q in (0, 50, 99, 100)] == [
        everything.percentile_ns(q) for q in (0, 50, 99, 100)
    ]


@few
@given(times)
def test_the_frame_holds_every_time(values):
    frame = Histogram.of(values).to_frame()
    assert frame["count"].sum() == len(values)
    assert frame["time (µs)"].is_monotonic_increasing
    assert frame["percentile"].iloc[-1] == 100


def test_merging_nothing_and_into_nothing():
    empty, some = Histogram(), Histogram.of([5, 7])
    some.merge(empty)
    empty.merge(some)
    assert empty.count == some.count == 2
    assert empty.percentile_ns(100) == 7


@pytest.mark.parametrize(("time", "counts_as"), [(0, 1), (-5, 1), (10 * LONGEST_NS, LONGEST_NS)])
def test_what_is_out_of_range_counts_at_its_edge(time, counts_as):
    found = Histogram.of([time])
    assert found.count == 1
    assert found.percentile_ns(50) == pytest.approx(counts_as, rel=10**-DIGITS)


@pytest.mark.parametrize("q", [-1, 100.5, float("nan")])
def test_no_such_percentile(q):
    with pytest.raises(LabError, match="no percentile"):
        Histogram.of([1]).percentile(q)


def test_no_percentile_of_nothing():
    with pytest.raises(LabError, match="no times"):
        Histogram().percentile(50)
    assert str(Histogram()) == "no times"
