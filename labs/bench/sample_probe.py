"""The probe on the wire, for as long as the bench runs: what the last half second's replies took."""

from __future__ import annotations

import contextlib
import math
import time
from typing import TYPE_CHECKING

import numpy as np

from labs.bench.tables import Column
from labs.errors import LabError
from labs.probing import NodeProbe
from labs.traffic.probe_kernels import GAPS
from labs.traffic.probe_plan import PATIENCE, disturbed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labs.bench.notes import Notes
    from labs.bench.recording import Recorder
    from labs.lab import Lab
    from labs.traffic.probe_measurement import Measurement
    from labs.traffic.probe_plan import Plan

NAN = math.nan
INTERVAL = 0.01
"""Seconds from one request to the next, at first."""
WINDOW = 0.5
"""Seconds of replies that a point tells of, at least; see `window`."""
_PIECE = 100.0  # seconds of one measurement; the next follows at once
_MOST = 100_000  # requests of one measurement
_RETRY = 1.0
_FEWEST = 3  # replies that a percentile may be made of
_REQUESTS = 5  # that a window holds at least
_NS = 1e9


def window(interval: float) -> float:
    """Return how many seconds of replies a point tells of, where requests are so many seconds apart."""
    return max(WINDOW, _REQUESTS * interval)


class LiveProbe:
    """Samples round trips from our own endpoint through the first node to the last, and back.

    It sleeps between two packets, so it costs a per cent of a core and needs none of its own.

    Parameters
    ----------
    lab : Lab
    recorder : Recorder
        Gets the track ``probe``.
    notes : Notes
        Hears why nothing is measured.
    """

    def __init__(self, lab: Lab, recorder: Recorder, notes: Notes) -> None:
        self._lab, self._notes = lab, notes
        self.interval = INTERVAL
        names = list(lab.nodes)
        self._first, self._last = names[0], names[-1]
        self.track = recorder.add_track(
            "probe",
            [
                Column("probe_p50", "our probe, p50", "µs"),
                Column("probe_p99", "our probe, p99", "µs"),
                Column("probe_max", "our probe, max", "µs"),
                Column("probe_lost", "our probe, lost", "%"),
            ],
        )
        self._probe: NodeProbe | None = None
        self._running: Measurement | None = None
        self._asked = (0.0, 0)
        self._stale = 0
        self._not_before = 0.0
        self._is_closed = False

    def renew(self) -> None:
        """Begin anew soon: nodes have moved, or were restarted; any thread may call this."""
        self._stale += 1

    def sample(self) -> None:
        """Take one sample, and see that a measurement is under way."""
        now = time.monotonic()
        row = self._window(now) if self._running else [NAN] * 4
        self.track.append(now, row)
        asked = (self.interval, self._stale)
        if self._running and not self._running.is_over and asked == self._asked:
            return
        if now < self._not_before:
            return
        self.stop()
        if asked == self._asked:
            self._not_before = (
                now + _RETRY
            )  # a measurement that ends at once does not begin four times a second
        try:
            self._begin(asked)
        except LabError as error:
            self._not_before = time.monotonic() + _RETRY
            self._notes.say("probe", f"The probe cannot measure: {error.message.partition(chr(10))[0]}")
        else:
            self._notes.settle("probe")
        if self._is_closed:  # meanwhile, in another thread
            self.close()

    def stop(self) -> None:
        """End what is under way; `sample` begins anew."""
        running, self._running = self._running, None
        if running:
            running.stop()

    def close(self) -> None:
        """End, and take the probe's memif and routes from the nodes that run; safe to call twice."""
        self._is_closed = True
        self.stop()
        if self._probe:
            with contextlib.suppress(LabError):
                self._probe.close()

    def _begin(self, asked: tuple[float, int]) -> None:
        if self._probe is None or asked[1] != self._asked[1]:
            to = self._last if self._last != self._first else None
            # with a memif of its own: else a cell's probe would wait until this one is over
            self._probe = NodeProbe(
                self._lab.folder, self._lab.nodes, self._first, to, wait="sleep", back=True, standing=True
            )
        seconds = min(_PIECE, _MOST * asked[0])
        self._running = self._probe.start(seconds, asked[0], floor=False)
        self._asked = asked

    def _window(self, now: float) -> list[float]:
        """Return p50, p99 and max in µs of the last replies, and the share lost."""
        running = self._running
        if running is None:  # `close`, in another thread
            return [NAN] * 4
        plan = running.plan
        at, span = now * _NS, window(plan.interval) * _NS
        due, got = plan.due, plan.got
        # replies to requests from before the window are late ones, which belong to it
        first = int(np.searchsorted(due, at - span - PATIENCE * _NS))
        last = int(np.searchsorted(due, at))
        due, got = due[first:last], got[first:last].copy()
        fresh = got > at - span
        times = _undisturbed(plan, due, got, fresh) / 1e3
        given_up = due < at - PATIENCE * _NS
        lost = 100 * float(np.mean(got[given_up] == 0)) if given_up.any() else NAN
        if times.size < _FEWEST:
            return [NAN, NAN, NAN, lost]
        return [float(np.percentile(times, 50)), float(np.percentile(times, 99)), float(times.max()), lost]


def _undisturbed(
    plan: Plan, due: NDArray[np.int64], got: NDArray[np.int64], fresh: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the times in ns of fresh replies, without those during which the probe itself had no core.

    Where that would leave less than half, all are returned.
    """
    kept = min(int(plan.state[GAPS]), len(plan.gaps))
    own = disturbed(due, got, plan.gaps[:kept])
    times = got - due
    good = times[fresh & ~own]
    return good if 2 * good.size >= fresh.sum() else times[fresh]
