"""Record an experiment's pings and what the scheduler did meanwhile, as a bench records them."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from labs.bench.recording import Recorder
from labs.bench.tables import Column
from labs.drawing import svg
from labs.machine import machine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from labs.bench.recording import Recording
    from labs.evidence import Share
    from labs.lab import Lab
    from labs.ping import Ping
    from labs.quality import Quality
    from labs.traffic.probe_run import ProbeRun

_BURST = 0.5  # seconds of pings that a point tells of
_STEP = 0.5  # seconds between the points of a figure that holds for a whole window


class Recorded:
    """What an experiment records beside its windows.

    Parameters
    ----------
    lab : Lab
        Started.
    """

    def __init__(self, lab: Lab) -> None:
        self._recorder = Recorder(
            {
                "engine": lab.engine,
                "data plane": lab.version,
                "labs": version("vpp-labs"),
                "machine": machine().to_dict(),
                "nodes": list(lab.nodes),
                "processor time": "the mean of each window",
            }
        )
        self._recorder.picture = svg(lab.view())
        self._ping = self._recorder.add_track(
            "ping",
            [
                Column("ping_p50", "VPP's ping, p50", "µs"),
                Column("ping_max", "VPP's ping, max", "µs"),
                Column("ping_lost", "VPP's ping, lost", "%"),
            ],
        )
        self._probe = self._recorder.add_track(
            "probe",
            [
                Column("probe_p50", "our probe, p50", "µs"),
                Column("probe_p99", "our probe, p99", "µs"),
                Column("probe_max", "our probe, max", "µs"),
                Column("probe_lost", "our probe, lost", "%"),
            ],
        )
        self._traffic = self._recorder.add_track(
            "traffic",
            [
                Column("sent", "sent", "Mpps"),
                Column("received", "received", "Mpps"),
                Column("lost", "lost", "Mpps"),
            ],
        )
        self._cpu = self._recorder.add_track(
            "cpu",
            [
                Column(f"{name}_{what}", f"{name} {words}", "%")
                for name in lab.nodes
                for what, words in (("runs", "runs"), ("waits", "waits for its core"))
            ],
        )

    def turn(self, label: str, commands: Iterable[str]) -> None:
        """Note that the lab is changed now."""
        self._recorder.mark(label, commands)

    def window(
        self, began: float, ended: float, ping: Ping, interval: float, shares: Sequence[Share]
    ) -> None:
        """Record a window that has just ended: its pings, and what each node did meanwhile."""
        self.pinged(began, ended, ping, interval)
        self.shares(began, ended, shares)
        self._cpu.append(ended + interval, [np.nan] * len(self._cpu.columns))

    def pinged(self, began: float, ended: float, ping: Ping, interval: float) -> None:
        """Record pings that have just ended.

        Parameters
        ----------
        began, ended : float
            In seconds on `time.monotonic`.
        ping : Ping
        interval : float
            Seconds between its requests.
        """
        # The last request left about one interval before the end, and the others at even steps before it.
        bursts = max(round(ping.sent * interval / _BURST), 1)
        for numbers in np.array_split(np.arange(ping.sent), bursts):
            if len(numbers):
                at = ended - (ping.sent - 1 - numbers[-1]) * interval
                times = 1e3 * ping.times_ms[np.isin(_from_zero(ping), numbers)]
                told = [np.median(times), times.max()] if len(times) else [np.nan, np.nan]
                self._ping.append(max(at, began), [*told, 100 * (1 - len(times) / len(numbers))])
        self._ping.append(ended + interval, [np.nan] * 3)

    def probed(self, began: float, run: ProbeRun) -> None:
        """Record what a probe has seen, `began` in seconds on `time.monotonic`."""
        parts = np.array_split(
            run.uncorrected_us, max(round(run.planned * run.interval_us / 1e6 / _BURST), 1)
        )
        each = run.planned * run.interval_us / 1e6 / len(parts)
        for number, times in enumerate(parts, start=1):
            if len(times):
                told = [np.median(times), np.percentile(times, 99), times.max()]
                self._probe.append(began + number * each, [*told, 100 * run.lost / max(run.sent, 1)])
        self._probe.append(began + (len(parts) + 1) * each, [np.nan] * 4)

    def rates(self, began: float, seconds: float, sent: float, received: float) -> None:
        """Record the rates of a window in Mpps, `began` in seconds on `time.monotonic`."""
        row = [sent, received, max(sent - received, 0.0)]
        for at in np.linspace(began, began + seconds, max(round(seconds / _STEP), 1) + 1):
            self._traffic.append(float(at), row)
        self._traffic.append(began + seconds + _STEP / 2, [np.nan] * len(row))

    def shares(self, began: float, ended: float, shares: Sequence[Share]) -> None:
        """Record what each node did from one moment to another."""
        row = [np.nan if each is None else 100 * each for s in shares for each in (s.running, s.waiting)]
        for at in np.linspace(began, ended, max(round((ended - began) / _STEP), 1) + 1):
            self._cpu.append(float(at), row)

    def so_far(self, quality: Quality | None = None) -> Recording:
        """Return what was recorded so far."""
        if quality is not None:
            self._recorder.quality = quality
        return self._recorder.snapshot()


def _from_zero(ping: Ping) -> np.ndarray:
    """Return the numbers of the requests that were answered; VPP counts from 1."""
    return ping.sequence - 1
