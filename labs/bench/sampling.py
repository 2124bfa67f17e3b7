"""The threads in which a bench samples, each at its own pace."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Protocol

from labs.bench.sample_cores import Cores
from labs.bench.sample_ping import LivePing
from labs.bench.sample_probe import LiveProbe
from labs.bench.sample_rates import Rates
from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from labs.bench.notes import Notes
    from labs.bench.recording import Recorder
    from labs.bench.wiring import Wire
    from labs.lab import Lab

PERIODS = {"rates": 0.05, "cores": 0.25, "probe": 0.25, "ping": 1.0}
"""Seconds from one sample to the next."""
CALM = {"rates": 0.1}
"""The same, while no knob was turned for a while: what is measured is to be left alone."""
BRISK_FOR = 5.0
"""Seconds after a turn."""
_PATIENCE = 2.0  # seconds that a thread may take to end; a ping may wait for a VPP that stands still


class Sampler(Protocol):
    """What samples."""

    def sample(self) -> None:
        """Take one sample."""


class Sampling:
    """Samples a lab until it is closed.

    Parameters
    ----------
    lab : Lab
        Started.
    recorder : Recorder
        Gets the tracks.
    notes : Notes
    wires : sequence of Wire
    """

    def __init__(self, lab: Lab, recorder: Recorder, notes: Notes, wires: Sequence[Wire]) -> None:
        self._notes = notes
        self._end = threading.Event()
        self._brisk_until = time.monotonic() + BRISK_FOR
        self.rates = Rates(lab, recorder, notes, wires)
        self.cores = Cores(lab, recorder)
        # a link may also be made by hand, later
        many = len(lab.nodes) > 1
        self.probe = LiveProbe(lab, recorder, notes) if many else None
        ping = LivePing(lab, recorder, notes) if many else None
        samplers: dict[str, Sampler | None] = {
            "rates": self.rates,
            "cores": self.cores,
            "probe": self.probe,
            "ping": ping,
        }
        self._threads = [
            threading.Thread(target=self._run, args=(name, each.sample), name=f"bench {name}", daemon=True)
            for name, each in samplers.items()
            if each is not None
        ]

    def start(self) -> None:
        """Begin to sample."""
        for thread in self._threads:
            thread.start()

    def hurry(self) -> None:
        """Sample often for some seconds: something was turned."""
        self._brisk_until = time.monotonic() + BRISK_FOR

    def close(self) -> None:
        """End all threads, and take back what was given to the nodes; safe to call twice."""
        self._end.set()
        deadline = time.monotonic() + _PATIENCE
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(deadline - time.monotonic(), 0))
        if self.probe:
            self.probe.close()

    def _run(self, name: str, sample: Callable[[], None]) -> None:
        """Sample at an even pace; samples that were missed are not made up for."""
        due, matter = time.monotonic(), f"sampling {name}"
        while not self._end.wait(max(due - time.monotonic(), 0)):
            now = time.monotonic()
            period = PERIODS[name] if now < self._brisk_until else CALM.get(name, PERIODS[name])
            due = max(due + period, now)
            try:
                sample()
            except LabError as error:  # the lab was stopped or reset under way
                self._notes.say(matter, error.message.partition("\n")[0])
            except Exception as error:  # noqa: BLE001 - a sampler's fault is a sentence and a gap, not the end
                self._notes.say(matter, f"A sample of {name} failed: {type(error).__name__}: {error}.")
            else:
                self._notes.settle(matter)
