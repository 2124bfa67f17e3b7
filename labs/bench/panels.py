"""What the plots show: three panels, the lines in each, and where their figures stand in the tracks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labs.bench.theme import SERIES, Style, core_style, node_style

if TYPE_CHECKING:
    from collections.abc import Sequence

SPAN = 60.0
"""Seconds that the plots show."""
GAPS = {"traffic": 0.6, "cpu": 1.5, "probe": 1.5, "ping": 4.0}
"""The tables that are drawn, and how many seconds without a sample are drawn as a gap."""


@dataclass(frozen=True)
class Line:
    """One line: the table and column that it shows, what it is called, how it is drawn."""

    table: str
    column: str
    name: str
    style: Style


@dataclass(frozen=True)
class Panel:
    """One panel: a title with a unit, and its lines. `kind` is ``latency``, ``rate`` or ``share``."""

    kind: str
    title: str
    height: int
    lines: tuple[Line, ...]


def panels(nodes: Sequence[str], cores: Sequence[int]) -> tuple[Panel, ...]:
    """Return the panels for a lab's nodes and the cores that it may use."""

    def fixed(table: str, names: dict[str, str]) -> list[Line]:
        return [Line(table, column, name, SERIES[column]) for column, name in names.items()]

    latency = fixed("probe", {"probe_p50": "probe p50", "probe_p99": "probe p99", "probe_max": "probe max"})
    latency += fixed("ping", {"ping_p50": "ping p50", "ping_max": "ping max"})
    rates = fixed("traffic", {"sent": "sent", "received": "received", "lost": "lost"})
    shares = [
        Line("cpu", f"{node}_{what}", f"{node} {what}", node_style(number, waits=what == "waits"))
        for number, node in enumerate(nodes)
        for what in ("runs", "waits")
    ]
    shares += [
        Line("cpu", f"core{core}", f"core {core} busy", core_style(number))
        for number, core in enumerate(cores)
    ]
    shares += fixed("cpu", {"notebook": "this notebook"})
    return (
        Panel("latency", "Round trip, log scale", 160, tuple(latency)),
        Panel("rate", "Packets, Mpps", 104, tuple(rates)),
        Panel("share", "Processor time, % of a core", 132, tuple(shares)),
    )


def columns(shown: Sequence[Panel]) -> dict[str, tuple[str, ...]]:
    """Return which columns of which table the panels show, in the order in which they are sent."""
    return {
        table: tuple(line.column for panel in shown for line in panel.lines if line.table == table)
        for table in GAPS
    }


def sheet(shown: Sequence[Panel]) -> dict[str, Any]:
    """Return the panels as the page takes them."""
    order = columns(shown)
    return {
        "span": SPAN,
        "gaps": GAPS,
        "panels": [
            {
                "kind": panel.kind,
                "title": panel.title,
                "height": panel.height,
                "lines": [
                    {
                        "table": line.table,
                        "column": line.column,
                        "at": order[line.table].index(line.column) + 1,
                        "name": line.name,
                        **vars(line.style),
                    }
                    for line in panel.lines
                ],
            }
            for panel in shown
        ],
    }
