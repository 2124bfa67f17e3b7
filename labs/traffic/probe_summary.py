"""The table that a learner sees of a probe's run."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from labs.traffic.probe_quality import DISTURBED_SHARE

if TYPE_CHECKING:
    from labs.traffic.probe_run import ProbeRun

_COLUMNS = {0: "min", 50: "p50", 90: "p90", 99: "p99", 99.9: "p99.9", 100: "max"}


@dataclass(frozen=True, eq=False)
class Summary:
    """Percentiles in µs, and what to know about them.

    Attributes
    ----------
    frame : DataFrame
        A row for the latencies as they are (corrected for coordinated omission), one for those counted from
        the real time of sending, one without what the probe itself held up, if it did, and one for the
        probe's own floor.
    lines : tuple of str
        How it was measured.
    notes : tuple of str
        What speaks against the figures.
    """

    frame: pd.DataFrame
    lines: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, run: ProbeRun) -> Summary:
        """Return the summary of a run."""
        rows = {run.name: _row(run), "counted from sending": _row(run, corrected=False)}
        if run.disturbed_share >= DISTURBED_SHARE and (rest := run.undisturbed()).received:
            rows["while the probe ran undisturbed"] = _row(rest)
        if run.floor:
            floor = {"min": run.floor.min_us, "p50": run.floor.p50_us, "p99": run.floor.p99_us}
            rows["the probe's own floor"] = {
                **{f"{name} (µs)": _rounded(value) for name, value in floor.items()},
                "samples": run.floor.samples,
                "lost": 0,
            }
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(_row(run)))
        return cls(frame, tuple(_how(run)), tuple(run.notes))

    def __str__(self) -> str:
        notes = [f"Note: {each}" for each in self.notes]
        return "\n".join([self.frame.to_string(na_rep="", float_format=_plain), *self.lines, *notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        lines = "".join(f"<div>{escape(each)}</div>" for each in self.lines)
        notes = "".join(f"<div>⚠ {escape(each)}</div>" for each in self.notes)
        return f"{self.frame.to_html(na_rep='', float_format=_plain)}{lines}{notes}"


def _row(run: ProbeRun, *, corrected: bool = True) -> dict[str, float]:
    times = {
        f"{name} (µs)": _rounded(run.percentile(q, corrected=corrected)) if run.received else float("nan")
        for q, name in _COLUMNS.items()
    }
    return {**times, "samples": run.received, "lost": run.lost}


def _plain(value: float) -> str:
    return f"{value:g}"


def _rounded(value: float) -> float:
    """Keep three significant digits, or whole numbers where there are more: the histogram holds no more."""
    return float(f"{value:.3g}") if value < 1000 else float(round(value))  # noqa: PLR2004 - three digits


def _how(run: ProbeRun) -> list[str]:
    beat = "one each" if run.even else "at random, one in the mean each"
    ways = {"round trip": "Round trip", "one way": "One way"}
    first = (
        f"{ways.get(run.way, run.way)}, {beat} {run.interval_us:g} µs, counted from when it was due "
        "(corrected for coordinated omission)."
    )
    lines = [first]
    if run.where:
        lines.append(run.where)
    if run.floor:
        lines.append(f"Floor: {run.floor.how}.")
    return lines
