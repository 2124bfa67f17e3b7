"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING

from labs.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, content: bytes, what: str) -> Path:
    """Write a file, and return its path; what was there before stays until all is on the disk.

    Parameters
    ----------
    path : Path
        Its directory is made if need be.
    content : bytes
    what : str
        What it is, for the error: ``recording``.

    Raises
    ------
    LabError
        There is no room, or no right to write there.
    """
    try:
        replace(path, content)
    except (OSError, ValueError) as error:
        raise LabError(
            f"The {what} could not be saved as {path}: {getattr(error, 'strerror', None) or error}.",
            "it is not lost: make room there, or save it in another directory.",
        ) from None
    return path


def replace(path: Path, content: bytes) -> None:
    """Write a file as `write` does.

    Raises
    ------
    OSError, ValueError
        It could not be written; a name with a NUL is a ValueError. Nothing of it is left.
    """
    draft = path.parent / f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            draft.unlink()
        raise
