"""A figure over an experiment's repeated windows: its median, its spread, its outliers, and what differs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from labs.bench.compare import FELL, FEW, NOISE, ROSE
from labs.bench.spread import far_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Figures = Mapping[str, Callable[[Any], float | None]]

_FAR = 5.0  # times the windows' usual distance from their median
_OFF = 0.25  # of the median; nearer than that is no outlier, however alike the others are
_FEWEST = 3  # windows, of which one may be told from the others
_WANDERS = 0.05  # of the greater median: a link wanders as much from run to run by itself
_PAIR = 2  # windows of each that a comparison needs


@dataclass(frozen=True)
class Figure:
    """One figure of a setting over its windows.

    Parameters
    ----------
    values : ndarray of float, shape (windows,)
        In the order of measuring; NaN for a window that has none.
    """

    values: NDArray[np.float64]

    @property
    def known(self) -> NDArray[np.float64]:
        """The values that there are."""
        return self.values[~np.isnan(self.values)]

    @property
    def median(self) -> float | None:
        """Their median; None without a window that has a value."""
        return float(np.median(self.known)) if len(self.known) else None

    @property
    def outliers(self) -> list[int]:
        """The windows that lie far from the others, from 0 in the order of measuring.

        Notes
        -----
        Far is five times the usual distance from the median (the median absolute deviation), and a quarter
        of the median. They are named and kept: what happens now and then belongs to a measurement.
        """
        if len(self.known) < _FEWEST:
            return []
        middle = float(np.median(self.known))
        usual = float(np.median(np.abs(self.known - middle)))
        with np.errstate(invalid="ignore"):
            far = np.abs(self.values - middle) > max(_FAR * usual, _OFF * abs(middle))
        return [int(number) for number in np.flatnonzero(far)]

    def to_dict(self) -> dict[str, float | None]:
        """Return median, lowest and highest window, as a run's summary keeps them."""
        low, high = (float(self.known.min()), float(self.known.max())) if len(self.known) else (None, None)
        return {"median": self.median, "lowest": low, "highest": high}


def figure(values: Sequence[float | None]) -> Figure:
    """Return the figure of some windows; None is a window that has none."""
    return Figure(np.array([math.nan if value is None else value for value in values], float))


def change(before: Figure, after: Figure) -> str:
    """Return whether a figure rose, fell, or differs no more than its windows do among themselves.

    Returns
    -------
    {"rose", "fell", "within the noise", "too few windows"}

    Notes
    -----
    An experiment repeats a setting a few times, too few for ranks to tell anything. So it is a difference
    only where the ranges of the windows lie further apart than the wider of them is wide.
    """
    a, b = before.known, after.known
    if min(len(a), len(b)) < _PAIR:
        return FEW
    was, now = float(np.median(a)), float(np.median(b))
    if abs(now - was) <= _WANDERS * max(abs(was), abs(now)) or not far_apart(a, b):
        return NOISE
    return ROSE if now > was else FELL


def ratio(over: Figure, under: Figure) -> float | None:
    """Return how many times the one median is the other; None where either is unknown or zero."""
    return over.median / under.median if over.median and under.median else None


def windows_of(
    windows: Iterable[Mapping[str, Any]], key: Callable[[Mapping[str, Any]], Hashable], wanted: Hashable
) -> list[int]:
    """Return the numbers of a setting's windows in a run, from 1."""
    return [number for number, window in enumerate(windows, 1) if key(window) == wanted]


def outliers_in(figures: Iterable[tuple[Sequence[int], Figure]]) -> list[int]:
    """Return the numbers of the windows in which a figure is an outlier; each is given with its windows'."""
    return sorted({numbers[at] for numbers, each in figures for at in each.outliers})


def figures_of(windows: Iterable[Mapping[str, Any]], setting: object, of: Figures) -> dict[str, Figure]:
    """Return each figure of a setting over its windows.

    Parameters
    ----------
    windows : iterable of mapping
        Each says in ``setting`` what it is of.
    setting : object
        As a window's ``setting`` reads.
    of : mapping of str to callable
        What is told of each setting, from one of its windows.
    """
    mine = [window for window in windows if window["setting"] == str(setting)]
    return {name: figure([told(window) for window in mine]) for name, told in of.items()}


def summary_of(
    windows: Sequence[Mapping[str, Any]], settings: Iterable[object], of: Figures
) -> dict[str, Any]:
    """Return a group for each setting: the median, lowest and highest window of each figure."""
    return {
        str(setting): {name: each.to_dict() for name, each in figures_of(windows, setting, of).items()}
        for setting in settings
    }


def outliers_of(
    windows: Sequence[Mapping[str, Any]], settings: Iterable[object], of: Figures, *names: str
) -> list[int]:
    """Return the numbers of the windows in which one of the named figures stands out, from 1."""
    found = []
    for setting in settings:
        numbers = windows_of(windows, lambda window: window["setting"], str(setting))
        mine = figures_of(windows, setting, of)
        found += [(numbers, mine[name]) for name in names]
    return outliers_in(found)
