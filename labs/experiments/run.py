"""A recorded experiment: what was measured, where, how far to trust it, and what it shows."""

from __future__ import annotations

import itertools
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs.bench import writing
from labs.bench.recording import Recording
from labs.course.verdict import Verdict
from labs.errors import LabError
from labs.experiments.groups import table
from labs.quality import Quality

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from labs.experiments.beside import Beside
    from labs.experiments.spread_plot import Picture

_FORMAT = 1


def runs_dir() -> Path:
    """Return where runs are kept: ``$LABS_RUNS``, else the user's data directory."""
    if chosen := os.environ.get("LABS_RUNS"):
        return Path(chosen)
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "vpp-labs" / "runs"


@dataclass
class Run:
    """One run of an experiment.

    Parameters
    ----------
    name : str
        The experiment.
    engine : str
    versions : dict of str to str
        Of the data plane and of the course.
    machine : dict
        `labs.machine.Machine` as a dict.
    windows : list of dict
        Every window that was measured, in order; nothing is left out.
    summary : dict
        The figures the verdicts rest on, with units in their names.
    quality : Quality
        How far to trust it.
    verdicts : list of Verdict
    started : str
        When, in UTC.
    complete : bool
        False for a run that was cut short; its windows are kept.
    recording : Recording, optional
        What was sampled meanwhile, on one axis of time; it is saved with the run.
    path : Path, optional
        Its file, once it has one.
    saved : int
        How many of its windows are in the file.
    """

    name: str
    engine: str
    versions: dict[str, str]
    machine: dict[str, Any]
    windows: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    quality: Quality = field(default_factory=Quality)
    verdicts: list[Verdict] = field(default_factory=list)
    started: str = field(default_factory=lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    complete: bool = False
    recording: Recording | None = None
    path: Path | None = field(default=None, compare=False)
    saved: int = field(default=0, init=False, compare=False, repr=False)

    @property
    def passed(self) -> bool:
        """Whether the run is complete and every verdict holds."""
        return self.complete and all(verdict.passed for verdict in self.verdicts)

    def table(self) -> pd.DataFrame:
        """Return the summary's groups to look at, with three significant digits.

        A column each, or where they are many, a row each. A figure over several windows is its median, with
        the lowest and the highest window behind it.
        """
        return table(self.summary)

    def beside(self, other: Run) -> Beside:
        """Put another run of the same experiment beside this one; see `labs.experiments.beside.beside`."""
        from labs.experiments.beside import beside  # noqa: PLC0415 - it compares runs

        return beside(self, other)

    def figure(self, name: str) -> Picture:
        """Return a picture of one figure over all settings: each median, and its spread over the windows.

        Parameters
        ----------
        name : str
            A column of `table`.

        Raises
        ------
        LabError
            There is no such figure, or it has no spread.
        """
        from labs.experiments.spread_plot import spread_plot  # noqa: PLC0415 - it draws runs

        return spread_plot(self, name)

    def print_verdicts(self) -> None:
        """Print each verdict on a line of its own, and how far to trust the run where one does not hold."""
        for verdict in self.verdicts:
            print(verdict)
        if not self.passed:
            print(self.quality)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON takes it."""
        return {
            "name": self.name,
            "engine": self.engine,
            "versions": self.versions,
            "machine": self.machine,
            "quality": self.quality.to_dict(),
            "summary": self.summary,
            "verdicts": [verdict.to_dict() for verdict in self.verdicts],
            "started": self.started,
            "complete": self.complete,
            "path": str(self.path) if self.path else None,
        }

    def add(self, window: dict[str, Any]) -> None:
        """Record a window, and save it at once."""
        self.windows.append(window)
        self.save()

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Say where the windows measured so far are, should the block be cut short.

        Raises
        ------
        LabError
            In place of a LabError or a keyboard interrupt in the block.
        """
        try:
            yield
        except KeyboardInterrupt:
            raise LabError("The run was interrupted.", self._what_is_kept()) from None
        except LabError as error:
            error.hint = f"{error.hint} {self._what_is_kept()}".strip()
            raise

    def _what_is_kept(self) -> str:
        if not self.saved:
            return "no window of it had been saved yet."
        return f"the windows measured so far ({self.saved}) are kept in {self.path}."

    def save(self) -> Path:
        """Write the run, windows included, to a file of its own, and return its path.

        Raises
        ------
        LabError
            There is no room, or no right to write there.
        """
        try:
            path = self.path = self.path or self._free_path()
            writing.replace(path, self._text().encode())
        except OSError as error:
            raise LabError(
                f"The run could not be saved in {runs_dir()}: {error.strerror}.",
                "make room there, or set LABS_RUNS to a directory of your own.",
            ) from None
        self.saved = len(self.windows)
        return path

    def _text(self) -> str:
        """Return the file's text: a line for each value, but one for the many of the recording."""
        text = json.dumps({"format": _FORMAT, **self.to_dict(), "windows": self.windows}, indent=1)
        if self.recording is None:
            return text
        recording = json.dumps(self.recording.to_dict(), allow_nan=False)
        return f'{text.removesuffix("}").rstrip()},\n "recording": {recording}\n}}'

    def _free_path(self) -> Path:
        """Return a path for a new file: one second may see two runs."""
        folder = runs_dir()
        folder.mkdir(parents=True, exist_ok=True)
        stamp = self.started.replace(":", "").replace("-", "")
        stem = f"{self.name}-{self.engine}-{stamp}-{os.getpid()}"
        names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
        return next(path for name in names if not (path := folder / f"{name}.json").exists())


def load_run(path: str | Path) -> Run:
    """Read a saved run.

    Raises
    ------
    LabError
        The file is not there, or is no run.
    """
    try:
        record = json.loads(Path(path).read_text())
        known = {_FORMAT: Run}[record.pop("format")]
        record["quality"] = Quality.from_dict(record["quality"])
        record["verdicts"] = [Verdict(each["claim"], each["passed"]) for each in record["verdicts"]]
        if record.get("recording") is not None:
            record["recording"] = Recording.from_dict(record["recording"])
        return known(**{**record, "path": Path(path)})
    except OSError:
        raise LabError(f"There is no run at {path}.", f"runs are kept in {runs_dir()}.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LabError(
            f"{path} is not a run of this course.", "choose a file that labs run has written."
        ) from None
