"""The bench: knobs, plots and a lab, put together."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from labs.bench.comparing import Comparing
from labs.bench.conductor import Conductor
from labs.bench.controls import Controls
from labs.bench.display import Display
from labs.bench.facts import facts
from labs.bench.knobs import Knobs
from labs.bench.news import News
from labs.bench.notes import Notes
from labs.bench.recording import Recorder
from labs.bench.sampling import Sampling
from labs.bench.scene import Scene
from labs.bench.screen import Screen
from labs.bench.workings import STOPPED, Workings
from labs.errors import LabError
from labs.kernel import allowed_cores

if TYPE_CHECKING:
    from labs.bench.knob import Value
    from labs.bench.recording import Recording
    from labs.lab import Lab

_NEW = "A newer bench of this lab is open. This one has stopped, and shows what it measured."
_OVER = "The lab was stopped. The bench shows what it measured; lab.start() and lab.bench() begin anew."
_CLOSED = "The bench was stopped, and shows what it measured; lab.bench() opens another."
_open: WeakKeyDictionary[Lab, Bench] = WeakKeyDictionary()


class Bench(Workings):
    """The live panel of a lab; `Lab.bench` makes one.

    It samples and draws in threads of its own, so it goes on while a cell runs, and it hears of what cells
    change in the lab.

    Parameters
    ----------
    lab : Lab
        Started.

    Raises
    ------
    LabError
        The lab is not started, or does not answer.
    """

    def __init__(self, lab: Lab) -> None:
        self._over = threading.Lock()
        self._is_over = True  # until it has begun: what could not begin is not ended
        if (older := _open.get(lab)) is not None:
            older.stop(_NEW)
        self._lab = lab
        self._knobs = Knobs(lab)
        self._scene = Scene(lab)
        self._notes, self._news = Notes(), News()
        self.recorder = Recorder(facts(lab, self._knobs))
        self._comparing = Comparing(self.recorder)
        self._sampling = Sampling(lab, self.recorder, self._notes, self._scene.wires)
        self._display = Display(list(lab), allowed_cores())
        self._controls = [Controls(self, part) for part in ("knobs", "buttons")]
        super().__init__(self._display, self._display.parts(*self._controls))
        self._conductor = Conductor(self._knobs, self._done)
        self._screen = Screen(
            lab,
            self._display,
            self.recorder,
            self._scene,
            self._notes,
            self._comparing,
            on_change=self._bury,
            on_stop=lambda: self.stop(_OVER),
        )
        self._is_over = False
        lab.listeners.append(self._hear)
        _open[lab] = self
        self._show()
        self._sampling.start()
        self._screen.start()

    # what a cell calls

    def set(self, **knobs: Value) -> None:
        """Turn knobs, as ``bench.set(pinning="same", rate=1.0)``, and return when it is done.

        Raises
        ------
        LabError
            There is no such knob or value, it could not be done, or the bench has stopped.
        """
        self._ready()
        for name, value in knobs.items():
            self.turn(name, value)
        self._settle()

    def start(self) -> None:
        """Send packets from the first node to the last, and return when they flow.

        Raises
        ------
        LabError
            The lab has no way for packets, a node has ended, or the bench has stopped.
        """
        self._ready()
        self.press("start")
        self._settle()

    def pause(self) -> None:
        """Send no more packets; sampling goes on."""
        self._ready()
        self.press("stop")
        self._settle()

    def recording(self, seconds: float | None = None) -> Recording:
        """Return what was recorded, or the last `seconds` of it."""
        return self.recorder.snapshot(None if seconds is None else time.monotonic() - seconds)

    def keep(self) -> None:
        """Keep the present run as A; what comes next is compared with it."""
        self.press("freeze")

    def compare(self) -> str:
        """Return in a sentence how the present run differs from the one kept as A."""
        return self._comparing.sentence()

    def stop(self, why: str = _CLOSED) -> None:
        """End traffic and sampling, and go on showing what was measured; safe to call twice."""
        with self._over:
            if self._is_over:
                return
            self._is_over = True
        try:
            self._end()
        except BaseException:  # an interrupt: what is left to do is done by the next call
            self._is_over = False
            raise
        self._display.note([why])
        self._show()

    def _end(self) -> None:
        with contextlib.suppress(ValueError):
            self._lab.listeners.remove(self._hear)
        self._conductor.close()
        with contextlib.suppress(LabError):
            sender = next(iter(self._lab.nodes.values()))
            if not sender.stats.stopped():  # else nobody waits for it
                self._knobs.traffic(on=False)
        self._knobs.load.running = False
        self._sampling.close()
        self._screen.close()
        if _open.get(self._lab) is self:
            del _open[self._lab]

    def close(self) -> None:
        """End it, and take it out of the page."""
        self.stop()
        super().close()

    def _ready(self) -> None:
        """See that knobs can be turned, and that only what comes next is raised."""
        if self._is_over:
            raise LabError(STOPPED, "lab.bench() opens another.")
        self._news.failed.clear()

    def _settle(self) -> None:
        self._conductor.wait()
        if self._news.failed:
            raise self._news.failed.popleft()
