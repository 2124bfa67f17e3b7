from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.bench.thinning import thin


def rows(count, span=60.0, start=1000.0):
    return start + np.arange(count) * span / count


@st.composite
def tracks(draw):
    count, seed = draw(st.integers(1, 400)), draw(st.integers(0, 2**31))
    random = np.random.default_rng(seed)
    column = random.normal(size=(count, 2)) * 10.0 ** draw(st.integers(-3, 6))
    column[random.random((count, 2)) < draw(st.sampled_from((0, 0.1, 0.9)))] = np.nan
    return rows(count, start=draw(st.floats(0, 1e5))), column.astype(np.float32)


@given(tracks())
def test_peaks_and_dips_of_every_column_stay(track):
    times, given_values = track
    _, thinned = thin(times, given_values, span=60, most=40)
    for column in range(2):
        before, after = given_values[:, column], thinned[:, column]
        if not np.isnan(before).all():
            assert np.nanmax(after) == np.nanmax(before)
            assert np.nanmin(after) == np.nanmin(before)


@given(tracks())
def test_it_is_as_short_as_asked_and_times_rise(track):
    times, thinned = thin(*track, span=60, most=40)
    assert len(times) == len(thinned)
    assert len(times) <= 42  # a stretch may be cut at either end
    assert (np.diff(times) > 0).all()


@given(tracks())
def test_no_value_is_invented(track):
    _, thinned = thin(*track, span=60, most=40)
    known = set(track[1][~np.isnan(track[1])].tolist())
    assert set(thinned[~np.isnan(thinned)].tolist()) <= known


def test_few_rows_are_given_back_as_they_are():
    times, column = rows(40), np.ones((40, 1), np.float32)
    assert thin(times, column, span=60, most=40) == (times, column)


def test_a_gap_stays_a_gap():
    column = np.ones((1200, 1), np.float32)
    column[600:640] = np.nan
    times, thinned = thin(rows(1200), column, span=60, most=600)
    gap = np.isnan(thinned[:, 0])
    assert times[gap].min() == pytest.approx(1030, abs=0.2)
    assert times[gap].max() == pytest.approx(1032, abs=0.2)


def test_a_point_stays_the_same_as_time_goes_by():
    times = np.arange(0, 1600) * 0.05
    column = np.sin(times * 37).astype(np.float32)[:, None]
    early = thin(times[:1210], column[:1210], span=60, most=600)
    late = thin(times[100:1400], column[100:1400], span=60, most=600)
    both = np.intersect1d(early[0], late[0])[4:-4]  # stretches at either end may be incomplete
    assert len(both) > 500
    at = [np.searchsorted(each[0], both) for each in (early, late)]
    assert (early[1][at[0]] == late[1][at[1]]).all()


def test_a_rise_is_drawn_as_a_rise():
    _, thinned = thin(rows(1200), np.arange(1200, dtype=np.float32)[:, None], span=60, most=600)
    assert (np.diff(thinned[:, 0]) > 0).all()
