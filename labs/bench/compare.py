"""Two recordings side by side: which figures differ, by how much, and what was set differently."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from labs.bench.figures import microseconds, packets
from labs.bench.settings import differences, list_of
from labs.bench.spread import ENOUGH, FEWEST, WINDOW, Spread, differ, spread, windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from labs.bench.recording import Recording

ROSE, FELL, NOISE, FEW = "rose", "fell", "within the noise", "too few windows"

_FIGURES = (
    ("probe", "probe_p50", "the round trip by our probe", "µs"),
    ("probe", "probe_p99", "our probe's p99", "µs"),
    ("ping", "ping_p50", "the round trip by VPP's ping", "µs"),
    ("traffic", "received", "the rate received", "Mpps"),
    ("traffic", "lost", "the rate lost", "Mpps"),
    ("probe", "probe_lost", "the share of probes lost", "%"),
    ("ping", "ping_lost", "the share of pings lost", "%"),
)
# Differences below these are none: a link's rate wanders by some per cent from run to run by itself.
_RELATIVE = 0.05
_AT_ONCE = 0.25  # likewise while there are few windows: a slow wandering looks like a difference then
_ABSOLUTE = {"µs": 0.0, "Mpps": 0.0005, "%": 2.0}


@dataclass(frozen=True)
class Metric:
    """One figure of two recordings.

    Parameters
    ----------
    name, label, unit : str
        The column's name; what it is, in words; its unit.
    a, b : Spread
    verdict : {"rose", "fell", "within the noise", "too few windows"}
    """

    name: str
    label: str
    unit: str
    a: Spread
    b: Spread
    verdict: str

    @property
    def changed(self) -> bool:
        """Whether it rose or fell."""
        return self.verdict in {ROSE, FELL}

    @property
    def factor(self) -> float:
        """How many times A's median B's is; NaN where A's is zero or unknown."""
        return self.b.median / self.a.median if self.a.median else math.nan

    def words(self) -> str:
        """Return how it changed, as a part of a sentence."""
        was, now = (in_words(each.median, self.unit) for each in (self.a, self.b))
        told = f"{self.label} {self.verdict} from {was} to {now}"
        larger = self.factor if self.factor >= 1 else 1 / self.factor if self.factor else math.nan
        if math.isnan(larger) or self.unit == "%":
            return told
        if self.unit == "µs":
            return f"{told} (a factor of {_three_digits(larger)})"
        return f"{told} ({100 * (self.factor - 1):+.0f} %)" if self.factor < 10 else told  # noqa: PLR2004


@dataclass(frozen=True)
class Comparison:
    """What differs between two recordings, A and B.

    Parameters
    ----------
    metrics : tuple of Metric
        Those that either has measured.
    settings : str
        What was set differently, as the beginning of a sentence; empty if nothing was.
    """

    metrics: tuple[Metric, ...]
    settings: str

    def __getitem__(self, name: str) -> Metric:
        return {metric.name: metric for metric in self.metrics}[name]

    def table(self) -> pd.DataFrame:
        """Return a row for each figure: both medians, lowest and highest windows, and the verdict."""
        return pd.DataFrame(
            {
                "A": [_range(metric.a, metric.unit) for metric in self.metrics],
                "B": [_range(metric.b, metric.unit) for metric in self.metrics],
                "B against A": [metric.verdict for metric in self.metrics],
            },
            index=[metric.label for metric in self.metrics],
        )

    def sentence(self) -> str:
        """Return in a sentence what changed and by how much, or that nothing did, or that it is too early."""
        known = [metric for metric in self.metrics if metric.verdict != FEW]
        opening = f"{self.settings}, " if self.settings else ""
        if not known:
            text = self._too_early()
        elif told := [metric.words() for metric in _most_telling(self.metrics)]:
            text = f"{opening}{list_of(told)}."
        else:
            what = "every difference is within the noise" if opening else "A and B are alike within the noise"
            a, b = self._most_windows()
            text = f"{opening}{what} ({a} and {b} windows of {WINDOW:g} s)."
        return text[0].upper() + text[1:]

    def _most_windows(self) -> tuple[int, int]:
        counts = [(metric.a.windows, metric.b.windows) for metric in self.metrics]
        return max((a for a, _ in counts), default=0), max((b for _, b in counts), default=0)

    def _too_early(self) -> str:
        a, b = self._most_windows()
        return (
            f"It is too early to compare: A has {a} and B has {b} windows of {WINDOW:g} s, "
            f"and each needs {FEWEST}."
        )

    def __str__(self) -> str:
        return self.sentence()

    def _repr_html_(self) -> str:
        return f"<p>{self.sentence()}</p>{self.table().to_html()}"


def compare(a: Recording, b: Recording) -> Comparison:
    """Compare two recordings, each of one setting from its beginning to its end.

    Parameters
    ----------
    a, b : Recording
        Cut off what was before the last turn of a knob: `Recording.part`.

    Notes
    -----
    A figure rose or fell where its windows of a second differ by more than luck explains (`spread.differ`),
    and its medians by more than such a link wanders by itself: 5 %, or a quarter where there are few windows,
    and for shares 2 per cent of the whole.
    """
    nodes = dict.fromkeys(
        column.name.removesuffix("_runs")
        for each in (a, b)
        if "cpu" in each.tables
        for column in each.tables["cpu"].columns
        if column.name.endswith("_runs")
    )
    metrics = [
        metric
        for track, column, label, unit in [*_FIGURES, *_cpu_figures(nodes)]
        if (metric := _metric(a, b, track, column, label, unit)) is not None
    ]
    return Comparison(tuple(metrics), differences(a, b))


def statistics(recording: Recording) -> dict[str, Spread]:
    """Return the spread of every column of a recording over its windows, by the column's name."""
    return {
        column.name: spread(windows(table, column.name))
        for table in recording.tables.values()
        for column in table.columns
    }


def in_words(value: float, unit: str) -> str:
    """Return a figure in the unit in which it is read best."""
    if math.isnan(value):
        return "unknown"
    match unit:
        case "µs":
            return microseconds(value)
        case "Mpps":
            return packets(value) if value else "0 Mpps"
        case _:
            return f"{value:.3g} {unit}".strip()


def _three_digits(value: float) -> str:
    """Return a number with three digits, and none of them behind an e."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:g}" if rounded < 1000 else f"{rounded:,.0f}"  # noqa: PLR2004


def _cpu_figures(nodes: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    for node in nodes:
        yield "cpu", f"{node}_runs", f"{node}'s time on a core", "%"
        yield "cpu", f"{node}_waits", f"{node}'s wait for a core", "%"


def _metric(a: Recording, b: Recording, track: str, column: str, label: str, unit: str) -> Metric | None:
    found = [windows(each.tables[track], column) if track in each.tables else np.zeros(0) for each in (a, b)]
    if not any(len(each) for each in found):
        return None
    spreads = spread(found[0]), spread(found[1])
    return Metric(column, label, unit, *spreads, _verdict(found[0], found[1], unit))


def _verdict(a: NDArray[np.float64], b: NDArray[np.float64], unit: str) -> str:
    if min(len(a), len(b)) < FEWEST:
        return FEW
    was, now = float(np.median(a)), float(np.median(b))
    relative = (_RELATIVE if min(len(a), len(b)) >= ENOUGH else _AT_ONCE) if unit != "%" else 0.0
    least = max(relative * max(abs(was), abs(now)), _ABSOLUTE.get(unit, 0.0))
    if abs(now - was) <= least or not differ(a, b):
        return NOISE
    return ROSE if now > was else FELL


def _most_telling(metrics: Sequence[Metric]) -> list[Metric]:
    """Return the changes to tell of: a latency, the rates, losses, and the node that was affected most."""
    changed = {metric.name: metric for metric in metrics if metric.changed}
    told = [changed[name] for name in ("probe_p50", "ping_p50", "probe_p99") if name in changed][:1]
    told += [changed[name] for name in ("received", "lost") if name in changed]
    told += [changed[name] for name in ("probe_lost", "ping_lost") if name in changed][:1]
    shares = [metric for name, metric in changed.items() if name.endswith(("_waits", "_runs"))]
    told += sorted(shares, key=lambda metric: -abs(metric.b.median - metric.a.median))[:1]
    return told


def _range(found: Spread, unit: str) -> str:
    """Return a median with its lowest and highest window."""
    if not found.windows:
        return "not measured"
    low, median, high = (in_words(each, unit) for each in (found.low, found.median, found.high))
    return f"{median} ({low} to {high}; {found.windows} windows)"
