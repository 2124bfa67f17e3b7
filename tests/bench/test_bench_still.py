from __future__ import annotations

from xml.etree import ElementTree as ET

import made_up_tracks as made_up
import pytest

from labs.bench.plots import Plots
from labs.bench.tables import Mark
from labs.bench.theme import SERIES

SVG = "{http://www.w3.org/2000/svg}"
NOW = 5040.0


@pytest.fixture
def plots():
    return Plots(("vpp1", "vpp2"), (0, 1))


def parsed(plots):
    return ET.fromstring(plots.svg())  # noqa: S314 - our own text


def words(plots):
    return [each.text for each in parsed(plots).iter(f"{SVG}text")]


def lines_of(plots, column):
    """Return the paths drawn in a column's style, its sample in the legend aside."""
    style = SERIES[column]
    return [
        each.get("d")
        for each in parsed(plots).iter(f"{SVG}path")
        if each.get("stroke") == style.colour
        and each.get("stroke-width") == str(style.width)
        and each.get("fill") == "none"
    ]


def test_before_anything_was_drawn_it_has_axes_and_names_only(plots):
    assert {"Round trip, log scale", "1 µs", "100 ms", "now", "60 s ago", "probe p50"} <= set(words(plots))
    assert lines_of(plots, "probe_p50") == []


def test_it_has_the_lines_that_the_page_has(plots):
    plots.draw(made_up.tables(NOW), made_up.marks(NOW), NOW)
    assert len(lines_of(plots, "received")) == 1
    assert {"pinning: same core", "pinning: a core each"} <= set(words(plots))


def test_a_gap_is_a_gap(plots):
    plots.draw(made_up.tables(NOW), [], NOW)  # nothing was measured from 52 to 50 s ago
    (line,) = lines_of(plots, "probe_p50")
    assert line.count("M") == 2


def test_every_point_lies_within_its_panel(plots):
    high = made_up.table("probe", ["probe_p50"], [NOW - 2, NOW - 1], [[1e12], [-5]])
    plots.draw({"probe": high}, [], NOW)
    (line,) = lines_of(plots, "probe_p50")
    heights = [float(point.split()[1]) for point in line[1:].split("L")]
    assert heights == [66, 226]


def test_what_a_learner_has_named_is_escaped(plots):
    plots.draw({}, [Mark(NOW - 1, "<b>&amp; now")], NOW)
    assert "<b>&amp; now" in words(plots)
