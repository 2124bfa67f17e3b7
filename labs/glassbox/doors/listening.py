"""A unix socket to listen on: in place of one whose owner has died, and gone when it is closed."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from pathlib import Path

from labs.errors import LabError

MAX_PATH = 107
"""Bytes of a unix socket's path."""

_BACKLOG = 32


class Listening:
    """A listening unix socket and its file.

    Parameters
    ----------
    path : str or Path
        Where; the directory must be there.
    kind : socket.SocketKind
        ``SOCK_STREAM`` or ``SOCK_SEQPACKET``.
    mode : int
        The file's permissions, set before anybody can connect.

    Raises
    ------
    LabError
        Somebody listens there already, another file is there, or the path cannot be used.
    """

    def __init__(self, path: str | Path, kind: socket.SocketKind, mode: int = 0o600) -> None:
        self.path = Path(path)
        if not 0 < len(os.fsencode(self.path)) <= MAX_PATH:
            raise LabError(
                f"The path of a socket may have {MAX_PATH} bytes, and this one is longer: {path}",
                "use a shorter run directory.",
            )
        self.socket = socket.socket(socket.AF_UNIX, kind | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        try:
            _make_room(self.path)
            self.socket.bind(str(self.path))
            self.path.chmod(mode)
            self.socket.listen(_BACKLOG)
            self._identity = _identity(self.path)
        except OSError as error:
            self.socket.close()
            raise LabError(
                f"Nothing can listen at {path}: {error.strerror or error}.",
                "see that its directory is there and yours.",
            ) from None
        except LabError:
            self.socket.close()
            raise

    def close(self) -> None:
        """Stop listening, and remove the file if it is still ours. May be called twice."""
        self.socket.close()
        with contextlib.suppress(OSError):
            if _identity(self.path) == self._identity:
                self.path.unlink()


def _identity(path: Path) -> tuple[int, int, int]:
    """Return what tells a file from a later one at the same path, which may get the same number."""
    status = path.lstat()
    return status.st_dev, status.st_ino, status.st_ctime_ns


def _make_room(path: Path) -> None:
    """Remove a socket file that nobody listens on any more.

    Linux tells a living listener from a dead one even to a socket of the wrong type, which is not let
    in: so the living one is not disturbed.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise LabError(f"There is a file at {path} that is no socket.", "choose another path, or remove it.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        probe.setblocking(False)  # noqa: FBT003 - the standard library's own signature
        found = probe.connect_ex(str(path))
    if found == errno.ECONNREFUSED:
        path.unlink(missing_ok=True)
    elif found != errno.ENOENT:
        raise LabError(
            f"Another program listens at {path}.",
            "stop it, or choose another run directory.",
        )
