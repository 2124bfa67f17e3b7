"""Unix sockets of a VPP: opening one, and saying in words why it would not open."""

from __future__ import annotations

import errno
import grp
import pwd
import socket
import stat
import time
from typing import TYPE_CHECKING, Literal

from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DoorFault = Literal[
    "absent",
    "dead",
    "forbidden",
    "not-a-socket",
    "too-long",
    "busy",
    "timeout",
    "vanished",
    "stopped",
    "other",
]

MAX_PATH = 106
"""Longest socket path VPP takes, in bytes (sun_path holds 108, VPP keeps two)."""

_PATIENCE = 0.005  # seconds between two tries at a busy socket


class DoorError(LabError):
    """One of VPP's sockets could not be opened, or closed in the middle of an answer.

    Parameters
    ----------
    message, hint : str
        As for `LabError`.
    fault : str
        ``absent``, ``dead``, ``forbidden``, ``not-a-socket``, ``too-long``, ``busy``, ``timeout``,
        ``vanished``, ``stopped`` or ``other``.
    """

    def __init__(self, message: str, hint: str = "", *, fault: DoorFault = "other") -> None:
        super().__init__(message, hint)
        self.fault = fault


def connect(
    path: Path, door: str, timeout: float, kind: socket.SocketKind = socket.SOCK_STREAM
) -> socket.socket:
    """Connect to the unix socket at `path`.

    Parameters
    ----------
    path : Path
    door : str
        What VPP offers behind it, for messages: ``CLI``, ``API`` or ``statistics``.
    timeout : float
        Seconds; it stays the socket's timeout.
    kind : socket.SocketKind
        ``SOCK_STREAM`` or ``SOCK_SEQPACKET``.

    Raises
    ------
    DoorError
    """
    sock = socket.socket(socket.AF_UNIX, kind)
    sock.settimeout(timeout)
    deadline = time.monotonic() + timeout
    while True:
        try:
            sock.connect(str(path))
        except BlockingIOError as error:  # VPP lets five connections wait; here comes a sixth
            if time.monotonic() > deadline:
                sock.close()
                raise explain(error, path, door) from None
            time.sleep(_PATIENCE)
        except OSError as error:
            sock.close()
            raise explain(error, path, door) from None
        else:
            return sock


def knock(path: Path, door: str, kind: socket.SocketKind) -> None:
    """Raise if nobody listens on the unix socket at `path`, or we may not go in; do not go in.

    Linux tells a living listener from a dead one even to a socket of the wrong type, which is not let
    in: so VPP need not accept anything, and its short queue of callers stays free.

    Parameters
    ----------
    path, door : Path, str
        As for `connect`.
    kind : socket.SocketKind
        The listener's type.

    Raises
    ------
    DoorError
    """
    wrong = socket.SOCK_SEQPACKET if kind == socket.SOCK_STREAM else socket.SOCK_STREAM
    with socket.socket(socket.AF_UNIX, wrong) as sock:
        try:
            sock.connect(str(path))
        except OSError as error:
            if error.errno != errno.EPROTOTYPE:
                raise explain(error, path, door) from None


def explain(error: OSError, path: Path, door: str) -> DoorError:
    """Return the `DoorError` that says why the socket at `path` did not open or answer."""
    if isinstance(error, TimeoutError):
        return timed_out(path, door)
    if error.errno is None and "path too long" in str(error):
        return _too_long(path, door)
    name = errno.errorcode.get(error.errno or 0, "")
    if name in _EXPLANATIONS:
        return _EXPLANATIONS[name](path, door)
    return DoorError(f"The {door} socket {path} did not open: {error}.", "check the path and the node's log.")


def timed_out(path: Path, door: str) -> DoorError:
    """Return the error for a VPP that accepts connections but does not answer."""
    return DoorError(
        f"VPP did not answer in time on its {door} socket {path}.",
        "it is busy, stopped, or short of CPU: look at its log, or give it more time.",
        fault="timeout",
    )


def vanished(path: Path, door: str) -> DoorError:
    """Return the error for a connection that VPP closed before its answer was complete."""
    return DoorError(
        f"VPP closed its {door} socket {path} before its answer was complete.",
        "it has probably died: look at the last lines of its log, then start the node again.",
        fault="vanished",
    )


def _busy(path: Path, door: str) -> DoorError:
    return DoorError(
        f"VPP takes no further connection on its {door} socket {path} for now.",
        "it is stopped or short of CPU: look at its process, or try again.",
        fault="busy",
    )


def _absent(path: Path, door: str) -> DoorError:
    return DoorError(
        f"There is no {door} socket at {path}.",
        "VPP is not started, or the path is wrong: start the node, or check the path.",
        fault="absent",
    )


def _too_long(path: Path, door: str) -> DoorError:
    return DoorError(
        f"The path of the {door} socket has {len(str(path))} characters: {path}",
        f"a socket path may have {MAX_PATH}: use a shorter run directory.",
        fault="too-long",
    )


def _refused(path: Path, door: str) -> DoorError:
    try:
        is_socket = stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        is_socket = True
    if not is_socket:
        return _no_socket(path, door)
    return DoorError(
        f"The {door} socket file {path} exists, but no VPP listens on it.",
        "that VPP is dead: start the node again.",
        fault="dead",
    )


def _no_socket(path: Path, door: str) -> DoorError:
    return DoorError(
        f"{path} is not a {door} socket of VPP.",
        "check the path: another file is there.",
        fault="not-a-socket",
    )


def _forbidden(path: Path, door: str) -> DoorError:
    """Name who may: the socket itself, or the first directory on the way that may not be searched."""
    culprit, mode, owner, group = path, "?", "?", "?"
    for place in (*reversed(path.parents), path):
        try:
            status = place.stat()
        except OSError:
            break
        culprit, mode = place, f"{stat.S_IMODE(status.st_mode):04o}"
        owner, group = _user(status.st_uid), _group(status.st_gid)
    return DoorError(
        f"You may not open the {door} socket {path}: {culprit} belongs to {owner}:{group}, mode {mode}.",
        f"start VPP as your own user, or ask {owner} to let the group {group} in and you into the group.",
        fault="forbidden",
    )


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


_EXPLANATIONS: dict[str, Callable[[Path, str], DoorError]] = {
    "EAGAIN": _busy,
    "ETIMEDOUT": timed_out,
    "ENOENT": _absent,
    "ENOTDIR": _absent,
    "ECONNREFUSED": _refused,
    "EACCES": _forbidden,
    "EPERM": _forbidden,
    "EPROTOTYPE": _no_socket,
    "ENOTSOCK": _no_socket,
    "EPIPE": vanished,
    "ECONNRESET": vanished,
    "ENAMETOOLONG": _too_long,
}
