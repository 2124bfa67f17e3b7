"""What a probe has measured: raw samples, their percentiles, and whether they are to be trusted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from labs.errors import LabError
from labs.traffic import probe_quality
from labs.traffic.histogram import Histogram, check_percentile
from labs.traffic.probe_plan import disturbed
from labs.traffic.probe_summary import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labs.traffic.floor import Floor


@dataclass(frozen=True, eq=False)
class ProbeRun:
    """Latencies of one run.

    A latency counts from the time its request was *due* to the time its reply was seen. Counting from when it
    was sent would leave out what happened while none could be sent: a node that stalls is asked less, and its
    stall shows in one sample instead of in all that were due meanwhile (coordinated omission). Both are kept.

    Attributes
    ----------
    name : str
        What was measured, as ``vpp2`` or ``vpp1 → vpp2``.
    way : str
        ``round trip`` or ``one way``.
    due_ns, sent_ns, got_ns : ndarray of int64, shape (requests,)
        CLOCK_MONOTONIC; 0 in `sent_ns` and `got_ns` for what has not happened.
    interval_us : float
        Mean time from one request to the next.
    even : bool
        Whether requests are equally far apart, or at random (Poisson).
    gaps_ns : ndarray of int64, shape (gaps, 2)
        When the probe itself did not run: begin and length.
    gap_count, gap_total_ns : int
        As many there were, and their sum; of very many only the first are in `gaps_ns`.
    floor : Floor or None
        What the probe measures of itself.
    wait : str
        ``poll``, ``nap`` or ``sleep``.
    where : str
        On which cores, and how the node waits.
    ended : str
        Why the run ended before its time; empty if it did not.
    foreign, twice : int
        Packets that were no replies of this run, and replies that came again.
    """

    name: str
    way: str
    due_ns: NDArray[np.int64] = field(repr=False)
    sent_ns: NDArray[np.int64] = field(repr=False)
    got_ns: NDArray[np.int64] = field(repr=False)
    interval_us: float
    even: bool = True
    gaps_ns: NDArray[np.int64] = field(repr=False, default_factory=lambda: np.zeros((0, 2), np.int64))
    gap_count: int = 0
    gap_total_ns: int = 0
    floor: Floor | None = None
    wait: str = "poll"
    where: str = ""
    ended: str = ""
    foreign: int = 0
    twice: int = 0

    @property
    def planned(self) -> int:
        """Requests that were due."""
        return self.due_ns.size

    @property
    def sent(self) -> int:
        """Requests sent."""
        return int(np.count_nonzero(self.sent_ns))

    @property
    def received(self) -> int:
        """Requests answered."""
        return int(np.count_nonzero(self.got_ns))

    @property
    def lost(self) -> int:
        """Requests sent and not answered."""
        return self.sent - self.received

    @property
    def samples_us(self) -> NDArray[np.float64]:
        """Latencies in µs, of the answered requests, in order of sending; corrected."""
        return self._samples(self.due_ns) / 1e3

    @property
    def uncorrected_us(self) -> NDArray[np.float64]:
        """The same counted from when each request was really sent."""
        return self._samples(self.sent_ns) / 1e3

    def _samples(self, begin: NDArray[np.int64]) -> NDArray[np.int64]:
        answered = self.got_ns > 0
        return self.got_ns[answered] - begin[answered]

    @cached_property
    def histogram(self) -> Histogram:
        """The corrected latencies as an HDR histogram; merge those of several runs."""
        return Histogram.of(self._samples(self.due_ns))

    @cached_property
    def uncorrected(self) -> Histogram:
        """The latencies counted from when each request was really sent, as an HDR histogram."""
        return Histogram.of(self._samples(self.sent_ns))

    def percentile(self, q: float, *, corrected: bool = True) -> float:
        """Return a percentile of the latency in µs; 0 and 100 are the least and the greatest sample.

        Raises
        ------
        LabError
            There is no such percentile, or no request was answered.
        """
        check_percentile(q)
        if not self.received:
            raise LabError(
                f"{self.name} answered none of {self.sent} requests.{' ' * bool(self.ended)}{self.ended}",
                "see lab.wait_link() for the link, and `show errors` on the node for drops.",
            )
        if q in (0, 100):
            samples = self._samples(self.due_ns if corrected else self.sent_ns)
            return float(samples.max() if q else samples.min()) / 1e3
        return (self.histogram if corrected else self.uncorrected).percentile(q)

    @property
    def p50(self) -> float:
        """The median latency in µs."""
        return self.percentile(50)

    @property
    def p90(self) -> float:
        """The 90th percentile in µs."""
        return self.percentile(90)

    @property
    def p99(self) -> float:
        """The 99th percentile in µs."""
        return self.percentile(99)

    @property
    def p999(self) -> float:
        """The 99.9th percentile in µs."""
        return self.percentile(99.9)

    @property
    def disturbed(self) -> NDArray[np.bool_]:
        """Which requests were under way while the probe itself did not run, shape (requests,)."""
        return disturbed(self.due_ns, self.got_ns, self.gaps_ns)

    @property
    def disturbed_share(self) -> float:
        """The share of such requests, 0 to 1."""
        return float(self.disturbed.mean()) if self.planned else 0.0

    def undisturbed(self) -> Self:
        """Return the run without the requests that a gap of the probe's own fell into.

        Slow answers meet a gap more often than fast ones, so this is too kind to the node: look at both.
        """
        keep = ~self.disturbed
        return replace(
            self,
            due_ns=self.due_ns[keep],
            sent_ns=self.sent_ns[keep],
            got_ns=self.got_ns[keep],
            gaps_ns=self.gaps_ns[:0],
            gap_count=0,
            gap_total_ns=0,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each request: when it was due, its latencies (NaN: lost), and `disturbed`."""
        answered = self.got_ns > 0
        start = self.due_ns[0] if self.planned else 0
        return pd.DataFrame(
            {
                "time (s)": (self.due_ns - start) / 1e9,
                "latency (µs)": np.where(answered, (self.got_ns - self.due_ns) / 1e3, np.nan),
                "uncorrected (µs)": np.where(answered, (self.got_ns - self.sent_ns) / 1e3, np.nan),
                "disturbed": self.disturbed,
            }
        )

    @property
    def notes(self) -> list[str]:
        """What speaks against these figures, a sentence each; empty if nothing does."""
        return probe_quality.notes(self)

    def summary(self) -> Summary:
        """Return a table of the percentiles, corrected and not, with the probe's own floor and the notes."""
        return Summary.of(self)

    def __str__(self) -> str:
        head = f"{self.name} ({self.way}): {self.sent} sent, {self.received} answered"
        if not self.received:
            return head
        floor = f"; the probe's own floor {self.floor.p50_us:.2g} µs" if self.floor else ""
        return f"{head}; p50 {self.p50:.3g} µs, p99 {self.p99:.3g} µs{floor}"

    __repr__ = __str__
