"""Fewer points that look the same: the lowest and the highest of each short stretch of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def thin(
    times: NDArray[np.float64], values: NDArray[np.float32], *, span: float, most: int
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Return at most about `most` rows of a table, with every peak and every dip of each column kept.

    Parameters
    ----------
    times : float64[n]
        Rising, in seconds.
    values : float32[n, columns]
        NaN is a gap.
    span : float
        How many seconds `most` rows are to cover.
    most : int

    Returns
    -------
    float64[m], float32[m, columns]
        What was given, where it has no more than `most` rows.

    Notes
    -----
    The stretches begin at whole multiples of their length on the clock of `times`, not at the first row: so
    a point that was drawn once is drawn the same until it leaves, and lines do not flicker.
    """
    if len(times) <= most:
        return times, values
    length = 2 * span / most
    stretch = np.floor(times / length)
    first = np.flatnonzero(np.diff(stretch, prepend=stretch[0] - 1))
    low = np.fmin.reduceat(values, first, axis=0)
    high = np.fmax.reduceat(values, first, axis=0)
    last = np.append(first[1:], len(times)) - 1
    falls = values[last] < values[first]
    thinned = np.empty((2 * len(first), values.shape[1]), np.float32)
    thinned[0::2] = np.where(falls, high, low)
    thinned[1::2] = np.where(falls, low, high)
    return np.repeat(stretch[first] * length, 2) + np.tile([length / 4, 3 * length / 4], len(first)), thinned
