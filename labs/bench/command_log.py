"""The command log: what each click did, as lines for a shell, ready to be copied."""

from __future__ import annotations

import threading
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from labs.course.elements import KEYS_STAY_HERE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST = 200
"""Entries that are kept."""
_SCRIPT = KEYS_STAY_HERE + files("labs.bench").joinpath("command_log.js").read_text(encoding="utf-8")


class CommandLogWidget(anywidget.AnyWidget):
    """The log in a page: entries with ``id``, ``clock``, ``label`` and ``lines``, the newest first."""

    _esm = _SCRIPT
    entries: traitlets.List[Any] = traitlets.List().tag(sync=True)


def clock_of(moment: float) -> str:
    """Return the time of day of a moment of `time.monotonic`."""
    return time.strftime("%H:%M:%S", time.localtime(time.time() - time.monotonic() + moment))


class CommandLog:
    """What was done, newest first; any thread may add to it.

    Parameters
    ----------
    clock : callable
        Turns an entry's moment into words.
    """

    def __init__(self, clock: Callable[[float], str] = clock_of) -> None:
        self.widget = CommandLogWidget()
        self._clock = clock
        self._count = 0
        self._lock = threading.Lock()

    def add(self, label: str, lines: Sequence[str], t: float | None = None) -> None:
        """Add an entry.

        Parameters
        ----------
        label : str
            What was turned, as it is marked in the plots.
        lines : sequence of str
            The equal lines for a shell; an entry may have none.
        t : float, optional
            When, on the clock of `time.monotonic`; without it, now.
        """
        clock = self._clock(time.monotonic() if t is None else t)
        with self._lock:
            self._count += 1
            entry = {"id": self._count, "clock": clock, "label": label, "lines": list(lines)}
            self.widget.entries = [entry, *self.widget.entries[: MOST - 1]]

    def clear(self) -> None:
        """Forget all entries."""
        with self._lock:
            self.widget.entries = []

    def text(self) -> str:
        """Return all entries, the oldest first, as a shell would take them: labels are comments."""
        return "\n".join(
            line
            for entry in reversed(self.widget.entries)
            for line in (f"# {entry['clock']} {entry['label']}", *entry["lines"])
        )
