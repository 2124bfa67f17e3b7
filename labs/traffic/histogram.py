"""Times in an HDR histogram: three significant digits over nine decades, in a few kilobytes.

Raw samples are better for a plot over time; a histogram adds up over runs, whatever their number, and its
percentiles are those of other tools that use HdrHistogram (Gil Tene, hdrhistogram.org).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from hdrh.histogram import HdrHistogram

from labs.errors import LabError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LONGEST_NS = 100_000_000_000
"""Longer times count as this long: 100 s."""
DIGITS = 3
_EXACT_BITS = 11  # values below 2 ** 11 have a bucket each; above, 2 ** 10 buckets for each power of two


class Histogram:
    """Times in nanoseconds, 1 ns to 100 s, to three significant digits."""

    def __init__(self) -> None:
        self._counts = HdrHistogram(1, LONGEST_NS, DIGITS)

    @classmethod
    def of(cls, times_ns: ArrayLike) -> Self:
        """Return a histogram of times.

        Parameters
        ----------
        times_ns : array_like of int, shape (samples,)
        """
        made = cls()
        made.record(times_ns)
        return made

    def record(self, times_ns: ArrayLike) -> None:
        """Add times in nanoseconds; one below 1 counts as 1, one above 100 s as 100 s."""
        times = np.clip(np.asarray(times_ns, np.int64), 1, LONGEST_NS)
        if not times.size:
            return
        for value, count in zip(*np.unique(bucketed(times), return_counts=True), strict=True):
            self._counts.record_value(int(value), int(count))

    def merge(self, other: Histogram) -> None:
        """Add all times of another histogram."""
        if other.count:
            self._counts.add(other._counts)

    @property
    def count(self) -> int:
        """Times recorded."""
        return int(self._counts.get_total_count())

    def __len__(self) -> int:
        return self.count

    def percentile_ns(self, q: float) -> int:
        """Return the time that `q` per cent of all times do not exceed, in nanoseconds.

        Raises
        ------
        LabError
            There is no such percentile, or there are no times.
        """
        check_percentile(q)
        if not self.count:
            raise LabError("There is no percentile of no times.", "see whether any request was answered.")
        return int(self._counts.get_value_at_percentile(q))

    def percentile(self, q: float) -> float:
        """Return the same in microseconds."""
        return self.percentile_ns(q) / 1e3

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each bucket in use: its time in µs, its count, and the percentile that it ends."""
        rows = [
            (each.value_iterated_to / 1e3, each.count_added_in_this_iter_step, each.percentile)
            for each in self._counts.get_recorded_iterator()
        ]
        return pd.DataFrame(rows, columns=["time (µs)", "count", "percentile"])

    def __repr__(self) -> str:
        if not self.count:
            return "no times"
        return f"{self.count} times, p50 {self.percentile(50):.4g} µs, p99 {self.percentile(99):.4g} µs"


def check_percentile(q: float) -> None:
    """Refuse what is no percentile.

    Raises
    ------
    LabError
        It is not from 0 to 100.
    """
    if not 0 <= q <= 100:  # noqa: PLR2004 - per cent
        raise LabError(f"There is no percentile {q}.", "choose one from 0 to 100.")


def bucketed(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first value of each time's bucket, so that equal ones can be counted at once."""
    bits = np.frexp(times.astype(np.float64))[1]  # exact: times are below 2 ** 53
    shift = np.maximum(bits - _EXACT_BITS, 0)
    buckets: NDArray[np.int64] = (times >> shift) << shift
    return buckets
