"""A run's figure in a picture: each setting's median as a mark, its lowest to highest window as a bar."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from labs.bench.theme import BLUE
from labs.errors import LabError
from labs.experiments.groups import is_spread, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from labs.experiments.run import Run

_UNITS = {
    "_us": "µs",
    "_ms": "ms",
    "_mpps": "Mpps",
    "gbit_per_s": "Gbit/s",
    "_percent": "%",
    "_per_s": "a second",
}
_WIDE = 50.0  # times the least value that the greatest is, from which on the axis is logarithmic
_WIDTH, _LEFT, _RIGHT = 860, 330, 690  # pixels: the names stand on the left, the figures on the right
_TOP, _ROW, _FOOT = 48, 22, 30
_TICKS = 4
_INK = "var(--jp-ui-font-color1, #222)"
_GRID = "var(--jp-border-color2, #ddd)"


@dataclass(frozen=True)
class Picture:
    """A picture that a page shows by itself, and that is words elsewhere."""

    svg: str
    words: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.words


def spread_plot(run: Run, name: str) -> Picture:
    """Return a picture of one figure over all settings of a run.

    Parameters
    ----------
    run : Run
        Its summary has a group for each setting.
    name : str
        The figure, as ``wire_p50_us``.

    Raises
    ------
    LabError
        The run has no such figure.
    """
    groups = {key: value[name] for key, value in run.summary.items() if _has(value, name)}
    if not groups:
        known = sorted({each for value in run.summary.values() for each in _names(value)})
        raise LabError(
            f"The run of {run.name} has no figure {name!r}.", f"it has {', '.join(known) or 'none yet'}."
        )
    title = f"{_called(name)}, {unit(name)}: the median, from the lowest to the highest window"
    words = "\n".join([title, *(f"  {key}: {short(value)}" for key, value in groups.items())])
    return Picture(_drawn(title, words, groups), words)


def unit(name: str) -> str:
    """Return the unit that ends a figure's name; empty where none does."""
    return next((word for end, word in _UNITS.items() if name.endswith(end)), "")


def _drawn(title: str, words: str, groups: Mapping[str, Mapping[str, float | None]]) -> str:
    """Return the picture as an SVG element that follows the page's colours."""
    bottom = _TOP + _ROW * len(groups)
    values = [each for group in groups.values() for each in group.values() if each is not None]
    scale, ticks = _axis(values)
    parts = [_text(12, 24, title, "start", ' font-weight="600"')]
    for value in ticks:
        parts.append(f'<path d="M{scale(value):.1f} {_TOP - 8}V{bottom}" stroke="{_GRID}"/>')
        parts.append(_text(scale(value), bottom + 18, f"{value:g}", "middle"))
    for number, (key, group) in enumerate(groups.items()):
        parts += _row(_TOP + _ROW * number + _ROW / 2, key, group, scale)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(words)}" '
        f'viewBox="0 0 {_WIDTH} {bottom + _FOOT}" width="{_WIDTH}" style="max-width:100%;height:auto" '
        f'font-family="var(--jp-ui-font-family, sans-serif)" font-size="12">{"".join(parts)}</svg>'
    )


def _row(
    y: float, key: str, group: Mapping[str, float | None], scale: Callable[[float], float]
) -> Iterator[str]:
    """Yield one setting: its name, a bar from the lowest to the highest window, a mark, the figures."""
    yield _text(_LEFT - 12, y + 4, key, "end")
    yield _text(_RIGHT + 12, y + 4, short(dict(group)), "start")
    low, middle, high = (group[each] for each in ("lowest", "median", "highest"))
    if low is None or middle is None or high is None:
        return
    yield f'<path d="M{scale(low):.1f} {y}H{scale(high):.1f}" stroke="{BLUE}" stroke-width="3"/>'
    for end in (low, high):
        yield f'<path d="M{scale(end):.1f} {y - 5}v10" stroke="{BLUE}" stroke-width="1.5"/>'
    yield f'<circle cx="{scale(middle):.1f}" cy="{y}" r="5" fill="{BLUE}"/>'


def _axis(values: list[float]) -> tuple[Callable[[float], float], list[float]]:
    """Return where a value stands in the picture, and the values that the axis names."""
    least, most = min(values, default=0.0), max(values, default=1.0)
    if least > 0 and most > _WIDE * least:
        first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
        decades = [10.0**power for power in range(first, last + 1)]
        return (
            lambda value: _LEFT + (math.log10(value) - first) / (last - first) * (_RIGHT - _LEFT),
            decades,
        )
    top = _round_up(most) if most > 0 else 1.0
    low = min(least, 0.0)
    return (
        lambda value: _LEFT + (value - low) / (top - low) * (_RIGHT - _LEFT),
        [top * number / _TICKS for number in range(_TICKS + 1)],
    )


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 4, 6, 8 and 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(each * power for each in (1, 2, 4, 6, 8, 10) if each * power >= value * (1 - 1e-9))


def _text(x: float, y: float, words: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}"{more}>{escape(words)}</text>'


def _called(name: str) -> str:
    """Return a figure's name without its unit, in words."""
    for end in _UNITS:
        if name != end:
            name = name.removesuffix(end)
    return name.replace("_", " ")


def _names(value: Any) -> list[str]:  # noqa: ANN401 - a summary holds what its experiment likes
    """Return the figures of a group, if it is one."""
    return [name for name in value if _has(value, name)] if isinstance(value, dict) else []


def _has(value: Any, name: str) -> bool:  # noqa: ANN401 - likewise
    """Return whether a part of a summary is a group that has a figure with its spread."""
    return isinstance(value, dict) and is_spread(value.get(name))
