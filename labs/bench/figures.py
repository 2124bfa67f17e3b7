"""The present figures of a bench in a sentence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labs.bench.tables import Table

SPAN = 1.0
"""Seconds that the figures tell of."""
_MEANS = {"Mpps", "Gbit/s", "%"}
_PING_SPAN = 3.0  # it comes once a second
_ROUNDED_UP = 999.5  # from here on three digits are a thousand, which is one of the next unit
_LEAST_SHARE = 0.01


def sentence(tables: Mapping[str, Table], now: float, nodes: Sequence[str]) -> str:
    """Return what was measured in the last second, in words and with units.

    Parameters
    ----------
    tables : mapping of str to Table
        By name of the track.
    now : float
        The present, on the tables' clock.
    nodes : sequence of str
    """
    parts = [_latency(tables, now), _rates(tables, now), _cores(tables, now, nodes)]
    return " ".join(part for part in parts if part) or "Nothing was measured yet."


def present(table: Table | None, column: str, now: float, span: float = SPAN) -> float:
    """Return what a column says of the last `span` seconds; NaN where nothing was measured.

    Of latencies that is the median. Of rates and shares it is the mean: VPP adds to some counters once in 256
    packets only (ethernet-input), so most samples of a slow stream are 0, and some too high.
    """
    if table is None or column not in table:
        return math.nan
    unit = next(each.unit for each in table.columns if each.name == column)
    values = table.column(column)[(table.times > now - span) & (table.times <= now)]
    values = values[~np.isnan(values)]
    if not values.size:
        return math.nan
    return float(np.mean(values) if unit in _MEANS else np.median(values))


def microseconds(value: float) -> str:
    """Return a time given in µs in the unit in which it is read best, with three digits."""
    if math.isnan(value):
        return "unknown"
    for scale, unit in ((1.0, "µs"), (1e3, "ms")):
        if value < _ROUNDED_UP * scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e6:.3g} s"


def packets(value: float) -> str:
    """Return a rate given in Mpps in the unit in which it is read best."""
    if math.isnan(value):
        return "an unknown rate"
    if value * 1e3 >= _ROUNDED_UP:
        return f"{value:.3g} Mpps"
    if value * 1e6 >= _ROUNDED_UP:
        return f"{value * 1e3:.3g} kpps"
    return f"{value * 1e6:.0f} packets a second"


def _latency(tables: Mapping[str, Table], now: float) -> str:
    p50, p99 = (present(tables.get("probe"), f"probe_{q}", now) for q in ("p50", "p99"))
    ping = present(tables.get("ping"), "ping_p50", now, _PING_SPAN)
    told = []
    if not math.isnan(p50):
        told.append(f"{microseconds(p50)} by our probe (p99 {microseconds(p99)})")
    if not math.isnan(ping):
        told.append(f"{microseconds(ping)} by VPP's ping")
    return f"Round trip: {', '.join(told)}." if told else ""


def _rates(tables: Mapping[str, Table], now: float) -> str:
    sent, received, lost = (
        present(tables.get("traffic"), name, now) for name in ("sent", "received", "lost")
    )
    if math.isnan(received):
        return ""
    told = f"{packets(sent)} sent, {packets(received)} received"
    if lost > 0 and sent > 0:
        told += f", {_share(100 * lost / sent)} lost"
    return f"Packets: {told}."


def _share(percent: float) -> str:
    return f"{percent:.3g} %" if percent >= _LEAST_SHARE else f"less than {_LEAST_SHARE:g} %"


def _cores(tables: Mapping[str, Table], now: float, nodes: Sequence[str]) -> str:
    told = []
    for node in nodes:
        runs, waits = (present(tables.get("cpu"), f"{node}_{what}", now) for what in ("runs", "waits"))
        if not math.isnan(runs + waits):
            told.append(f"{node} runs {runs:.0f} % of the time and waits {waits:.0f} %")
    return f"Cores: {'; '.join(told)}." if told else ""
