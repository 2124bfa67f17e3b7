"""The progress file on disk: locked, replaced whole, and never lost."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import threading
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from labs.course.progress_file import BadProgress, NewerProgress, parse, render
from labs.course.records import Json, Records, join, nothing

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_NAME = "my-progress.json"
_LOCK_SECONDS = 2.0


class Store:
    """One learner's progress in one file.

    Nothing here raises for a file that cannot be read or written: a course goes on without it. What could
    not be written is kept in memory and written with the next event that can be.

    Parameters
    ----------
    path : Path
        The file; it need not exist.

    Attributes
    ----------
    trouble : str
        Why the last event could not be saved, in a sentence; empty if it was.
    notice : str
        What became of a file that could not be read, in a sentence; empty if there was none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble = ""
        self.notice = ""
        self._unsaved: Json = {}
        self._thread_lock = threading.Lock()

    def read(self) -> Records:
        """Return all that is recorded, saved or not."""
        return self.record({})

    def record(self, event: Json) -> Records:
        """Join an event, or another file's records, to the file, and return all that is recorded.

        Parameters
        ----------
        event : dict
            As the functions in `labs.course.records` make it.
        """
        with self._thread_lock:
            self._unsaved = join(self._unsaved, event)
            try:
                with self._locked():
                    before = self._load()
                    after = join(before, self._unsaved)
                    if after != before:
                        self._replace(render(after))
            except (OSError, NewerProgress) as fault:
                self.trouble = self._describe(fault)
                return Records(join(self._readable(), self._unsaved))
            self._unsaved = {}
            self.trouble = ""
            return Records(after)

    def _describe(self, fault: OSError | NewerProgress) -> str:
        if isinstance(fault, NewerProgress):
            return f"Progress is not being saved: {self.path.name} {fault.message}. Hint: {fault.hint}"
        return (
            f"Progress is not being saved: {self.path.name} cannot be written ({fault.strerror or fault}). "
            "Hint: set LABS_PROGRESS to a file in a folder of yours."
        )

    def _load(self) -> Json:
        """Return the file's records; set a broken file aside. Call it under the lock."""
        try:
            return parse(self.path.read_bytes())
        except FileNotFoundError:
            return nothing()
        except BadProgress as fault:
            aside = self._free_name()
            self.path.rename(aside)
            self.notice = (
                f"{self.path.name} {fault.message}. It was set aside as {aside.name}, and a new file begun."
            )
            return nothing()

    def _readable(self) -> Json:
        """Return the file's records if they can be read at all, without touching it."""
        with contextlib.suppress(OSError, BadProgress, NewerProgress):
            return parse(self.path.read_bytes())
        return nothing()

    def _free_name(self) -> Path:
        number = 1
        while (name := self.path.with_name(f"{self.path.stem}.broken-{number}{self.path.suffix}")).exists():
            number += 1
        return name

    def _replace(self, text: str) -> None:
        """Write a new file beside the old one and put it in its place in one step."""
        target = self.path.resolve()
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o644)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other kernels off the file; the folder is locked, since the file itself is replaced."""
        descriptor = os.open(self.path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            deadline = time.monotonic() + _LOCK_SECONDS
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise TimeoutError(None, "another program holds it") from None
                    time.sleep(0.01)
                except OSError:
                    break  # a file system without locks: one kernel at a time is the common case
            yield
        finally:
            os.close(descriptor)


@cache
def _store_at(path: Path) -> Store:
    return Store(path)


def store() -> Store:
    """Return the learner's store: the file ``LABS_PROGRESS`` names, else `FILE_NAME` in the current folder.

    The current folder of a notebook is the one it is in, so the file shows in JupyterLab's file browser.
    """
    return _store_at(Path(os.environ.get("LABS_PROGRESS") or FILE_NAME).absolute())
