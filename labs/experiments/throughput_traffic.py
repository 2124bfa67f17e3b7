"""The traffic of the experiment `throughput`: forth, both ways or routed, and the counts at its ends."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from labs.bench.load import Load, refused
from labs.bench.way import find_way
from labs.errors import LabError

if TYPE_CHECKING:
    from labs.bench.stream_lines import Size
    from labs.bench.way import Way
    from labs.lab import Lab

FORTH, BACK, ROUTED = "forth", "back", "routed"
_QUICK = 0.002  # seconds in which all ends are to be read; else one of them had the longer window
_TRIES = 5


class Traffic:
    """What is sent through a lab: some of three loads, as a point asks for.

    Parameters
    ----------
    lab : Lab
        Two nodes or more in a row, started.
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.way = find_way(lab.nodes)
        back = find_way(dict(reversed(lab.nodes.items())))
        self._ways: dict[str, Way] = {FORTH: self.way, BACK: back, ROUTED: self.way}
        self._loads = {
            FORTH: Load(lab),
            BACK: Load(lab, backwards=True),
            ROUTED: Load(lab, routed=True),
        }
        self._sent: tuple[str, ...] = (FORTH,)

    def send(self, which: tuple[str, ...], size: Size, rate: float | None) -> list[str]:
        """Send these loads and no others, each at a rate; return the equal shell lines."""
        lines = []
        for name, load in self._loads.items():
            if name not in which and load.running:
                lines += load.stop()
        self._sent = which
        for name in which:
            load = self._loads[name]
            lines += load.set(size=size, rate=rate)
            if not load.running:
                lines += load.start()
        return lines

    def at_rate(self, rate: float) -> None:
        """Give what is sent another rate."""
        for name in self._sent:
            self._loads[name].set(rate=rate)

    def suspend(self) -> list[str]:
        """Take the streams away, because the links go away; `resume` brings them back."""
        return [line for name in self._sent for line in self._loads[name].suspend()]

    def resume(self) -> list[str]:
        """Send again what was suspended."""
        return [line for name in self._sent for line in self._loads[name].resume()]

    def stop(self) -> None:
        """End it all, as far as the nodes still run."""
        for load in self._loads.values():
            with contextlib.suppress(LabError):
                load.stop()

    def counts(self) -> dict[str, int]:
        """Return what has been counted so far, at all ends at about the same time.

        Returns
        -------
        dict
            Packets ``offered``, ``received`` and ``refused`` for want of a slot, and ``bytes`` received; of
            all loads that are sent, together.
        """
        best, least = {}, float("inf")
        for _ in range(_TRIES):
            began = time.perf_counter()
            counts = self._read()
            if (took := time.perf_counter() - began) < least:
                best, least = counts, took
            if took < _QUICK:
                break
        return best

    def _read(self) -> dict[str, int]:
        """Return what has been counted so far; see the table in `labs.bench.load`."""
        total = dict.fromkeys(("received", "bytes", "offered", "refused"), 0)
        # the receivers first: what is under way meanwhile then looks lost, and never made from nothing
        for name in self._sent:
            last = self._ways[name].last
            inward = self._lab[last.receiver].counters()[last.at]
            total["received"] += inward.rx_packets
            total["bytes"] += inward.rx_bytes
        for name in self._sent:
            first = self._ways[name].first
            sender = self._lab[first.sender]
            total["offered"] += sender.counters()[first.by].tx_packets
            total["refused"] += refused(sender, first.by)
        return total
