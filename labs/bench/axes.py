"""Ranges of the plots' axes that hold still: they widen by steps, and only when they must."""

from __future__ import annotations

import math

_LEAST_MPPS = 0.01
_STEPS = (1.0, 2.0, 5.0, 10.0)
_SHRINKS_BELOW = 0.35  # of the top; well below the next step, so that it does not go to and fro


class LogAxis:
    """A range of whole decades that only widens.

    Parameters
    ----------
    low, high : float
        What it shows at first.
    least, most : float
        What it never goes beyond.
    """

    def __init__(self, low: float, high: float, least: float, most: float) -> None:
        self._first = (low, high)
        self._least, self._most = least, most
        self.range = self._first

    def see(self, low: float, high: float) -> None:
        """Widen so that these values are shown; NaN, and what is not above 0, asks for nothing."""
        bottom, top = self.range
        if low < bottom and low > 0:
            bottom = max(10.0 ** math.floor(math.log10(low)), self._least)
        if high > top and math.isfinite(high):
            top = min(10.0 ** math.ceil(math.log10(high)), self._most)
        self.range = (bottom, top)

    def reset(self) -> None:
        """Go back to the first range."""
        self.range = self._first


class StepAxis:
    """A range from 0 to 1, 2 or 5 times a power of ten.

    It widens at once, and shrinks when all that is shown has become much less than its top.

    Parameters
    ----------
    top : float
        What it shows at first.
    least : float
        The lowest top there is.
    """

    def __init__(self, top: float, least: float = _LEAST_MPPS) -> None:
        self._first, self._least = top, least
        self.range = (0.0, top)

    def see(self, high: float) -> None:
        """Fit the highest value that is shown; NaN, and nothing but 0, changes nothing."""
        top = self.range[1]
        if math.isfinite(high) and high > 0 and (high > top or high < _SHRINKS_BELOW * top):
            self.range = (0.0, max(self._step(high), self._least))

    def reset(self) -> None:
        """Go back to the first range."""
        self.range = (0.0, self._first)

    @staticmethod
    def _step(high: float) -> float:
        power = 10.0 ** math.floor(math.log10(high))
        return power * next((step for step in _STEPS if step * power >= high), _STEPS[-1])
