"""The bench's plots: latency, rates and processor time on one axis of the last minute.

The page draws them on a canvas of ours. On the machine that this was built on, a plotly FigureWidget that is
given 14 lines four times a second keeps Chromium busy for 40 to 55 % of a core; the canvas does for 6 %, and
for 13 % in the seconds after a turn of a knob. On two cores that two polling nodes fill, that is the
difference between watching a run and spoiling it.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import anywidget
import numpy as np
import traitlets

from labs.bench import theme
from labs.bench.axes import LogAxis, StepAxis
from labs.bench.panels import SPAN, columns, panels, sheet
from labs.bench.still import still
from labs.bench.thinning import thin
from labs.course.elements import KEYS_STAY_HERE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from labs.bench.tracks import Mark, Table

MOST_POINTS = 600
"""Points of a line at most."""
CALM_PERIOD = 0.45
"""Seconds between two messages to the page while no knob was turned; each costs the browser some 10 ms."""
_CALM_AFTER = 5.0  # seconds from a mark on
_ORIGIN_LASTS = 1800.0  # seconds; beyond, a float32 of seconds would become too coarse
_SCRIPT = KEYS_STAY_HERE + "".join(
    files("labs.bench").joinpath(name).read_text(encoding="utf-8")
    for name in ("plots_frame.js", "plots_lines.js", "plots_legend.js", "plots.js")
)
_STYLE = files("labs.bench").joinpath("plots.css").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Reference:
    """A frozen run to compare with: of each column its low, median and high, in the column's unit."""

    label: str = "A"
    stats: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as the page takes it; a figure that is not known is left out, since JSON has no NaN."""
        known = {name: list(each) for name, each in self.stats.items() if all(map(math.isfinite, each))}
        return {"label": self.label, "stats": known}


class PlotsWidget(anywidget.AnyWidget):
    """What a page shows; made and fed by `Plots`.

    A table travels as float32[columns + 1, n], its times first, in seconds after an origin of `Plots`'s; so
    it is sent again only when it has a new row, and not at each tick.
    """

    _esm = _SCRIPT
    _css = theme.CSS + _STYLE
    sheet = traitlets.Dict().tag(sync=True)
    axes = traitlets.Dict().tag(sync=True)
    marks: traitlets.List[Any] = traitlets.List().tag(sync=True)
    reference = traitlets.Dict().tag(sync=True)
    now = traitlets.Float(0.0).tag(sync=True)
    turn = traitlets.Int(0).tag(sync=True)
    traffic = traitlets.Bytes(b"").tag(sync=True)
    cpu = traitlets.Bytes(b"").tag(sync=True)
    probe = traitlets.Bytes(b"").tag(sync=True)
    ping = traitlets.Bytes(b"").tag(sync=True)

    def _repr_mimebundle_(self, **options: Any) -> Any:  # noqa: ANN401 - as anywidget has it
        shown = super()._repr_mimebundle_(**options)
        parts = shown[0] if isinstance(shown, tuple) else shown
        if parts is not None:  # as it is where there are no widgets
            parts["text/plain"] = (
                "Plots of latency, rates and processor time; they need a page that shows widgets."
            )
        return shown


class Plots:
    """Three panels over the last minute, made once and then fed.

    Parameters
    ----------
    nodes : sequence of str
        The lab's nodes, in their order.
    cores : sequence of int
        The cores that the lab may use.
    """

    def __init__(self, nodes: Sequence[str], cores: Sequence[int]) -> None:
        self._panels = panels(nodes, cores)
        self._columns = columns(self._panels)
        self._lock = threading.Lock()
        self._origin = math.inf
        self._drawn = -math.inf
        self._sent: dict[str, float | None] = {}
        self._highs: dict[str, float] = {}
        self._latency = LogAxis(1.0, 1e5, least=0.01, most=1e8)
        self._rate = StepAxis(1.0)
        self._share = StepAxis(100.0, least=100.0)
        self.widget = PlotsWidget(sheet=sheet(self._panels), axes=self._axes())

    def draw(
        self,
        tables: Mapping[str, Table],
        marks: Sequence[Mark],
        now: float,
        reference: Reference | None = None,
    ) -> None:
        """Show what happened in the minute before `now`.

        For some seconds after a mark each call is shown, and after that one in `CALM_PERIOD`.

        Parameters
        ----------
        tables : mapping of str to Table
            By name; those that the plots do not know are passed by, those that are missing stay as they are.
        marks : sequence of Mark
        now : float
            In seconds, on the clock of the tables' times.
        reference : Reference, optional
            Is drawn as a dim line and a band behind the lines of its columns.
        """
        lively = any(0 <= now - mark.t < _CALM_AFTER for mark in marks[-3:])
        if not lively and 0 <= now - self._drawn < CALM_PERIOD:
            return
        with self._lock, self.widget.hold_sync():
            if not 0 <= now - self._origin <= _ORIGIN_LASTS:
                self._origin = now
                self._sent.clear()
            if now < self._drawn:  # a replay has gone back: a line may begin earlier, and end as it did
                self._sent.clear()
            self._drawn = now
            for name in self._columns:
                if name in tables:
                    self._send(tables[name], name, now)
            self._rate.see(self._highs.get("traffic", np.nan))
            self._share.see(self._highs.get("cpu", np.nan))
            self.widget.axes = self._axes()
            self.widget.marks = [
                [round(mark.t - self._origin, 3), mark.label, "\n".join(mark.commands)]
                for mark in marks
                if now - SPAN <= mark.t <= now
            ]
            self.widget.reference = reference.to_dict() if reference else {}
            self.widget.now = round(now - self._origin, 3)
            self.widget.turn += 1

    def clear(self) -> None:
        """Show nothing, on axes as at first."""
        with self._lock, self.widget.hold_sync():
            self._origin, self._drawn = math.inf, -math.inf
            self._sent.clear()
            self._highs.clear()
            for axis in (self._latency, self._rate, self._share):
                axis.reset()
            for name in self._columns:
                setattr(self.widget, name, b"")
            self.widget.axes = self._axes()
            self.widget.marks, self.widget.reference = [], {}
            self.widget.now = 0.0
            self.widget.turn += 1

    def svg(self) -> str:
        """Return what was drawn last as a picture, for a page without widgets."""
        with self._lock:
            tables = {
                name: np.frombuffer(getattr(self.widget, name), np.float32).reshape(len(each) + 1, -1)
                for name, each in self._columns.items()
            }
            return still(self._panels, self._axes(), tables, self.widget.marks, self.widget.now, SPAN)

    def _axes(self) -> dict[str, list[float]]:
        return {
            "latency": list(self._latency.range),
            "rate": list(self._rate.range),
            "share": list(self._share.range),
        }

    def _send(self, table: Table, name: str, now: float) -> None:
        """Send a table, if it has a row that was not sent."""
        newest = float(table.times[-1]) if len(table.times) else None
        if name in self._sent and self._sent[name] == newest:
            return
        self._sent[name] = newest
        inside = slice(int(np.searchsorted(table.times, now - SPAN - 1)), None)
        values = _picked(table, self._columns[name])[inside]
        times, values = thin(table.times[inside], values, span=SPAN, most=MOST_POINTS)
        packed = np.empty((values.shape[1] + 1, len(times)), np.float32)
        packed[0] = times - self._origin
        packed[1:] = values.T
        setattr(self.widget, name, packed.tobytes())
        seen = values[np.isfinite(values)]
        self._highs[name] = float(seen.max(initial=0.0))
        if name in {"probe", "ping"} and (positive := seen[seen > 0]).size:
            self._latency.see(float(positive.min()), self._highs[name])


def _picked(table: Table, wanted: Sequence[str]) -> NDArray[np.float32]:
    """Return the wanted columns of a table, NaN for those that it lacks."""
    at = {column.name: number for number, column in enumerate(table.columns)}
    if all(name in at for name in wanted):
        return table.values[:, [at[name] for name in wanted]]
    picked = np.full((len(table.times), len(wanted)), np.nan, np.float32)
    for number, name in enumerate(wanted):
        if name in at:
            picked[:, number] = table.values[:, at[name]]
    return picked
