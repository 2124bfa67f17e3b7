from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.bench.compare import FELL, FEW, NOISE, ROSE
from labs.experiments.figures import change, figure, ratio

times = st.floats(1e-3, 1e6)


def test_a_figure_is_its_median_with_the_lowest_and_the_highest_window():
    assert figure([3.0, 1.0, 2.0]).to_dict() == {"median": 2.0, "lowest": 1.0, "highest": 3.0}


def test_windows_without_a_value_are_left_out():
    assert figure([None, 1.0, None, 3.0]).to_dict() == {"median": 2.0, "lowest": 1.0, "highest": 3.0}


@pytest.mark.parametrize("values", [[], [None], [None, None]])
def test_without_a_value_there_is_no_median(values):
    assert figure(values).to_dict() == {"median": None, "lowest": None, "highest": None}
    assert figure(values).outliers == []


def test_a_window_far_from_the_others_is_named_by_its_place():
    assert figure([1.0, 1.02, None, 7.0, 0.99]).outliers == [3]


def test_a_window_far_below_the_others_is_one_too():
    assert figure([10.0, 10.1, 0.5, 9.9]).outliers == [2]


@pytest.mark.parametrize("values", [[1.0, 9.0], [1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.2], [0.0, 0.0, 0.0]])
def test_windows_that_scatter_or_are_few_or_differ_by_little_have_none(values):
    assert figure(values).outliers == []


@given(st.lists(times, min_size=3, max_size=9), st.floats(0.01, 100))
def test_outliers_do_not_depend_on_the_unit(values, unit):
    scaled = figure([value * unit for value in values])
    edge = np.median(np.abs(np.array(values) - np.median(values)))
    near = [
        abs(abs(v - np.median(values)) - e) < 1e-6 * max(values)
        for v in values
        for e in (5 * edge, 0.25 * np.median(values))
    ]
    if not any(near):
        assert scaled.outliers == figure(values).outliers


@given(st.lists(times, min_size=1, max_size=9))
def test_the_median_lies_between_the_lowest_and_the_highest(values):
    told = figure(values).to_dict()
    assert told["lowest"] <= told["median"] <= told["highest"]
    assert len(figure(values).outliers) < max(len(values) / 2, 1)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([1.0, 1.1, 1.05], [2.0, 2.2, 2.1], ROSE),
        ([2.0, 2.2, 2.1], [1.0, 1.1, 1.05], FELL),
        ([1.0, 2.0, 1.5], [1.6, 2.4, 2.0], NOISE),
        ([1.0, 2.0, 1.5], [2.1, 2.4, 2.3], NOISE),
        ([1.0, 1.001, 1.0], [1.04, 1.041, 1.04], NOISE),
        ([0.0, 0.0], [0.0, 0.0], NOISE),
        ([0.0, 0.0], [5.0, 6.0], ROSE),
        ([1.0], [2.0, 2.0], FEW),
        ([1.0, None], [2.0, 2.0], FEW),
    ],
)
def test_it_differs_only_where_the_windows_lie_further_apart_than_they_scatter(before, after, said):
    assert change(figure(before), figure(after)) == said


@given(st.lists(times, min_size=2, max_size=6), st.lists(times, min_size=2, max_size=6))
def test_the_other_way_round_the_opposite_is_said(a, b):
    opposite = {ROSE: FELL, FELL: ROSE, NOISE: NOISE}
    assert change(figure(b), figure(a)) == opposite[change(figure(a), figure(b))]


@given(st.lists(times, min_size=2, max_size=6))
def test_a_figure_does_not_differ_from_itself(values):
    assert change(figure(values), figure(values)) == NOISE


def test_a_ratio_is_of_medians_and_of_nothing_unknown():
    assert ratio(figure([10.0, 20.0, 30.0]), figure([4.0])) == 5.0
    assert ratio(figure([]), figure([1.0])) is None
    assert ratio(figure([1.0]), figure([None])) is None
    assert ratio(figure([1.0]), figure([0.0])) is None
    assert not math.isnan(ratio(figure([1.0, None]), figure([2.0])))
