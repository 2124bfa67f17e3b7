"""A recording: what a bench or an experiment has measured, to keep, to show again and to compare."""

from __future__ import annotations

import math
import threading
import time
import zlib
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labs.bench import recording_format as form
from labs.bench.tables import Column, Mark, Table
from labs.bench.tracks import CAPACITY, Track
from labs.bench.writing import write
from labs.errors import LabError
from labs.quality import Quality

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

KIND = "VPP Labs recording"
FORMAT = 1
_MARKS = 2_000


@dataclass
class Recording:
    """What was measured, where, and how far to trust it.

    Parameters
    ----------
    facts : dict
        Engine, versions, machine, cores and the knobs' settings.
    tables : dict of str to Table
        The samples of each track; times in seconds from the recording's start.
    marks : list of Mark
        On the same clock.
    quality : Quality
    started : str
        When, in UTC.
    picture : str
        The lab as an SVG element; may be empty.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    quality: Quality = field(default_factory=Quality)
    started: str = field(default_factory=form.utc)
    picture: str = ""

    @property
    def duration(self) -> float:
        """Seconds from its start to the last sample or mark."""
        lasts = [float(table.times[-1]) for table in self.tables.values() if len(table)]
        return max([0.0, *lasts, *(mark.t for mark in self.marks)])

    def part(self, start: float, end: float = math.inf) -> Recording:
        """Return a span of it, in seconds from its start; what comes of it has its times from there on."""
        return replace(
            self,
            tables={name: table.between(start, end).moved(-start) for name, table in self.tables.items()},
            marks=[replace(mark, t=mark.t - start) for mark in self.marks if start <= mark.t < end],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the recording as JSON takes it: a list for each column, null where there is no sample."""
        return {
            "kind": KIND,
            "format": FORMAT,
            "started": self.started,
            "facts": form.plain(self.facts),
            "quality": self.quality.to_dict(),
            "marks": [{"t": each.t, "label": each.label, "commands": each.commands} for each in self.marks],
            "tables": {name: form.table_to_dict(table) for name, table in self.tables.items()},
            "picture": self.picture,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Recording:
        """Return what `to_dict` has written.

        Raises
        ------
        ValueError, KeyError, TypeError, AttributeError
            It is no recording, or of a later format.
        """
        if record["kind"] != KIND or record["format"] != FORMAT:
            raise ValueError(record["kind"])
        return cls(
            facts=dict(record["facts"]),
            tables={name: form.table_from_dict(name, table) for name, table in record["tables"].items()},
            marks=[form.mark_from_dict(each) for each in record["marks"]],
            quality=Quality.from_dict(record["quality"]),
            started=str(record["started"]),
            picture=form.harmless(str(record["picture"])),
        )

    def save(self, path: str | Path) -> Path:
        """Write the recording to a file, and return its path; a big one is compressed and ends in ``.gz``.

        Raises
        ------
        LabError
            There is no room, or no right to write there. The recording is as it was.
        """
        return write(*form.packed(self.to_dict(), Path(path)), "recording")

    def to_csv(self, path: str | Path) -> Path:
        """Write all samples to one long table with a row for each, and return its path.

        The columns are ``time_s``, ``track``, ``column``, ``label``, ``unit``, ``value``. A gap has no value.
        A mark is a row of the track ``mark``, with its words as label. Lines that begin with ``#`` tell the
        facts; ``pandas.read_csv(path, comment="#")`` reads the rest.

        Raises
        ------
        LabError
            There is no room, or no right to write there.
        """
        facts = {"started": self.started, "quality": self.quality.badge, **self.facts}
        text = form.csv_text(facts, self.tables.values(), self.marks)
        return write(Path(path), text.encode(), "table")

    def to_html(self, path: str | Path, title: str = "") -> Path:
        """Write a report that opens in a browser without a network, and return its path.

        Raises
        ------
        LabError
            There is no room, or no right to write there.
        """
        from labs.bench.report import to_html  # noqa: PLC0415 - the report reads recordings

        return to_html(self, path, title)


class Recorder:
    """What a bench or an experiment records into.

    Attributes
    ----------
    tracks : dict of str to Track
    facts : dict of str to Any
        What the figures were measured on and with, as JSON takes it.
    quality : Quality
        How far to trust them, as last judged.
    picture : str
        The lab as an SVG element, as last drawn; empty if it was not.
    """

    def __init__(self, facts: dict[str, Any] | None = None) -> None:
        self.tracks: dict[str, Track] = {}
        self.facts: dict[str, Any] = dict(facts or {})
        self.quality = Quality()
        self.picture = ""
        self._marks: deque[Mark] = deque(maxlen=_MARKS)
        self._lock = threading.Lock()

    @property
    def marks(self) -> list[Mark]:
        """The marks so far, in the order of time; of very many, the newest."""
        with self._lock:
            return sorted(self._marks, key=lambda mark: mark.t)

    def add_track(self, name: str, columns: Sequence[Column], capacity: int = CAPACITY) -> Track:
        """Return a new track; the one there is, where it has the same columns.

        Raises
        ------
        LabError
            There is a track of that name with other columns: its rows would be lost.
        """
        with self._lock:
            if (known := self.tracks.get(name)) is None:
                self.tracks = {**self.tracks, name: (known := Track(name, columns, capacity))}
            elif known.columns != tuple(columns):
                raise LabError(
                    f"The track {name!r} is there already, with other columns.",
                    "take a new recorder for another lab.",
                )
            return known

    def mark(self, label: str, commands: Iterable[str] = (), t: float | None = None) -> Mark:
        """Note that something happens now, or at time `t` on `time.monotonic`."""
        made = Mark(time.monotonic() if t is None else t, label, tuple(commands))
        with self._lock:
            self._marks.append(made)
        return made

    def clear(self) -> None:
        """Forget all rows and marks; tracks and facts stay."""
        with self._lock:
            self._marks.clear()
        for track in self.tracks.values():
            track.clear()

    def snapshot(self, since: float | None = None) -> Recording:
        """Return what was recorded so far; recording goes on.

        Parameters
        ----------
        since : float, optional
            Where it begins, in seconds on `time.monotonic`; the first sample or mark by default.
        """
        start = -np.inf if since is None else since
        tables = {name: track.since(start) for name, track in self.tracks.items()}
        marks, now = [mark for mark in self.marks if mark.t >= start], time.monotonic()
        if since is None:
            firsts = [table.times[0] for table in tables.values() if len(table)] + [mark.t for mark in marks]
            start = float(min(firsts, default=now))
        return Recording(
            facts=form.plain(dict(self.facts)),
            tables={name: table.moved(-start) for name, table in tables.items()},
            marks=[Mark(mark.t - start, mark.label, mark.commands) for mark in marks],
            quality=self.quality,
            started=form.utc(time.time() - (now - start)),
            picture=self.picture,
        )


def load_recording(path: str | Path) -> Recording:
    """Read a saved recording.

    Raises
    ------
    LabError
        The file is not there, or is no recording.
    """
    try:
        content = form.read(Path(path))
    except OSError as error:
        message = f"The recording {path} cannot be read: {error.strerror}."
        raise LabError(message, "look for it where it was saved.") from None
    try:
        record = form.unpacked(content)
        if record.get("kind") == KIND and record["format"] > FORMAT:
            raise LabError(f"{path} is of a later version of this course.", "bring this one up to date.")
        return Recording.from_dict(record)
    except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, RecursionError, zlib.error):
        message = f"{path} is not a recording of this course."
        raise LabError(message, "choose a file that a bench has saved.") from None
