"""The plots as a picture that stands still: for a page that shows no widgets."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from labs.bench.figures import microseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from labs.bench.panels import Line, Panel

    Packed = Mapping[str, NDArray[np.float32]]
    Scale = Callable[[float], float]

_LEFT, _RIGHT, _WIDTH = 62.0, 660.0, 860
_STRIP, _HEAD, _FOOT = 42, 24, 28
_INK = "var(--jp-ui-font-color1, #222)"
_GRID = "var(--jp-border-color2, #ddd)"
_TICKS = 7
_LATENCY = "latency"


def still(
    shown: Sequence[Panel],
    axes: Mapping[str, Sequence[float]],
    tables: Packed,
    marks: Sequence[Sequence[Any]],
    now: float,
    span: float,
) -> str:
    """Return the plots as an SVG element that follows the page's colours.

    Parameters
    ----------
    shown : sequence of Panel
    axes : mapping of str to (float, float)
        Each kind of panel's range.
    tables : mapping of str to float32[columns + 1, n]
        By name: the times first, then the columns in the order of their panels' lines.
    marks : sequence of (float, str, str)
        When, and what; the rest is not drawn.
    now, span : float
        The right end of the axis, and its length, in seconds on the clock of the times.
    """
    parts: list[str] = []
    top = _STRIP + _HEAD
    lines = [line for panel in shown for line in panel.lines]
    order = {name: [line for line in lines if line.table == name] for name in tables}
    for panel in shown:
        bottom = top + panel.height
        scale = _scale(panel.kind, axes[panel.kind], top, bottom)
        parts += _frame(panel, axes[panel.kind], scale, top, bottom)
        for number, line in reversed([*enumerate(panel.lines)]):  # the first stands in front
            table = tables.get(line.table)
            if table is None or not table.size:
                parts += _legend(panel.kind, line, math.nan, top + 12 + number * 18)
                continue
            values = table[order[line.table].index(line) + 1]
            parts += _legend(panel.kind, line, _last(values), top + 12 + number * 18)
            parts.append(_path(line, table[0] - now, values, scale, span))
        top = bottom + _HEAD
    end = top - _HEAD
    parts += _times(end, span)
    parts += _marks(marks, now, span, end)
    label = "Plots of the last minute: round trips, packets and processor time"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" '
        f'viewBox="0 0 {_WIDTH} {end + _FOOT}" width="{_WIDTH}" style="max-width:100%;height:auto" '
        f'font-family="var(--jp-ui-font-family, sans-serif)" font-size="12">{"".join(parts)}</svg>'
    )


def _across(seconds: float, span: float) -> float:
    return _RIGHT + seconds / span * (_RIGHT - _LEFT)


def _scale(kind: str, axis: Sequence[float], top: float, bottom: float) -> Scale:
    """Return where a value stands; what is off the range is drawn at its edge."""
    low, high = axis
    if kind != _LATENCY:
        return lambda value: bottom - min(max((value - low) / (high - low), 0), 1) * (bottom - top)
    decades = math.log10(high / low)
    return lambda value: bottom - min(math.log10(max(value, low) / low) / decades, 1) * (bottom - top)


def _frame(panel: Panel, axis: Sequence[float], scale: Scale, top: float, bottom: float) -> Iterator[str]:
    low, high = axis
    yield _words(_LEFT, top - 8, panel.title, "start", ' font-weight="600"')
    if panel.kind == _LATENCY:
        values = [low * 10**power for power in range(round(math.log10(high / low)) + 1)]
    else:
        values = [0, high / 2, high]
    for value in values:
        height = scale(value)
        yield f'<path d="M{_LEFT} {height:.1f}H{_RIGHT}" stroke="{_GRID}"/>'
        words = microseconds(value) if panel.kind == _LATENCY else f"{value:g}"
        yield _words(_LEFT - 8, height + 4, words, "end")
    yield f'<path d="M{_LEFT} {bottom}H{_RIGHT}" stroke="{_INK}"/>'


def _path(
    line: Line, times: NDArray[np.float32], values: NDArray[np.float32], scale: Scale, span: float
) -> str:
    """Return one line; it has a gap where there is no value."""
    points, pen = [], "M"
    for when, value in zip(times.tolist(), values.tolist(), strict=True):
        if math.isnan(value) or when < -span:
            pen = "M"
            continue
        points.append(f"{pen}{_across(when, span):.1f} {scale(value):.1f}")
        pen = "L"
    return f'<path d="{"".join(points)}" fill="none" {_stroke(line)}/>' if points else ""


def _stroke(line: Line) -> str:
    dash = (
        f' stroke-dasharray="{" ".join(f"{each:g}" for each in line.style.dash)}"' if line.style.dash else ""
    )
    return f'stroke="{line.style.colour}" stroke-width="{line.style.width}" stroke-linejoin="bevel"{dash}'


def _last(values: NDArray[np.float32]) -> float:
    """Return the last value there is; NaN where there is none."""
    found = values[~np.isnan(values)]
    return float(found[-1]) if found.size else math.nan


def _legend(kind: str, line: Line, last: float, y: float) -> Iterator[str]:
    x = _RIGHT + 16
    yield f'<path d="M{x} {y - 4}h30" {_stroke(line)}/>'
    yield _words(x + 38, y, line.name, "start")
    if not math.isnan(last):
        others = f"{last:.0f} %" if kind == "share" else f"{last:.3g}"
        words = microseconds(last) if kind == _LATENCY else others
        yield _words(_WIDTH - 4, y, words, "end")


def _times(y: float, span: float) -> Iterator[str]:
    for number in range(_TICKS):
        seconds = span * (number / (_TICKS - 1) - 1)
        words = f"{-seconds:.0f} s ago" if seconds else "now"
        yield _words(_across(seconds, span), y + 18, words, "middle")


def _marks(marks: Sequence[Sequence[Any]], now: float, span: float, bottom: float) -> Iterator[str]:
    for number, (when, words, *_) in enumerate(marks):
        if -span <= when - now <= 0:
            x = _across(when - now, span)
            y = 14 + number % 2 * 17  # two rows, so that neighbours can be read
            path = f'<path d="M{x:.1f} {y - 10}V{bottom}" stroke="{_INK}"'
            yield f'{path} stroke-dasharray="4 3" opacity="0.6"/>'
            anchor, beside = ("end", -5) if x > (_LEFT + _RIGHT) / 2 else ("start", 5)
            yield _words(x + beside, y, str(words), anchor)


def _words(x: float, y: float, words: str, anchor: str, extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}"{extra}>{escape(words)}</text>'
