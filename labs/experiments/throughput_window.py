"""One window of the experiment `throughput`: a lab under one load, counted at both ends."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from labs.bench.load import IMIX
from labs.errors import LabError
from labs.experiments.method import Span
from labs.experiments.throughput_traffic import BACK, FORTH, ROUTED, Traffic

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
    directions : int
        1, or 2 for both at once.
    queues : int
        Rings in each direction.
    zero_copy : bool
        Whether the links' clients lend their packets or copy them.
    layer : {"", "ethernet", "ip"}
        Empty where the generator puts its packets into the link at once. Else the sender looks up their
        route first, and the link carries frames, or packets without an Ethernet header (memif's ``mode ip``).
    """

    size: Size = SIZE
    ring: int = RING
    share: float | None = None
    directions: int = 1
    queues: int = 1
    zero_copy: bool = True
    layer: str = ""

    def __str__(self) -> str:
        size = "IMIX" if self.size == IMIX else f"{self.size} bytes"
        load = "flat out" if self.share is None else f"{100 * self.share:g} % of that"
        more = [
            ("both directions", self.directions > 1),
            (f"{self.queues} queues", self.queues > 1),
            ("copied", not self.zero_copy),
            (f"routed over {self.layer}", bool(self.layer)),
        ]
        return ", ".join([size, f"ring {self.ring}", load, *(word for word, is_so in more if is_so)])

    @property
    def links(self) -> dict[str, Any]:
        """What the links are to be, as `labs.lab.Lab.rebuild_links` takes it."""
        return {
            "ring_size": self.ring,
            "queues": self.queues,
            "zero_copy": self.zero_copy,
            "mode": self.layer or "ethernet",
        }

    @property
    def loads(self) -> tuple[str, ...]:
        """What is sent."""
        if self.layer:
            return (ROUTED,)
        return (FORTH, BACK) if self.directions > 1 else (FORTH,)


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
        self.traffic = Traffic(lab)
        self._last = self.traffic.way.last
        usual = lab.current.links[0]
        self._usual = {name: getattr(usual, name) for name in Point().links}
        self.flat: dict[Size, float] = {}
        """Packets a second that came through flat out, of each size that was tried so."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the traffic, and make the links what they were, as far as the nodes still run."""
        self.traffic.stop()
        with contextlib.suppress(LabError):
            self._set_links(self._usual)

    def set(self, point: Point) -> list[str]:
        """Bring lab and traffic to a point; return the equal shell lines."""
        lines = self._set_links(point.links)
        return lines + self.traffic.send(point.loads, point.size, self._rate(point))

    def _rate(self, point: Point) -> float | None:
        if point.share is None:
            return None
        if point.size not in self.flat:
            raise LabError(
                f"A part of flat out is not known for {point}.", "measure that size flat out first."
            )
        return point.share * self.flat[point.size]

    def _set_links(self, wanted: dict[str, Any]) -> list[str]:
        """Make the links anew; do nothing where they are as wanted."""
        if all(
            getattr(link, name) == value for link in self._lab.current.links for name, value in wanted.items()
        ):
            return []
        lines = self.traffic.suspend()
        lines += self._lab.rebuild_links(**wanted)
        return lines + self.traffic.resume()

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
        if point == Point(size=point.size):
            self.flat[point.size] = found["received"]
        self._recorded.rates(
            found.pop("began"), found["seconds"], found["offered"] / _MILLION, found["received"] / _MILLION
        )
        return {**vars(point), "setting": str(point), **found}

    def count(self, seconds: float) -> dict[str, Any]:
        """Count what flows for a while."""
        receiver = self._lab[self._last.receiver]
        nodes, before, began = receiver.stats.node_counters(), self.traffic.counts(), time.monotonic()
        with Span(self._lab) as span:
            time.sleep(seconds)
        after, length = self.traffic.counts(), time.monotonic() - began
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
        self.traffic.at_rate(rate)
        time.sleep(SETTLE / 3)
        before, began = self.traffic.counts(), time.monotonic()
        while (left := began + seconds - time.monotonic()) > 0:
            time.sleep(min(left, _TICK))
            tick(time.monotonic() - began)
        after = self.traffic.counts()
        return after["offered"] - before["offered"], after["received"] - before["received"]


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
