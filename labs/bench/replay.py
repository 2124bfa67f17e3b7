"""A recording in the bench's own panel, without any engine: to look at what was measured elsewhere."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

import ipywidgets as widgets

from labs.bench.display import Display, Panel
from labs.bench.panels import SPAN
from labs.bench.recording import Recording, load_recording

if TYPE_CHECKING:
    from pathlib import Path

_STEP = 0.5
"""Seconds from one position of the slider to the next."""


class Replay(Panel):
    """A recording, from its beginning to its end as often as one likes.

    Parameters
    ----------
    recording : Recording
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        facts = recording.facts
        self._display = Display(_nodes(recording), _cores(recording), clock=lambda second: f"{second:.1f} s")
        self._display.picture.widget.value = recording.picture
        self._display.badge.show(recording.quality)
        steps = max(math.ceil(recording.duration / _STEP), 1)
        self.play = widgets.Play(min=0, max=steps, value=steps, interval=int(1000 * _STEP), step=1)
        self.at = widgets.FloatSlider(
            min=0,
            max=steps * _STEP,
            step=_STEP,
            value=steps * _STEP,
            description="second",
            readout_format=".1f",
            layout={"width": "480px"},
        )
        self._lock = threading.RLock()
        self.play.observe(lambda change: self._move(change["new"]), "value")
        self.at.observe(lambda change: self._draw(change["new"]), "value")
        title = f"Replay of a run of {recording.started} on {facts.get('data plane', 'an unknown engine')}."
        row = widgets.HBox([self.play, self.at, widgets.Label(title)])
        row.add_class("labs-line")
        super().__init__(self._display, self._display.parts(row))
        for mark in recording.marks:
            self._display.commands.add(mark.label, list(mark.commands), mark.t)
        self._draw(self.at.value)

    def _move(self, step: int) -> None:
        """Follow the player; the slider then draws."""
        if step != self._step_of(self.at.value):  # else it is the player that follows
            self.at.value = min(step * _STEP, self.at.max)

    @staticmethod
    def _step_of(second: float) -> int:
        return round(second / _STEP)

    def _draw(self, second: float) -> None:
        with self._lock:
            self.play.value = self._step_of(second)
            tables = {
                name: table.between(second - SPAN - 1, math.nextafter(second, math.inf))
                for name, table in self._recording.tables.items()
            }
            marks = [mark for mark in self._recording.marks if mark.t <= second]
            self._display.plots.draw(tables, marks, second)
            self._display.state_figures(tables, second)


def replay(what: Recording | str | Path) -> Replay:
    """Show a recording in the bench's panel; no engine and no lab is needed.

    Parameters
    ----------
    what : Recording, str or Path
        A recording, or the file of a saved one.

    Raises
    ------
    LabError
        There is no recording in the file.
    """
    return Replay(what if isinstance(what, Recording) else load_recording(what))


def _nodes(recording: Recording) -> list[str]:
    nodes = recording.facts.get("nodes")
    return [str(node) for node in nodes] if isinstance(nodes, list | tuple) else []


def _cores(recording: Recording) -> list[int]:
    """Return the cores whose use was recorded."""
    cpu = recording.tables.get("cpu")
    names = [column.name for column in cpu.columns] if cpu else []
    return [int(name[4:]) for name in names if name.startswith("core") and name[4:].isdigit()]
