"""One window of the experiment `rx_mode`: a lab set to one way of waiting, and all instruments read once."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from labs.bench.load import Load
from labs.bench.way import find_way
from labs.errors import LabError
from labs.experiments.method import Span
from labs.placement import STATES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labs.experiments.recorded import Recorded
    from labs.lab import Lab

PING_INTERVAL = 0.05
PROBE_INTERVAL = 0.002
SETTLE = 0.3
FEWEST = 10
"""Replies that a percentile is made of, at least."""
_THOUSAND = 1e3
_OPTIONS: dict[str, Any] = {"floor": False, "patience": 0.2}


@dataclass(frozen=True)
class Setting:
    """How nodes wait, where they run, and how many packets a second come: 0 for none."""

    mode: str
    state: str
    rate: float

    @property
    def load(self) -> str:
        """The rate in words."""
        return f"{self.rate / _THOUSAND:g}k packets a second" if self.rate else "idle"

    def __str__(self) -> str:
        return f"{self.mode}, {STATES[self.state]}, {self.load}"


class Bed:
    """A lab of two nodes or more with traffic, a probe at its last node, and one through all and back.

    Parameters
    ----------
    lab : Lab
        Started.
    seconds : float
        How long each instrument measures.
    recorded : Recorded
        Gets what is measured, too.

    Attributes
    ----------
    load : Load
    sender, receiver : str
        The first node and the last.
    interface : str
        Where packets come in at the receiver.
    """

    def __init__(self, lab: Lab, seconds: float, recorded: Recorded) -> None:
        self._lab, self._seconds, self._recorded = lab, seconds, recorded
        self.load = Load(lab)
        names = list(lab.nodes)
        self.sender, self.receiver = names[0], names[-1]
        hop = find_way(lab.nodes).last
        self._last_sender, self._by = hop.sender, hop.by
        self.interface = hop.at
        self._near = lab.probe(self.receiver)
        self._whole = lab.probe(self.sender, self.receiver, back=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the traffic and take the probes away, as far as the nodes still run."""
        for undo in (self.load.stop, self._near.close, self._whole.close):
            with contextlib.suppress(LabError):
                undo()

    def set(self, setting: Setting) -> list[str]:
        """Bring the lab to a setting; return the equal shell lines."""
        lines = list(self._lab.place(setting.state).commands)
        for node in self._lab.nodes.values():
            lines += node.in_shell(node.rx_mode(setting.mode))
        lines += self.load.set(rate=setting.rate)
        if not self.load.running:
            lines += self.load.start()
        return lines

    def window(self, setting: Setting) -> dict[str, Any]:
        """Measure a setting once.

        The instruments take turns, for a ping and a probe wake the nodes that they measure. The scheduler is
        asked while none of them is at work.

        Returns
        -------
        dict
            What was set and read back, round trips by each instrument, what the scheduler did, and counts
            a second: ``rung`` (doorbells that the last link's sender rang), ``offered`` and ``received``.
        """
        lines = self.set(setting)
        self._recorded.turn(str(setting), lines)
        time.sleep(SETTLE)
        before, began = self._counts(), time.monotonic()
        with Span(self._lab) as span:
            time.sleep(self._seconds)
        after, seconds = self._counts(), time.monotonic() - began
        self._recorded.shares(began, began + seconds, span.shares)
        near = self._at_receiver()
        whole = self._through_all()
        count = max(round(self._seconds / PING_INTERVAL), 3)
        began = time.monotonic()
        ping = self._lab.ping(self.sender, self.receiver, count=count, interval=PING_INTERVAL)
        self._recorded.pinged(began, time.monotonic(), ping, PING_INTERVAL)
        return {
            **vars(setting),
            "setting": str(setting),
            "cores read back": {name: list(node.cores()) for name, node in self._lab.nodes.items()},
            "modes read back": {name: node.rx_modes() for name, node in self._lab.nodes.items()},
            "sent": ping.sent,
            "times_ms": ping.times_ms.tolist(),
            "near_us": near,
            "whole_us": whole,
            **{name: (after[name] - before[name]) / seconds for name in before},
            **span.to_dict(),
        }

    def _through_all(self) -> list[float]:
        """Return round trips through all nodes and back in µs, counted from when they were sent."""
        began = time.monotonic()
        run = self._whole.run(self._seconds / 2, PROBE_INTERVAL, **_OPTIONS)
        self._recorded.probed(began, run)
        return _rounded(run.uncorrected_us)

    def _at_receiver(self) -> list[float]:
        """Return round trips to the last node in µs, of those during which the probe was not held up.

        It shares a core with another node, and what it waited for that core says nothing of the link. Of the
        way through all nodes every trip is kept: there the waiting is what is to be seen.
        """
        run = self._near.run(self._seconds / 2, PROBE_INTERVAL, **_OPTIONS)
        return _rounded(run.undisturbed().uncorrected_us)

    def _counts(self) -> dict[str, int]:
        """Return what the last link has counted so far; see `window`."""
        sender, receiver = self._lab[self._last_sender], self._lab[self.receiver]
        memif = sender.memifs().interface(self._by)
        way = {"client": "slave-to-master", "server": "master-to-slave"}
        rings = [ring for ring in memif.rings if ring.direction == way[memif.role]] if memif else []
        return {
            "rung": sum(ring.interrupts or 0 for ring in rings),
            "offered": sender.counters()[self._by].tx_packets,
            "received": receiver.counters()[self.interface].rx_packets,
        }


def _rounded(times: NDArray[np.float64]) -> list[float]:
    return [round(float(each), 2) for each in times]


def percentile(samples: list[float], q: float) -> float | None:
    """Return a percentile; None of too few samples."""
    return float(np.percentile(samples, q)) if len(samples) >= min(FEWEST, 3) else None
