"""What a report's plots show: panels, lines and their samples, as the page takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labs.bench.panels import GAPS, Line, Panel, panels
from labs.bench.theme import Style, node_style
from labs.bench.thinning import thin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labs.bench.recording import Recording
    from labs.bench.tables import Table

MOST_POINTS = 3_000
"""Points of a line at most; a screen is narrower."""
STRIP, GAP = 58, 36
"""Pixels above the first panel, for marks and a title, and between two panels."""
_TALLER = 1.5  # than in the bench, which shares its screen with a notebook
_SYMBOLS = {
    "circle": "circle",
    "square": "square",
    "triangle": "triangle-up",
    "diamond": "diamond",
    "cross": "x-thin-open",
    "bar": "line-ns-open",
}


def plots(recording: Recording) -> dict[str, Any]:
    """Return what a recording's plots show; empty where it has no samples."""
    tables = {name: table for name, table in recording.tables.items() if len(table)}
    shown = [panel for each in panels(*_cast(tables.get("cpu"))) if (panel := _measured(each, tables))]
    if not shown:
        return {}
    used = {line.table for panel in shown for line in panel.lines}
    return {
        "strip": STRIP,
        "gap": GAP,
        "timed": True,
        "axis": "seconds from the start",
        "range": [0, round(1.01 * max(recording.duration, 1.0), 3)],
        "tables": {name: _samples(tables[name], recording.duration) for name in sorted(used)},
        "marks": [{"t": round(mark.t, 3), "label": mark.label} for mark in recording.marks],
        "panels": [
            {
                "title": panel.title,
                "height": round(_TALLER * panel.height),
                **_axis(panel, tables),
                "lines": [
                    {"table": line.table, "column": line.column, "name": line.name, **style(line.style)}
                    for line in panel.lines
                ],
            }
            for panel in shown
        ],
    }


def window_plots(windows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the plots of an experiment's windows show: the times of each, in the order of measuring.

    Empty where the windows have no lists of times, ``times_ms``.
    """
    times = [np.asarray(window.get("times_ms", []), float) for window in windows]
    if not any(len(each) for each in times):
        return {}
    states = list(dict.fromkeys(str(window.get("state", "")) for window in windows))
    tables, lines = {}, []
    for number, state in enumerate(states):
        at = [at for at, window in enumerate(windows) if str(window.get("state", "")) == state]
        x = [at_ + 1 + 0.6 * (np.arange(len(times[at_])) / max(len(times[at_]), 1) - 0.5) for at_ in at]
        tables[state] = {
            "t": _rounded(np.concatenate(x), 6),
            "columns": {"time": _rounded(1e3 * np.concatenate([times[each] for each in at]), 4)},
        }
        drawn = {"table": state, "column": "time", "name": state or "round trip", "points": True}
        lines.append({**drawn, **style(node_style(number))})
    values = 1e3 * np.concatenate(times)
    return {
        "strip": STRIP,
        "gap": GAP,
        "timed": False,
        "axis": "window, in the order of measuring",
        "range": [0.5, len(windows) + 0.5],
        "tables": tables,
        "marks": [],
        "panels": [
            {
                "title": "Round trip of each ping, log scale",
                "height": 320,
                **_log_axis(values[values > 0]),
                "lines": lines,
            }
        ],
    }


def style(given: Style) -> dict[str, Any]:
    """Return a line's style as plotly.js takes it."""
    return {
        "colour": given.colour,
        "dash": ",".join(f"{length:g}px" for length in given.dash) or "solid",
        "symbol": _SYMBOLS[given.symbol],
        "width": given.width,
    }


def _cast(cpu: Table | None) -> tuple[list[str], list[int]]:
    """Return the nodes and the cores that a table of processor time tells of."""
    names = [column.name for column in cpu.columns] if cpu else []
    nodes = [name.removesuffix("_runs") for name in names if name.endswith("_runs")]
    return nodes, [int(name[4:]) for name in names if name.startswith("core") and name[4:].isdecimal()]


def _measured(panel: Panel, tables: Mapping[str, Table]) -> Panel | None:
    """Return a panel with those of its lines that have samples; None if none has."""
    lines = tuple(line for line in panel.lines if _has(tables.get(line.table), line))
    return Panel(panel.kind, panel.title, panel.height, lines) if lines else None


def _has(table: Table | None, line: Line) -> bool:
    return table is not None and line.column in table and bool(np.any(~np.isnan(table.column(line.column))))


def _samples(table: Table, duration: float) -> dict[str, Any]:
    """Return a table's samples; between two that lie too far apart stands a row of gaps."""
    times, values = thin(table.times, table.values, span=max(duration, 1.0), most=MOST_POINTS)
    longest = max(GAPS.get(table.name, 4.0), 4 * duration / MOST_POINTS)
    holes = np.flatnonzero(np.diff(times) > longest) + 1
    times = np.insert(times, holes, times[holes - 1] + longest / 2)
    values = np.insert(values, holes, np.nan, axis=0)
    columns = {column.name: _rounded(values[:, n], 4) for n, column in enumerate(table.columns)}
    return {"t": [round(t, 3) for t in times.tolist()], "gap": longest, "columns": columns}


def _rounded(values: Any, digits: int) -> list[float | None]:  # noqa: ANN401 - an array of either width
    """Return values with so many significant digits; None for a gap."""
    return [None if np.isnan(value) else float(f"{value:.{digits}g}") for value in values.tolist()]


def _axis(panel: Panel, tables: Mapping[str, Table]) -> dict[str, Any]:
    values = np.concatenate([tables[line.table].column(line.column) for line in panel.lines])
    values = values[~np.isnan(values)]
    if panel.kind == "latency":
        return _log_axis(values[values > 0])
    if panel.kind == "share":
        return {"log": False, "share": True, "low": 0, "high": max(105.0, 1.05 * float(values.max()))}
    return {"log": False, "low": 0, "high": max(1.08 * float(values.max()), 0.001)}


def _log_axis(microseconds: Any) -> dict[str, Any]:  # noqa: ANN401 - an array
    """Return a range of whole decades around some times in µs."""
    if not len(microseconds):
        return {"log": True, "low": 0, "high": 3}
    low, high = (float(np.log10(each)) for each in (microseconds.min(), microseconds.max()))
    return {"log": True, "low": float(np.floor(low)), "high": float(np.ceil(high + 1e-9))}
