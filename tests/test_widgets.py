from __future__ import annotations

import ipywidgets
import plotly.graph_objects as go
import pytest

from labs import widget_test


@pytest.fixture
def panel():
    return widget_test()


def parts(panel, kind):
    found = [each for each in panel.children if isinstance(each, kind)]
    nested = [each for each in panel.children if isinstance(each, ipywidgets.Box)]
    return found + [part for box in nested for part in parts(box, kind)]


def test_pressing_changes_the_text_and_moves_the_line(panel):
    (button,), (status,) = parts(panel, ipywidgets.Button), parts(panel, ipywidgets.HTML)
    (figure,) = parts(panel, go.FigureWidget)
    text, line = status.value, tuple(figure.data[0].y)
    button.click()
    assert "1 press reached Python" in status.value
    assert status.value != text
    assert tuple(figure.data[0].y) != line
    button.click()
    assert "2 presses reached Python" in status.value


def test_the_line_keeps_its_points_however_often_it_moves(panel):
    (button,), (figure,) = parts(panel, ipywidgets.Button), parts(panel, go.FigureWidget)
    before = sorted(figure.data[0].y)
    for _ in range(9):
        button.click()
    assert sorted(figure.data[0].y) == before


def test_two_panels_count_for_themselves(panel):
    other = widget_test()
    parts(panel, ipywidgets.Button)[0].click()
    assert "reached Python" not in parts(other, ipywidgets.HTML)[0].value


def test_it_speaks_to_a_screen_reader(panel):
    (status,), (button,) = parts(panel, ipywidgets.HTML), parts(panel, ipywidgets.Button)
    assert 'role="status"' in status.value
    button.click()
    assert 'aria-live="polite"' in status.value
    assert button.description
