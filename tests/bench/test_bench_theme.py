from __future__ import annotations

import re

import pytest

from labs.bench import theme
from labs.bench.panels import panels
from labs.bench.theme import DARK, LIGHT, SERIES, core_style, node_style

NODES, CORES = [f"vpp{number}" for number in range(1, 7)], range(8)


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    """Return WCAG's contrast ratio (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_what_wcag_says():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.01)


STYLES = [
    *SERIES.items(),
    *((f"node {number}", node_style(number)) for number in range(6)),
    *((f"core {number}", core_style(number)) for number in range(6)),
]


@pytest.mark.parametrize("background", [LIGHT, DARK])
@pytest.mark.parametrize(("name", "style"), STYLES)
def test_every_line_is_plain_on_both_themes(name, style, background):
    assert contrast(style.colour, background) >= 3


@pytest.mark.parametrize("panel", panels(NODES[:4], CORES), ids=lambda panel: panel.kind)
def test_no_two_lines_of_a_panel_look_alike(panel):
    looks = [(line.style.colour, line.style.dash, line.style.symbol) for line in panel.lines]
    assert len(set(looks)) == len(looks)


@pytest.mark.parametrize("panel", panels(NODES[:2], (0, 1)), ids=lambda panel: panel.kind)
def test_lines_of_two_nodes_differ_without_colour_too(panel):
    looks = [(line.style.dash, line.style.symbol) for line in panel.lines if not line.name.startswith("core")]
    assert len(set(looks)) == len(looks)


def test_more_nodes_and_cores_than_colours_have_styles():
    assert node_style(17).colour == node_style(5).colour
    assert core_style(6) != core_style(0)


def test_every_rule_of_the_stylesheet_is_scoped():
    css = re.sub(r"/\*.*?\*/", "", theme.CSS, flags=re.DOTALL)
    selectors = re.findall(r"([^{}]+)\{", css)
    assert selectors
    for selector in selectors:
        assert selector.strip().startswith((".labs-", ":is(.labs-bench, .labs-part)")), selector


def test_colours_of_words_come_from_the_page():
    rules = re.findall(r"(?:color|fill|background): ([^;]+);", theme.CSS)
    assert rules
    assert all("#" not in rule for rule in rules)
