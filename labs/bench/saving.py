"""Saving a run beside the notebook, and saying where."""

from __future__ import annotations

import itertools
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.experiments.run import runs_dir

if TYPE_CHECKING:
    from labs.bench.recording import Recording

_KINDS = {"report": ".html", "csv": ".csv", "run": ".json"}
_HOW = {
    "report": "Open it from the file browser on the left; it needs no network.",
    "csv": "One row for each sample.",
    "run": "Load it again with labs.replay({!r}).",
}
FOLDER = "runs"
_KEPT = "Nothing that was measured is lost: it is still in the bench."
_one_at_a_time = threading.Lock()


def save(recording: Recording, kind: str) -> str:
    """Save a recording as a file with a name of its own; return a sentence that says where, or why not.

    Parameters
    ----------
    recording : Recording
    kind : {"report", "csv", "run"}
    """
    if not any(len(table) for table in recording.tables.values()):
        return "Nothing was measured yet, so there is nothing to save."
    try:
        with _one_at_a_time:  # else two clicks find the same free name
            path = _write(recording, kind)
    except LabError as error:
        return f"{error.message} {_KEPT}"
    except Exception as error:  # noqa: BLE001 - whatever it is, the learner gets a sentence
        return f"The {kind} could not be saved: {str(error) or type(error).__name__}. {_KEPT}"
    here = _here()
    shown = os.path.relpath(path, here) if here and path.is_relative_to(here) else str(path)
    return f"Saved {shown}. {_HOW[kind].format(shown)}"


def _write(recording: Recording, kind: str) -> Path:
    path = _free(kind)
    match kind:
        case "report":
            from labs.bench.report import to_html  # noqa: PLC0415 - plotly takes a while to load

            return to_html(recording, path)
        case "csv":
            return recording.to_csv(path)
        case _:
            return recording.save(path)


def _free(kind: str) -> Path:
    """Return a path for a new file: beside the notebook, or where runs are kept if there it cannot be."""
    folder = _beside() or runs_dir()
    stem = f"bench-{time.strftime('%Y%m%d-%H%M%S')}"
    names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
    paths = (folder / f"{name}{_KINDS[kind]}" for name in names)
    return next(path for path in paths if not (path.exists() or Path(f"{path}.gz").exists()))


def _beside() -> Path | None:
    """Return the folder for runs beside the notebook; None where nothing can be written there."""
    if (here := _here()) is None:
        return None
    try:
        (here / FOLDER).mkdir(exist_ok=True)
    except OSError:
        return None
    return here / FOLDER if os.access(here / FOLDER, os.W_OK) else None


def _here() -> Path | None:
    """Return the working directory; None where it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        return None
