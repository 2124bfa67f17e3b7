"""What was measured, at rest: columns, tables of samples, and marks on the time axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from labs.errors import LabError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Column:
    """One figure that is sampled again and again.

    Parameters
    ----------
    name : str
        As code asks for it, as ``probe_p50``.
    label : str
        As a learner reads it, as ``our probe, p50``.
    unit : str
        As ``µs``, ``Mpps``, ``%``.
    """

    name: str
    label: str
    unit: str


@dataclass(frozen=True, eq=False)
class Table:
    """Samples of one track, in the order of time.

    Parameters
    ----------
    name : str
        The track's.
    columns : tuple of Column
    times : float64 array, shape (n,)
        In seconds.
    values : float32 array, shape (n, number of columns)
        NaN where there is no sample.
    """

    name: str
    columns: tuple[Column, ...]
    times: NDArray[np.float64]
    values: NDArray[np.float32]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            (self.name, self.columns) == (other.name, other.columns)
            and np.array_equal(self.times, other.times)
            and np.array_equal(self.values, other.values, equal_nan=True)
        )

    def __hash__(self) -> int:
        return hash((self.name, self.columns, len(self.times)))

    def __len__(self) -> int:
        return len(self.times)

    def __contains__(self, column: str) -> bool:
        return any(each.name == column for each in self.columns)

    def column(self, name: str) -> NDArray[np.float32]:
        """Return one column's values.

        Raises
        ------
        LabError
            There is no such column.
        """
        for number, column in enumerate(self.columns):
            if column.name == name:
                return self.values[:, number]
        raise LabError(
            f"The track {self.name!r} has no column {name!r}.",
            f"it has {', '.join(column.name for column in self.columns)}.",
        )

    def moved(self, by: float) -> Table:
        """Return the same samples `by` seconds later."""
        return Table(self.name, self.columns, self.times + by, self.values)

    def between(self, start: float, end: float) -> Table:
        """Return the samples of a span of time, its beginning included and its end not."""
        kept = (self.times >= start) & (self.times < end)
        return Table(self.name, self.columns, self.times[kept], self.values[kept])


@dataclass(frozen=True)
class Mark:
    """Something that happened at a moment: a knob's turn, a node's death.

    Parameters
    ----------
    t : float
        In seconds, on the clock of the tables beside it.
    label : str
    commands : tuple of str
        The equal lines for a shell.
    """

    t: float
    label: str
    commands: tuple[str, ...] = ()
