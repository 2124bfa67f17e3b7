from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.errors import LabError
from labs.experiments import Run
from labs.experiments.figures import figure
from labs.experiments.spread_plot import spread_plot, unit

SVG = "{http://www.w3.org/2000/svg}"
some = st.none() | st.just(0.0) | st.floats(1e-3, 1e9)


def a_run(groups):
    made = Run("rx_mode", "process", {"data plane": "VPP"}, {})
    made.summary = {
        name: {"wire_p50_us": figure(values).to_dict(), "sent": 3} for name, values in groups.items()
    }
    made.summary["changeover"] = {"rate": 2e5, "trials": [{"asked": 1.0}]}
    return made


def drawn(groups):
    return ET.fromstring(spread_plot(a_run(groups), "wire_p50_us").svg)  # noqa: S314 - we have made it


def marks(groups):
    return [float(each.get("cx")) for each in drawn(groups).iter(f"{SVG}circle")]


def words(groups):
    return [each.text for each in drawn(groups).iter(f"{SVG}text")]


def test_each_setting_has_its_name_its_mark_and_its_figures():
    groups = {"polling": [3.0, 4.0, 9.0], "interrupt": [80.0, 90.0, 85.0]}
    assert {"polling", "interrupt", "4 (3 to 9)", "85 (80 to 90)"} <= set(words(groups))
    polling, interrupt = marks(groups)
    assert polling < interrupt


def test_a_bar_reaches_from_the_lowest_to_the_highest_window():
    (bar,) = [
        each
        for each in drawn({"a": [10.0, 20.0, 40.0]}).iter(f"{SVG}path")
        if each.get("stroke-width") == "3"
    ]
    low, high = map(float, re.match(r"M(\S+) \S+H(\S+)$", bar.get("d")).groups())
    (middle,) = marks({"a": [10.0, 20.0, 40.0]})
    assert (middle - low) * 2 == pytest.approx(high - middle, rel=0.01)


def test_what_spans_much_stands_by_factors():
    a, b, c = marks({"a": [1.0], "b": [100.0], "c": [10_000.0]})
    assert b - a == pytest.approx(c - b)


def test_a_setting_without_a_value_has_no_mark_and_says_so():
    assert len(marks({"polling": [3.0], "interrupt": [None]})) == 1
    assert "n/a" in words({"polling": [3.0], "interrupt": [None]})


def test_the_picture_has_its_words_for_who_cannot_see_it():
    picture = spread_plot(a_run({"a & b": [1.0, 2.0, 3.0]}), "wire_p50_us")
    assert ET.fromstring(picture.svg).get("aria-label") == repr(picture).replace("\n", " ")  # noqa: S314 - likewise
    assert "a & b: 2 (1 to 3)" in repr(picture)
    assert "wire p50, µs" in repr(picture)


@given(
    st.dictionaries(
        st.text(st.characters(categories=["L"]), min_size=1),
        st.lists(some, min_size=1, max_size=4),
        min_size=1,
        max_size=9,
    )
)
def test_any_figures_can_be_drawn_within_the_picture(groups):
    picture = drawn(groups)
    width = float(picture.get("width"))
    assert all(0 <= float(each.get("cx")) <= width for each in picture.iter(f"{SVG}circle"))


@pytest.mark.parametrize("name", ["wire", "sent", "rate", "trials"])
def test_a_figure_that_there_is_not_is_refused_with_those_there_are(name):
    with pytest.raises(LabError, match=f"has no figure '{name}'") as told:
        a_run({"polling": [1.0]}).figure(name)
    assert told.value.hint == "it has wire_p50_us."


def test_a_run_without_figures_says_so():
    with pytest.raises(LabError) as told:
        Run("rx_mode", "process", {}, {}).figure("wire_p50_us")
    assert told.value.hint == "it has none yet."


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("wire_p50_us", "µs"),
        ("gbit_per_s", "Gbit/s"),
        ("wakes_per_s", "a second"),
        ("cpu_percent", "%"),
        ("sent", ""),
    ],
)
def test_a_unit_ends_a_name(name, said):
    assert unit(name) == said
