"""Windows of measurement in which nothing else used the processors, as far as there are any."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TICKS = os.sysconf("SC_CLK_TCK")
DISTURBED = 0.1
"""Cores that others may use in a window that counts."""


def busy() -> int:
    """Return the ticks that all processors were busy, or taken away by the machine below this one."""
    line = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
    user, nice, system, _idle, _wait, irq, softirq, stolen = map(int, line[1:9])
    return user + nice + system + irq + softirq + stolen


def used_by(pids: Sequence[int]) -> int:
    """Return the ticks that processes have used."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total


def measured(measure: Callable[[], float], pids: Sequence[int], tries: int) -> float | None:
    """Return the first measurement that nobody disturbed; None if all of so many were.

    Parameters
    ----------
    measure : callable
        Measures once, over a few tenths of a second: the counters tick a hundred times a second.
    pids : sequence of int
        Processes that belong to the measurement, beside this one.
    """
    mine = [os.getpid(), *pids]
    for _ in range(tries):
        before = busy() - used_by(mine)
        began = time.monotonic()
        value = measure()
        others = (busy() - used_by(mine) - before) / _TICKS / (time.monotonic() - began)
        if others < DISTURBED:
            return value
        time.sleep(0.1)
    return None


class Samples(dict[str, list[float]]):
    """Measurements by name, the undisturbed ones only."""

    def take(self, name: str, measure: Callable[[], float], pids: Sequence[int] = (), tries: int = 5) -> None:
        """Measure and keep the value, if nobody disturbed it."""
        value = measured(measure, pids, tries)
        self.setdefault(name, [])
        if value is not None:
            self[name].append(value)

    def need(self, least: int) -> None:
        """Skip the benchmark where too little could be measured."""
        counts = {name: len(values) for name, values in self.items()}
        if min(counts.values()) < least:
            pytest.skip(f"other programs used the processors nearly all the time; undisturbed: {counts}")
