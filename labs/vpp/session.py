"""One connection to VPP's CLI socket, in the mode that vppctl uses for scripts."""

from __future__ import annotations

import codecs
import select
import socket
import time
from typing import TYPE_CHECKING

from labs.vpp.sockets import DoorError, connect, explain, timed_out, vanished
from labs.vpp.telnet import NON_INTERACTIVE, TelnetFilter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DOOR = "CLI"
_CHUNK = 65536
_SETTLE = 0.05  # seconds to wait for more after a NUL that does not look like the end of an answer


class UnreadError(DoorError):
    """VPP closed the session before it read the statement: it may be sent again elsewhere."""


class Session:
    """A non-interactive CLI session: one statement out, its text in, a NUL at the end.

    Parameters
    ----------
    path : Path
        The CLI socket.
    timeout : float
        Seconds for connecting and for VPP's first words.

    Raises
    ------
    DoorError
        The socket does not open, or what is behind it does not negotiate.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._telnet = TelnetFilter()
        self._socket = connect(path, _DOOR, timeout)
        deadline = time.monotonic() + timeout
        try:
            while not self._telnet.asked_terminal_type:
                self._receive(deadline)
            self._send(NON_INTERACTIVE)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; VPP ends the session. May be called twice."""
        self._socket.close()

    def is_fresh(self) -> bool:
        """Return whether the connection stands and nothing unread is left over on it."""
        return self._socket.fileno() >= 0 and not self._is_readable(0)

    def send(self, statement: str) -> None:
        """Send one statement, or a keypress to a command that is running."""
        self._send(statement.encode(errors="replace") + b"\n")

    def answer(self, timeout: float, *, silence: bool = False) -> Iterator[str]:
        r"""Yield the answer's text in pieces as they arrive, without carriage returns, to its end.

        Parameters
        ----------
        timeout : float
            Seconds for the whole answer or, with `silence`, from one piece to the next.
        silence : bool

        Raises
        ------
        UnreadError
            VPP closes the connection without having read the statement.
        DoorError
            VPP is silent for too long, or closes the connection before the NUL.
        """
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        deadline = time.monotonic() + timeout
        last = b"\n"
        is_answered = False
        while True:
            try:
                piece = self._receive(deadline)
            except UnreadError:
                if is_answered:
                    raise vanished(self._path, _DOOR) from None
                raise
            is_answered = True
            if silence:
                deadline = time.monotonic() + timeout
            is_end = self._is_end(last, piece)
            last = (last + piece)[-1:]
            text = decoder.decode(piece.replace(b"\0", b"").replace(b"\r", b""), final=is_end)
            if text:
                yield text
            if is_end:
                return

    def _is_end(self, before: bytes, piece: bytes) -> bool:
        """Return whether `piece` ends an answer.

        Some commands print a NUL inside a line, so a NUL alone proves nothing. VPP ends every line,
        sends the closing NUL after that, and is silent until the next statement.
        """
        if not piece.endswith(b"\0"):
            return False
        rest = (before + piece).rstrip(b"\0")
        wait = 0 if not rest or rest.endswith(b"\n") else _SETTLE
        return not (self._is_readable(wait) and self._peek())

    def _is_readable(self, wait: float) -> bool:
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        return bool(poller.poll(wait * 1000))

    def _peek(self) -> bytes:
        """Return a byte that waits to be read, or nothing if VPP has closed the session."""
        try:
            return self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except OSError:
            return b""

    def _receive(self, deadline: float) -> bytes:
        left = deadline - time.monotonic()
        if left <= 0:
            raise timed_out(self._path, _DOOR)
        try:
            self._socket.settimeout(left)
            raw = self._socket.recv(_CHUNK)
        except ConnectionResetError as error:
            # Linux says so when the peer of a unix socket closes it with something unread
            why = explain(error, self._path, _DOOR)
            raise UnreadError(why.message, why.hint, fault=why.fault) from None
        except OSError as error:
            raise explain(error, self._path, _DOOR) from None
        if not raw:
            raise vanished(self._path, _DOOR)
        return self._telnet.feed(raw)

    def _send(self, data: bytes) -> None:
        try:
            self._socket.settimeout(self._timeout)
            self._socket.sendall(data)
        except OSError as error:
            raise explain(error, self._path, _DOOR) from None
