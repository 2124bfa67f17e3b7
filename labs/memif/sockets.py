"""Where a link's two ends meet: paths and abstract names, dialling and listening."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from labs.memif.errors import Down, MemifError
from labs.memif.wire import Channel

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_PATH = 107
"""Bytes of a socket's path, or of an abstract name."""
ABSTRACT = "abstract:"


def address_of(path: str | Path) -> str | bytes:
    """Return the socket address for a path, or for a name as VPP writes it (``abstract:NAME``).

    Raises
    ------
    MemifError
        The path is too long, or empty.
    """
    text = os.fspath(path)
    name = text.removeprefix(ABSTRACT)
    if not name or len(os.fsencode(name)) > MAX_PATH or "\0" in name:
        raise MemifError(
            f"A memif socket cannot be at {text!r}.",
            f"use a path of 1 to {MAX_PATH} bytes, or {ABSTRACT}NAME.",
        )
    return b"\0" + os.fsencode(name) if text.startswith(ABSTRACT) else text


def dial(path: str | Path, timeout: float) -> Channel:
    """Connect to a server.

    Raises
    ------
    Down
        Nobody listens there.
    """
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
    sock.settimeout(timeout)
    try:
        sock.connect(address_of(path))
    except OSError as error:
        sock.close()
        raise Down(
            f"No memif server answers at {path}: {error.strerror or error}.",
            "start the server first, and see that both sides name the same socket.",
        ) from None
    return Channel(sock, timeout)


def listen(path: str | Path) -> tuple[socket.socket, Callable[[], None]]:
    """Listen at a path, in place of a listener that has died there.

    Returns
    -------
    (socket, callable)
        The listening socket, and what removes its file again.

    Raises
    ------
    MemifError
        Another program listens there, or it cannot be listened at.
    """
    address = address_of(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
    try:
        if isinstance(address, str):
            _clear(address)
        sock.bind(address)
        sock.listen(16)
    except OSError as error:
        sock.close()
        raise MemifError(
            f"Nothing can listen at {path}: {error.strerror or error}.",
            "see that its directory is there and yours, and that nobody else listens at it.",
        ) from None
    if isinstance(address, bytes):
        return sock, lambda: None
    own = Path(address).stat().st_ino

    def remove() -> None:
        with contextlib.suppress(OSError):
            if Path(address).stat().st_ino == own:
                Path(address).unlink()

    return sock, remove


def _clear(path: str) -> None:
    """Remove a socket that nobody listens at any more."""
    with contextlib.suppress(FileNotFoundError):
        if not Path(path).is_socket():
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
            probe.settimeout(1)
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                Path(path).unlink()
