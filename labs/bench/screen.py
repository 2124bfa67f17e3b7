"""The thread that draws a bench, four times a second."""

from __future__ import annotations

import contextvars
import math
import threading
import time
from typing import TYPE_CHECKING

from labs.bench.figures import present
from labs.bench.sample_probe import window
from labs.bench.trust import Trust
from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from labs.bench.comparing import Comparing
    from labs.bench.display import Display
    from labs.bench.notes import Notes
    from labs.bench.recording import Recorder
    from labs.bench.scene import Scene
    from labs.bench.tables import Table
    from labs.lab import Lab
    from labs.quality import Quality

PERIOD = 0.25
"""Seconds from one drawing to the next."""
SHOWN = 60.0
"""Seconds that the plots show."""
_SPAN = 5.0  # seconds over which the nodes' use of the cores is told from that of others


class Screen:
    """Draws what the samplers record.

    Parameters
    ----------
    lab : Lab
    display : Display
    recorder : Recorder
    scene : Scene
    notes : Notes
    comparing : Comparing
    on_change : callable
        Told the nodes that have ended, each time these are others than before.
    on_stop : callable
        Called when the lab was stopped, also when it has started anew since; nothing is drawn after.
    """

    def __init__(
        self,
        lab: Lab,
        display: Display,
        recorder: Recorder,
        scene: Scene,
        notes: Notes,
        comparing: Comparing,
        on_change: Callable[[list[str]], None],
        on_stop: Callable[[], None],
    ) -> None:
        self._lab, self._display, self._recorder = lab, display, recorder
        self._scene, self._notes, self._comparing = scene, notes, comparing
        self._on_change, self._on_stop = on_change, on_stop
        self._nodes = lab.nodes
        self._trust = Trust(len(lab.nodes))
        self._ended: list[str] = []
        self._ticks = 0
        self._end = threading.Event()
        # the context tells ipykernel which cell the thread's messages belong to
        work = contextvars.copy_context().run
        self._thread = threading.Thread(target=work, args=(self._run,), name="bench screen", daemon=True)

    def start(self) -> None:
        """Begin to draw."""
        self._thread.start()

    def close(self) -> None:
        """Draw no more; safe to call twice, from any thread."""
        self._end.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(2.0)

    def _run(self) -> None:
        due = time.monotonic()
        while not self._end.wait(max(due - time.monotonic(), 0)):
            due = max(due + PERIOD, time.monotonic())
            if self._lab_has_stopped():
                self._on_stop()
                return
            try:
                self.draw()
            except Exception as error:  # noqa: BLE001 - a drawing's fault is a sentence, not the bench's end
                if self._lab_has_stopped():  # under way
                    continue
                self._notes.say("screen", f"The bench could not be drawn: {type(error).__name__}: {error}.")
            else:
                self._notes.settle("screen")

    def _lab_has_stopped(self) -> bool:
        try:
            return self._lab.nodes is not self._nodes
        except LabError:
            return True

    def draw(self) -> None:
        """Draw once: the plots each time, words and picture less often, so that they can be read."""
        now = time.monotonic()
        tables = {name: track.since(now - SHOWN - 1) for name, track in self._recorder.tracks.items()}
        self._display.plots.draw(tables, self._recorder.marks, now, self._comparing.reference)
        if (ended := self._scene.ended()) != self._ended:
            self._ended = ended
            self._on_change(ended)
        if self._ticks % 2 == 0:
            self._display.picture.show(self._scene.now(), self._scene.rates(tables, now), self._scene.modes)
            self._recorder.picture = self._display.picture.svg
            self._display.note(self._notes.all())
        if self._ticks % 8 == 0:
            self._display.state_figures(tables, now)
            self._recorder.quality = self._judge(tables, now)
            self._display.badge.show(self._recorder.quality)
        if self._ticks % 4 == 0:
            self._display.compare(self._comparing.sentence())
        self._ticks += 1

    def _judge(self, tables: Mapping[str, Table], now: float) -> Quality:
        nodes = self._lab.nodes
        used = [present(tables.get("cpu"), f"{name}_runs", now, _SPAN) for name in nodes]
        used.append(present(tables.get("cpu"), "notebook", now, _SPAN))
        known = not any(math.isnan(each) for each in used)
        pinned = {name: node.spec.cores for name, node in nodes.items()}
        return self._trust.judge(sum(used) / 100 if known else None, pinned, self._replies())

    def _replies(self) -> int:
        """Return how many replies a point of the probe rests on."""
        interval = float(self._recorder.facts.get("probe interval") or 10.0) / 1e3
        return round(window(interval) / interval)
