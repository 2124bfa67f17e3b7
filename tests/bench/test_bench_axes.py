from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.bench.axes import LogAxis, StepAxis


def latency():
    return LogAxis(1.0, 1e5, least=0.01, most=1e8)


def test_what_fits_moves_nothing():
    axis = latency()
    axis.see(1.0, 1e5)
    assert axis.range == (1.0, 1e5)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.26, 50.0, (0.1, 1e5)),
        (2.0, 1.2e5, (1.0, 1e6)),
        (0.0001, 1e12, (0.01, 1e8)),
        (0.0, 10.0, (1.0, 1e5)),
        (-1.0, math.nan, (1.0, 1e5)),
        (math.nan, math.inf, (1.0, 1e5)),
    ],
)
def test_a_log_axis_widens_to_whole_decades_within_its_bounds(low, high, expected):
    axis = latency()
    axis.see(low, high)
    assert axis.range == pytest.approx(expected)


def test_a_log_axis_never_shrinks_until_it_is_reset():
    axis = latency()
    axis.see(0.5, 2e5)
    axis.see(10.0, 20.0)
    assert axis.range == pytest.approx((0.1, 1e6))
    axis.reset()
    assert axis.range == (1.0, 1e5)


@given(st.lists(st.floats(1e-4, 1e4), min_size=1))
def test_a_step_axis_always_shows_the_highest_value(highs):
    axis = StepAxis(1.0)
    for high in highs:
        axis.see(high)
        assert high <= axis.range[1]


@given(st.floats(0.02, 1e4), st.floats(-0.04, 0.04))
def test_a_step_axis_does_not_go_to_and_fro(high, wobble):
    axis = StepAxis(1.0)
    axis.see(high)
    axis.see(high * (1 + wobble))  # it may widen once
    held = axis.range
    for _ in range(3):
        axis.see(high)
        axis.see(high * (1 + wobble))
        assert axis.range == held


@pytest.mark.parametrize(
    ("high", "top"), [(0.3, 0.5), (12.0, 20.0), (28.2, 50.0), (0.001, 0.01), (100.0, 100.0)]
)
def test_a_step_axis_has_round_tops(high, top):
    axis = StepAxis(1000.0)
    axis.see(high)
    assert axis.range == pytest.approx((0.0, top))


@pytest.mark.parametrize("nothing", [0.0, math.nan, math.inf, -1.0])
def test_a_step_axis_is_not_moved_by_what_is_no_rate(nothing):
    axis = StepAxis(20.0)
    axis.see(nothing)
    assert axis.range == (0.0, 20.0)


def test_a_share_of_a_core_never_has_an_axis_below_a_whole_one():
    axis = StepAxis(100.0, least=100.0)
    axis.see(3.0)
    assert axis.range == (0.0, 100.0)
    axis.see(160.0)
    assert axis.range == (0.0, 200.0)
