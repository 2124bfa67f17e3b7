"""Packets a second on each link, from the counters in the nodes' statistics segments."""

from __future__ import annotations

import math
import time
from itertools import pairwise
from typing import TYPE_CHECKING

from labs.bench import load
from labs.bench.tables import Column
from labs.errors import LabError
from labs.vpp.sockets import DoorError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.bench.notes import Notes
    from labs.bench.recording import Recorder
    from labs.bench.wiring import Wire
    from labs.lab import Lab
    from labs.node import Node
    from labs.vpp.counters import InterfaceCounters

NAN = math.nan
_MILLION = 1e6
_GIGABIT = 1e9 / 8
_CHECKS = 5  # every so many samples the heartbeat is looked at


class Reading:
    """One node's counters at one moment; empty where they could not be read."""

    def __init__(
        self,
        at: float = NAN,
        counters: dict[str, InterfaceCounters] | None = None,
        refused: dict[str, int] | None = None,
    ) -> None:
        self.at = at
        self.counters = counters or {}
        self.refused = refused or {}

    def rate(self, before: Reading, interface: str, field: str) -> float:
        """Return a counter's growth a second since `before`; NaN where one is missing or it went back."""
        now, then = self.counters.get(interface), before.counters.get(interface)
        if now is None or then is None or not self.at > before.at:
            return NAN
        grown = getattr(now, field) - getattr(then, field)
        return grown / (self.at - before.at) if grown >= 0 else NAN

    def refused_rate(self, before: Reading, interface: str) -> float:
        """Return how many packets a second found no room in the ring behind an interface."""
        if interface not in self.counters or not self.at > before.at:
            return NAN
        grown = self.refused.get(interface, 0) - before.refused.get(interface, 0)
        return grown / (self.at - before.at) if grown >= 0 else NAN


class Rates:
    """Samples the links of a lab.

    Parameters
    ----------
    lab : Lab
    recorder : Recorder
        Gets the tracks ``traffic``, from the first link's beginning to the last one's end, and ``links``.
    notes : Notes
        Hears of nodes that cannot be read.
    wires : sequence of Wire
        The links; `wires` may be replaced while sampling goes on. Without any there is room for links that
        are made by hand, from each node to the next.
    """

    def __init__(self, lab: Lab, recorder: Recorder, notes: Notes, wires: Sequence[Wire]) -> None:
        self._lab, self._notes = lab, notes
        self.wires = wires
        self._before: dict[str, Reading] = {}
        self._count = 0
        self._still: set[str] = set()
        self.traffic = recorder.add_track(
            "traffic",
            [
                Column("sent", "sent", "Mpps"),
                Column("received", "received", "Mpps"),
                Column("lost", "lost", "Mpps"),
                Column("gbits", "received", "Gbit/s"),
            ],
        )
        ways = [
            Column(f"link{k}_{way}", f"{near} → {far}", "Mpps")
            for k, (left, right) in enumerate([(w.left, w.right) for w in wires] or pairwise(lab.nodes))
            for way, near, far in (("forth", left, right), ("back", right, left))
        ]
        self.links = recorder.add_track("links", ways) if ways else None

    def sample(self) -> None:
        """Take one sample."""
        self._count += 1
        now = {name: self._read(node) for name, node in self._lab.nodes.items()}
        at = time.monotonic()
        self.traffic.append(at, self._traffic(now) if self.wires else self._total(now))
        if self.links is not None:
            rates = [rate for wire in self.wires for rate in self._both(wire, now)]
            count = len(self.links.columns)
            self.links.append(at, (rates + [NAN] * count)[:count])
        self._before = now

    def _traffic(self, now: dict[str, Reading]) -> list[float]:
        """Return what went into the first link, came out of the last, and found no room on the way."""
        first, last = self.wires[0], self.wires[-1]
        sent = self._rate(now, first.left, first.left_interface, "tx_packets")
        received = self._rate(now, last.right, last.right_interface, "rx_packets")
        volume = self._rate(now, last.right, last.right_interface, "rx_bytes")
        lost = sum(
            now[wire.left].refused_rate(self._before.get(wire.left, Reading()), wire.left_interface)
            for wire in self.wires
        )
        return [sent / _MILLION, received / _MILLION, lost / _MILLION, volume / _GIGABIT]

    def _total(self, now: dict[str, Reading]) -> list[float]:
        """Return what all interfaces together sent, received and dropped, where there is no link."""
        sums = [
            sum(
                self._rate(now, node, interface, field)
                for node, reading in now.items()
                for interface in reading.counters
            )
            for field in ("tx_packets", "rx_packets", "drops", "rx_bytes")
        ]
        known = any(reading.counters for reading in now.values())
        scales = (_MILLION, _MILLION, _MILLION, _GIGABIT)
        return [each / scale if known else NAN for each, scale in zip(sums, scales, strict=True)]

    def _both(self, wire: Wire, now: dict[str, Reading]) -> tuple[float, float]:
        forth = self._rate(now, wire.right, wire.right_interface, "rx_packets")
        back = self._rate(now, wire.left, wire.left_interface, "rx_packets")
        return forth / _MILLION, back / _MILLION

    def _rate(self, now: dict[str, Reading], node: str, interface: str, field: str) -> float:
        return now[node].rate(self._before.get(node, Reading()), interface, field)

    def _read(self, node: Node) -> Reading:
        """Return a node's counters; a node that has ended or stands still has none.

        The counters of one that stands still can be read, and say that nothing flows, which nobody knows.
        """
        looks = self._count % _CHECKS == 0
        if node.name in self._still and not looks:
            return Reading()
        try:
            if looks:
                node.stats.check()
            counters = node.counters(brief=bool(self.wires))
            at = time.monotonic()
            sends = [wire.left_interface for wire in self.wires if wire.left == node.name]
            refused = {interface: load.refused(node, interface) for interface in sends}
        except LabError as error:
            self._still.add(node.name)
            self._notes.say(f"{node.name} counters", _why(node.name, error))
            return Reading()
        if looks:
            self._still.discard(node.name)
            self._notes.settle(f"{node.name} counters")
        return Reading(at, counters, refused)


def _why(node: str, error: LabError) -> str:
    """Return why a node's counters are not known, in a sentence that stays the same while it is so."""
    if isinstance(error, DoorError) and error.fault == "stopped":
        return f"{node} stands still: it is stopped, or busy with a long command."
    return error.message.partition("\n")[0]
