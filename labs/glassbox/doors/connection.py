"""One client of a door: what it has sent, what it is still to get, and how much of either is too much."""

from __future__ import annotations

import contextlib
import select
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

_CHUNK = 65536
ENOUGH = 1 << 20
"""Bytes a client may leave unread before it is asked for nothing more, and nothing more is done for it."""

_GONE = select.EPOLLHUP | select.EPOLLERR


class Connection:
    """A client's socket, never waited for.

    One piece of work is done at a time, so that a client with a thousand questions does not keep the
    others waiting. What one answer brings is kept whole, however large; but a client that does not read
    its answers gets no further ones.

    Parameters
    ----------
    sock : socket.socket
        Non-blocking.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._unsent = bytearray()
        self._is_ending = False
        self.has_ended = False
        """Whether the client will send no more."""

    # What a protocol is: its clients override these.

    def take(self, data: bytes) -> None:
        """Keep what the client has sent."""
        raise NotImplementedError

    def has_work(self) -> bool:
        """Return whether there is something to do at once."""
        raise NotImplementedError

    def work(self) -> None:
        """Do one thing that the client has asked for."""
        raise NotImplementedError

    def tick(self) -> None:
        """Do what is due by time."""

    def gone(self) -> None:
        """Let go of what was held for the client."""

    # What the door does with it.

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._socket.fileno()

    @property
    def is_congested(self) -> bool:
        """Whether the client has too much to read as it is."""
        return len(self._unsent) >= ENOUGH

    @property
    def is_over(self) -> bool:
        """Whether the door may close the connection."""
        return self._is_ending and not self._unsent

    @property
    def wants(self) -> int:
        """What epoll shall wake us for."""
        if self._is_ending:
            return select.EPOLLOUT
        has_work = not self.is_congested and self.has_work()
        reads = select.EPOLLIN if not (self.is_congested or has_work or self.has_ended) else 0
        return reads | (select.EPOLLOUT if self._unsent or has_work else 0)

    def attend(self, events: int) -> None:
        """Read, work and write as far as it goes without waiting."""
        if events & _GONE and self.is_congested:
            self._unsent.clear()
        if events & (select.EPOLLIN | _GONE) and not self.has_ended and not self.is_congested:
            self._receive()
        if not (self._is_ending or self.is_congested) and self.has_work():
            self.work()
        if self.has_ended and not self.has_work():
            self.end()
        self.flush()

    def send(self, data: bytes) -> None:
        """Send `data` when the client takes it."""
        if not self._is_ending:
            self._unsent += data

    def end(self) -> None:
        """Close the connection when the client has got everything."""
        self._is_ending = True

    def drop(self) -> None:
        """Close the connection, whatever is left unsent."""
        self._is_ending = True
        self._unsent.clear()

    def flush(self) -> None:
        """Write what the client takes now."""
        try:
            while self._unsent:
                del self._unsent[: self._socket.send(self._unsent[:_CHUNK])]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent.clear()  # the client is gone; what it has asked for is done all the same
            self._lose()

    def close(self) -> None:
        """Close the socket."""
        self.gone()
        with contextlib.suppress(OSError):
            self._socket.close()

    def _receive(self) -> None:
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.take(data)
        else:
            self._lose()

    def _lose(self) -> None:
        if not self.has_ended:
            self.has_ended = True
            self.gone()
