"""What a bench does at a click, and at what its own threads and other cells tell it."""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING

from labs.bench.display import Panel
from labs.bench.facts import facts
from labs.bench.knobs import MADE_ANEW
from labs.bench.news import label_of
from labs.bench.saving import save
from labs.lab import STOPS

if TYPE_CHECKING:
    from labs.bench.comparing import Comparing
    from labs.bench.conductor import Conductor, Turned
    from labs.bench.controls import Controls
    from labs.bench.knob import Value
    from labs.bench.knobs import Knobs
    from labs.bench.news import News
    from labs.bench.recording import Recorder
    from labs.bench.sampling import Sampling
    from labs.bench.scene import Scene
    from labs.lab import Lab

STOPPED = "This bench has stopped."


class Workings(Panel):
    """The part of `labs.bench.bench.Bench` that hears; any thread may call."""

    _lab: Lab
    _knobs: Knobs
    _scene: Scene
    _news: News
    _comparing: Comparing
    _sampling: Sampling
    _conductor: Conductor
    _controls: list[Controls]
    recorder: Recorder
    _is_over = False
    _stops = False
    """Whether the lab is about to end its nodes: then their end is no news."""
    _heard = math.inf
    """When a cell has last changed what was not looked at since."""
    _buried: tuple[str, ...] = ()

    def turn(self, name: str, value: Value) -> None:
        """Set a knob soon."""
        if self._is_over:
            return
        self._news.asked(name, value)
        self._conductor.turn(name, value)
        self._show()

    def restart(self, node: str) -> None:
        """Start a node anew soon."""
        if self._is_over:
            return
        self._news.said = f"Starting {node} anew …"
        self._conductor.restart(node)
        self._show()

    def press(self, button: str) -> None:
        """Do what a button says."""
        match button:
            case "start" | "stop":
                self._conductor.traffic(button == "start")
            case "freeze":
                self._news.said = self._comparing.keep()
            case "forget":
                self._news.said = self._comparing.forget()
            case "reset":
                self._reset()
            case "report" | "csv" | "run":
                threading.Thread(target=self._save, args=(button,), name="bench save", daemon=True).start()
        self._show()

    def _reset(self) -> None:
        self._comparing.forget()
        self.recorder.clear()
        self._news.forget()
        self._conductor.reset()
        self._conductor.traffic(False)  # noqa: FBT003 - a switch's one argument

    def _save(self, kind: str) -> None:
        self._news.said = save(self.recorder.snapshot(), kind)
        self._show()

    # what other threads call

    def _done(self, turned: Turned) -> None:
        """Show what came of a turn; in the conductor's thread."""
        self._news.done(turned, self._knobs.all)
        began = time.monotonic() - turned.seconds
        if turned.name == "look" and began >= self._heard:
            self._heard = math.inf
            self._knobs.follow()
        elif turned.name != "look" and not turned.error:
            self._note(label_of(turned, self._knobs.all), list(turned.lines), began)
        probe = self._sampling.probe
        if probe and turned.name == "interval" and not turned.error:
            probe.interval = float(turned.value or 0) / 1e3
        if probe and turned.name in {"pinning", "restart", *MADE_ANEW}:
            probe.renew()
        self._scene.look()
        self._sampling.rates.wires = self._scene.wires
        self.recorder.facts.update(facts(self._lab, self._knobs))
        self._show()

    def _hear(self, what: str, lines: list[str]) -> None:
        """Hear that a cell has changed the lab, or is about to stop it."""
        self._note(what, lines)
        if what == STOPS:
            self._stops = True
            return
        if self._sampling.probe:
            self._sampling.probe.renew()
        if self._knobs.load.running and what.startswith(("lab.restart", "lab.relink")):
            self._conductor.traffic(True)  # noqa: FBT003 - likewise
        self._heard = time.monotonic()
        self._conductor.look()

    def _bury(self, ended: list[str]) -> None:
        """Hear which nodes have ended, by now."""
        if self._stops:
            return
        for node in ended:
            if node not in self._buried:
                self._note(f"{node} has ended", [])
        self._buried = tuple(ended)
        self._conductor.look()

    def _note(self, label: str, lines: list[str], t: float | None = None) -> None:
        self._sampling.hurry()
        self.recorder.mark(label, lines, t)
        self._comparing.turned()
        if lines:
            self._display.commands.add(label, lines)

    def _show(self) -> None:
        """Show how knobs and buttons stand."""
        running = self._knobs.load.running
        off = (
            {"start": "Packets are being sent already."}
            if running
            else {"stop": "No packets are being sent."}
        )
        if not self._comparing.reference:
            off["forget"] = "Nothing is kept as A."
        if self._is_over:
            off = dict.fromkeys(("start", "stop", "freeze", "forget", "reset"), STOPPED)
        for part in self._controls:
            part.show(
                self._knobs.all,
                turning=() if self._is_over else self._news.turning,
                off=off,
                ended=() if self._is_over else self._scene.ended(),
                running=running,
                said=self._news.said,
                over=STOPPED if self._is_over else "",
            )
