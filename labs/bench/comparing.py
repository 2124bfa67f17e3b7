"""A and B: the run that was kept, and the present one beside it."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from labs.bench.compare import compare, statistics
from labs.bench.plots import Reference

if TYPE_CHECKING:
    from labs.bench.recording import Recorder, Recording

SETTLES = 1.5
"""Seconds after a turn that belong to neither run: links connect, and the probe's window holds both."""
_LONGEST = 60.0  # seconds of a run that are compared
_FEWEST = 5.0  # seconds that A needs


class Comparing:
    """Keeps a run as A and compares with it what was measured since the last turn.

    Parameters
    ----------
    recorder : Recorder

    Attributes
    ----------
    reference : Reference or None
        A's figures, as the plots draw them; None while nothing is kept.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._began = time.monotonic()
        self._a: Recording | None = None
        self.reference: Reference | None = None

    def turned(self) -> None:
        """Hear that a knob was turned: another run begins."""
        self._began = time.monotonic()

    def keep(self) -> str:
        """Keep the present run as A; return a sentence that says so, or why not."""
        measured = time.monotonic() - self._began - SETTLES
        if measured < _FEWEST:
            return (
                f"This run is {max(measured, 0):.0f} s long since the last change; "
                f"A needs {_FEWEST:.0f} s, so wait a little and press again."
            )
        self._a = self._present()
        stats = {
            name: (each.low, each.median, each.high)
            for name, each in statistics(self._a).items()
            if not math.isnan(each.median)
        }
        self.reference = Reference("A", stats)
        self._recorder.mark("kept as A")
        self.turned()
        return "Kept as A. Turn a knob: what comes next is B, and is compared with A."

    def forget(self) -> str:
        """Forget A; return a sentence that says so."""
        self._a = self.reference = None
        return "A is forgotten."

    def sentence(self) -> str:
        """Return how B differs from A, in a sentence; empty while nothing is kept."""
        a = self._a  # a click may forget it meanwhile
        return compare(a, self._present()).sentence() if a else ""

    def _present(self) -> Recording:
        since = max(self._began + SETTLES, time.monotonic() - _LONGEST)
        return self._recorder.snapshot(since)
