"""One window of the experiment `throughput`: a lab under one load, counted at both ends."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from labs.bench.load import IMIX, Load, refused
from labs.bench.way import find_way
from labs.errors import LabError
from labs.experiments.method import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from labs.bench.stream_lines import Size
    from labs.experiments.recorded import Recorded
    from labs.lab import Lab
    from labs.vpp.stats import NodeCounters

SIZE, RING = 64, 1024
"""The middle, around which one thing at a time is changed."""
SETTLE = 0.3
_BEHIND_INPUT = ("ethernet-input", "ip4-input", "ip4-input-no-checksum")
_QUICK = 0.002  # seconds in which both ends are to be read; else one of them had the longer window
_TRIES = 5
_TICK = 2.0  # seconds; no cell is silent for longer than three
_MILLION = 1e6
_GIGA = 1e9


@dataclass(frozen=True)
class Point:
    """What is offered, and over what.

    Parameters
    ----------
    size : int or "imix"
        Bytes of a frame.
    ring : int
        Descriptors of the link's rings.
    share : float or None
        Part of what comes through flat out; None for flat out.
    """

    size: Size = SIZE
    ring: int = RING
    share: float | None = None

    def __str__(self) -> str:
        size = "IMIX" if self.size == IMIX else f"{self.size} bytes"
        load = "flat out" if self.share is None else f"{100 * self.share:g} % of that"
        return f"{size}, ring {self.ring}, {load}"


class Bed:
    """A lab with traffic from its first node to its last, where it is dropped.

    Parameters
    ----------
    lab : Lab
        Two nodes or more, started, each on a core of its own.
    seconds : float
        Length of a window; node counters move every half second only.
    recorded : Recorded
        Gets the rates, too.
    """

    def __init__(self, lab: Lab, seconds: float, recorded: Recorded) -> None:
        self._lab, self._seconds, self._recorded = lab, seconds, recorded
        self.load = Load(lab)
        self.load.rate = None
        way = find_way(lab.nodes)
        self._first, self._last = way.first, way.last
        self._ring: int | None = None
        self.flat: dict[Size, float] = {}
        """Packets a second that came through flat out, of each size that was tried so."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the traffic, and give the links their usual rings, as far as the nodes still run."""
        with contextlib.suppress(LabError):
            self.load.stop()
        with contextlib.suppress(LabError):
            self._set_ring(RING)

    def set(self, point: Point) -> list[str]:
        """Bring lab and traffic to a point; return the equal shell lines."""
        lines = self._set_ring(point.ring)
        lines += self.load.set(size=point.size, rate=self._rate(point))
        return lines if self.load.running else lines + self.load.start()

    def _rate(self, point: Point) -> float | None:
        if point.share is None:
            return None
        if point.size not in self.flat:
            raise LabError(
                f"A part of flat out is not known for {point}.", "measure that size flat out first."
            )
        return point.share * self.flat[point.size]

    def _set_ring(self, ring: int) -> list[str]:
        """Make the links anew with other rings; do nothing where they have them."""
        if ring == self._ring:
            return []
        is_usual = self._ring is None and all(link.ring_size == ring for link in self._lab.current.links)
        self._ring = ring
        if is_usual:
            return []
        lines = self.load.suspend()
        lines += self._lab.rebuild_links(ring_size=ring)
        return lines + self.load.resume()

    def window(self, point: Point) -> dict[str, Any]:
        """Measure a point once.

        Returns
        -------
        dict
            Packets a second ``offered``, ``received`` and ``refused`` for want of a slot, ``gbit_per_s``
            received, how full the receiver's vectors were, cycles a packet cost at each of its nodes.
        """
        lines = self.set(point)
        self._recorded.turn(str(point), lines)
        time.sleep(SETTLE)
        found = self.count(self._seconds)
        if point.share is None and point.ring == RING:
            self.flat[point.size] = found["received"]
        self._recorded.rates(
            found.pop("began"), found["seconds"], found["offered"] / _MILLION, found["received"] / _MILLION
        )
        return {**vars(point), "setting": str(point), **found}

    def count(self, seconds: float) -> dict[str, Any]:
        """Count what flows for a while."""
        receiver = self._lab[self._last.receiver]
        nodes, before, began = receiver.stats.node_counters(), self._counts(), time.monotonic()
        with Span(self._lab) as span:
            time.sleep(seconds)
        after, length = self._counts(), time.monotonic() - began
        rates = {name: (after[name] - before[name]) / length for name in before}
        gbit_per_s = 8 * rates.pop("bytes") / _GIGA
        return {
            "began": began,
            "seconds": length,
            **rates,
            "gbit_per_s": gbit_per_s,
            **work(nodes, receiver.stats.node_counters()),
            **span.to_dict(),
        }

    def trial(
        self, rate: float, seconds: float, tick: Callable[[float], None] = lambda _: None
    ) -> tuple[int, int]:
        """Offer a rate for a while; return the packets offered and received.

        Parameters
        ----------
        rate : float
            Packets a second.
        seconds : float
        tick : callable
            Hears now and then how many seconds have passed.
        """
        self.load.set(rate=rate)
        time.sleep(SETTLE / 3)
        before, began = self._counts(), time.monotonic()
        while (left := began + seconds - time.monotonic()) > 0:
            time.sleep(min(left, _TICK))
            tick(time.monotonic() - began)
        after = self._counts()
        return after["offered"] - before["offered"], after["received"] - before["received"]

    def _counts(self) -> dict[str, int]:
        """Return what has been counted so far, at both ends at about the same time."""
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
        sender, receiver = self._lab[self._first.sender], self._lab[self._last.receiver]
        # the receiver first: what is under way meanwhile then looks lost, and never made from nothing
        inward = receiver.counters()[self._last.at]
        return {
            "received": inward.rx_packets,
            "bytes": inward.rx_bytes,
            "offered": sender.counters()[self._first.by].tx_packets,
            "refused": refused(sender, self._first.by),
        }


def work(before: Mapping[str, NodeCounters], after: Mapping[str, NodeCounters]) -> dict[str, Any]:
    """Return what a node's graph has done between two looks.

    Returns
    -------
    dict
        ``packets_a_vector``, as the graph node behind memif-input gets them, None where it got none: calls of
        memif-input itself are also those that find an empty ring; ``cycles``: clock cycles that each graph
        node spent for a packet, those that cost the most first.
    """
    spent: dict[str, float] = {}
    for name, now in after.items():
        was = before.get(name)
        vectors = now.vectors - (was.vectors if was else 0)
        if vectors > 0:
            spent[name] = (now.clocks - (was.clocks if was else 0)) / vectors
    first = next((name for name in _BEHIND_INPUT if name in spent), None)
    was = before.get(first) if first else None
    calls = after[first].calls - (was.calls if was else 0) if first else 0
    vectors = after[first].vectors - (was.vectors if was else 0) if first else 0
    return {
        "packets_a_vector": vectors / calls if calls else None,
        "cycles": dict(sorted(spent.items(), key=lambda each: -each[1])),
    }
