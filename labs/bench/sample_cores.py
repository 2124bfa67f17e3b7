"""Who runs and who waits: the nodes' threads, the cores, and this notebook's own process."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import psutil

from labs.bench.tables import Column
from labs.evidence import share_of
from labs.kernel import allowed_cores, threads

if TYPE_CHECKING:
    from labs.bench.recording import Recorder
    from labs.kernel import Thread
    from labs.lab import Lab

NAN = math.nan


class Cores:
    """Samples the scheduler's record of a lab's nodes.

    Parameters
    ----------
    lab : Lab
    recorder : Recorder
        Gets the track ``cpu``; all in per cent of one core.
    """

    def __init__(self, lab: Lab, recorder: Recorder) -> None:
        self._lab = lab
        self._cores = allowed_cores()
        columns = []
        for name in lab.nodes:
            columns += [
                Column(f"{name}_runs", f"{name} runs", "%"),
                Column(f"{name}_waits", f"{name} waits for its core", "%"),
            ]
        columns += [Column(f"core{core}", f"core {core} is busy", "%") for core in self._cores]
        self.track = recorder.add_track("cpu", [*columns, Column("notebook", "this notebook", "%")])
        self._threads: dict[str, tuple[int, list[Thread]]] = {}
        self._at = NAN
        self._own = 0.0
        self._busy: dict[int, tuple[float, float]] = {}

    def sample(self) -> None:
        """Take one sample: what happened since the last."""
        at, own, busy = time.monotonic(), time.process_time(), self._busy_now()
        now = {name: (node.handle.pid, threads(node.handle.pid)) for name, node in self._lab.nodes.items()}
        if at > self._at:
            seconds = at - self._at
            row = [value for name in now for value in self._share(name, now[name], seconds)]
            row += [_grown(self._busy.get(core), busy.get(core)) for core in self._cores]
            self.track.append(at, [*row, 100 * (own - self._own) / seconds])
        self._at, self._own, self._busy, self._threads = at, own, busy, now

    def _share(self, name: str, now: tuple[int, list[Thread]], seconds: float) -> tuple[float, float]:
        pid, after = now
        was, before = self._threads.get(name, (pid, []))
        if pid != was or not (before and after):  # it has ended, or is another process now
            return NAN, NAN
        share = share_of(name, before, after, seconds)
        return _per_cent(share.running), _per_cent(share.waiting)

    def _busy_now(self) -> dict[int, tuple[float, float]]:
        """Return each core's busy and whole seconds since the machine started."""
        found = {}
        for core, times in enumerate(psutil.cpu_times(percpu=True)):
            idle = times.idle + getattr(times, "iowait", 0.0)
            # guest time is part of user time already
            whole = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
            found[core] = (whole - idle, whole)
        return found


def _grown(before: tuple[float, float] | None, now: tuple[float, float] | None) -> float:
    if before is None or now is None or not now[1] > before[1]:
        return NAN
    return 100 * (now[0] - before[0]) / (now[1] - before[1])


def _per_cent(fraction: float | None) -> float:
    return NAN if fraction is None else 100 * fraction
