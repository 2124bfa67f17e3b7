"""A run's figures as medians over repeated windows, and whether two runs of windows differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labs.bench.tables import Table

WINDOW = 1.0
"""Seconds of a window."""
FEWEST = 5
"""Windows that a run must have."""
ENOUGH = 8
"""Windows from which on ranks can tell a difference from luck."""
_SURE = 3.3  # standard deviations: one in a thousand by luck, since about ten figures are looked at


@dataclass(frozen=True)
class Spread:
    """One figure over a run's windows.

    Parameters
    ----------
    low, median, high : float
        The least, the median and the greatest window; NaN without a window.
    windows : int
    """

    low: float
    median: float
    high: float
    windows: int


def windows(table: Table, column: str, length: float = WINDOW) -> NDArray[np.float64]:
    """Return the median of a column in each whole window of a table that has a sample.

    Parameters
    ----------
    table : Table
    column : str
    length : float
        In seconds.
    """
    if column not in table or not len(table):
        return np.zeros(0)
    values = table.column(column).astype(float)
    numbers = np.floor((table.times - table.times[0]) / length + 1e-6).astype(int)
    whole = max(int((table.times[-1] - table.times[0]) / length + 0.5), 1)
    good = ~np.isnan(values) & (numbers < whole)
    values, numbers = values[good], numbers[good]
    values = values[np.lexsort((values, numbers))]
    _, first, count = np.unique(numbers, return_index=True, return_counts=True)
    low, high = values[first + (count - 1) // 2], values[first + count // 2]
    return np.asarray((low + high) / 2, np.float64)


def spread(found: NDArray[np.float64]) -> Spread:
    """Return the spread of some windows."""
    if not len(found):
        return Spread(math.nan, math.nan, math.nan, 0)
    return Spread(float(found.min()), float(np.median(found)), float(found.max()), len(found))


def differ(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Return whether two runs of windows differ by more than luck explains.

    Notes
    -----
    They differ where their ranges lie further apart than the wider of them is wide. Where they lie closer
    and there are enough windows, ranks tell (Mann and Whitney's U, its normal approximation with ties): that
    needs no assumption about the noise. Since neighbouring windows resemble each other, as in a drift, they
    count for less by the resemblance that they show.
    """
    if min(len(a), len(b)) < FEWEST:
        return False
    return far_apart(a, b) or (min(len(a), len(b)) >= ENOUGH and _deviations(a, b) > _SURE)


def far_apart(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Return whether two ranges lie further apart than the wider is wide; as factors where all are > 0."""
    if min(a.min(), b.min()) > 0:
        a, b = np.log(a), np.log(b)
    gap = max(a.min() - b.max(), b.min() - a.max())
    return bool(gap > max(np.ptp(a), np.ptp(b)))


def _deviations(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return how many standard deviations U is away from its mean."""
    _, ranks, counts = np.unique(np.concatenate([a, b]), return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    n, m = len(a), len(b)
    both = n + m
    u = float(middle[ranks[:n]].sum()) - n * (n + 1) / 2
    ties = float(((counts**3) - counts).sum()) / (both * (both - 1))
    variance = n * m / 12 * (both + 1 - ties)
    if not variance > 0:
        return 0.0
    alike = max(_resemblance(middle[ranks[:n]]), _resemblance(middle[ranks[n:]]), 0.0)
    return max(abs(u - n * m / 2) - 0.5, 0.0) / math.sqrt(variance * (1 + alike) / (1 - alike))


def _resemblance(ranks: NDArray[np.float64]) -> float:
    """Return how much each window resembles the one before: their correlation, at most 0.9."""
    off = ranks - ranks.mean()
    whole = float((off**2).sum())
    # a short run's correlation comes out too low by about one part in its length
    return min(float((off[1:] * off[:-1]).sum()) / whole + 1 / len(ranks), 0.9) if whole else 0.0
