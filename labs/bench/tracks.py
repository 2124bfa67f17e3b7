"""What is being measured: tracks, which samplers write and others read."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from labs.bench.tables import Column, Mark, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Column", "Mark", "Table", "Track"]

CAPACITY = 72_000
"""Rows of a track, if nothing else is asked for: an hour at 20 a second."""


class Track:
    """Rows of figures with their times; any thread may write and read.

    All memory is taken at the beginning. When it is full, a new row takes the place of the oldest.

    Parameters
    ----------
    name : str
    columns : sequence of Column
    capacity : int
        Rows that it holds.
    """

    def __init__(self, name: str, columns: Sequence[Column], capacity: int = CAPACITY) -> None:
        if capacity < 1:
            raise ValueError(f"a track of {capacity} rows")
        self.name = name
        self.columns = tuple(columns)
        self.capacity = capacity
        self._times = np.zeros(capacity, np.float64)
        self._values = np.zeros((capacity, len(self.columns)), np.float32)
        self._count = 0
        self._newest, self._in_order = -np.inf, True
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return min(self._count, self.capacity)

    def append(self, t: float, values: Sequence[float]) -> None:
        """Add a row.

        Parameters
        ----------
        t : float
            When, in seconds on `time.monotonic`.
        values : sequence of float
            One for each column; NaN where there is no sample.
        """
        if len(values) != len(self.columns):
            raise ValueError(f"{len(values)} values for the {len(self.columns)} columns of {self.name}")
        with self._lock:
            row = self._count % self.capacity
            self._times[row] = t
            self._values[row] = values
            self._count += 1
            self._in_order = self._in_order and t >= self._newest
            self._newest = t

    def since(self, t: float) -> Table:
        """Return copies of the rows from time `t` on, in the order of time."""
        with self._lock:
            first = self._count % self.capacity if self._count > self.capacity else 0
            pieces = [self._from(slice(first, len(self)), t), self._from(slice(0, first), t)]
            times = np.concatenate([self._times[piece] for piece in pieces])
            values = np.concatenate([self._values[piece] for piece in pieces])
            in_order = self._in_order
        if not in_order:  # two threads wrote, and one was overtaken
            order = np.argsort(times, kind="stable")
            order = order[times[order] >= t]
            times, values = times[order], values[order]
        return Table(self.name, self.columns, times, values)

    def _from(self, piece: slice, t: float) -> slice:
        """Return the part of a piece from time `t` on; all of it where the times are in no order."""
        if not self._in_order:
            return piece
        return slice(piece.start + int(np.searchsorted(self._times[piece], t)), piece.stop)

    def last(self) -> Table:
        """Return a copy of the row that was written last; a table without rows if there is none."""
        with self._lock:
            at = (self._count - 1) % self.capacity
            rows = slice(at, at + 1) if self._count else slice(0)
            return Table(self.name, self.columns, self._times[rows].copy(), self._values[rows].copy())

    def clear(self) -> None:
        """Forget all rows."""
        with self._lock:
            self._count = 0
            self._newest, self._in_order = -np.inf, True
