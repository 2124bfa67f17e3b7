"""What all doors share: a listening socket, its clients, and one descriptor that tells of them all."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Self

from labs.glassbox.doors.listening import Listening

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from labs.glassbox.doors.connection import Connection

_MOST_CLIENTS = 64


class Door:
    """A socket that clients come in by, served from somebody else's loop.

    The loop watches `fileno` for reading, calls `ready` when it is, and `tick` every few milliseconds.
    Nothing here ever waits.

    Parameters
    ----------
    path : str or Path
        The socket's file.
    kind : socket.SocketKind
        ``SOCK_STREAM`` or ``SOCK_SEQPACKET``.

    Raises
    ------
    LabError
        The socket cannot be listened on.
    """

    def __init__(self, path: str | Path, kind: socket.SocketKind) -> None:
        self._listening = Listening(path, kind)
        self.path = self._listening.path
        # An epoll is itself a descriptor that can be watched: so a door is one, however many clients it has.
        self._epoll = select.epoll()
        self._connections: dict[int, Connection] = {}
        self._watched: dict[int, int] = {}
        self._watch(self._listening.socket.fileno(), select.EPOLLIN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def admit(self, sock: socket.socket) -> Connection | None:
        """Return what serves a client that has come in, or None if it was served at once."""
        raise NotImplementedError

    def fileno(self) -> int:
        """Return the descriptor that is readable when there is something to do."""
        return self._epoll.fileno()

    def ready(self) -> None:
        """Do what there is to do, without waiting."""
        if self._epoll.closed:
            return
        for descriptor, events in self._epoll.poll(0):
            connection = self._connections.get(descriptor)
            if connection is not None:
                connection.attend(events)
                self._settle(descriptor, connection)
            elif descriptor == self._listening.socket.fileno():
                self._accept()

    def tick(self) -> None:
        """Do what is due by time: to be called every few milliseconds."""
        for descriptor, connection in list(self._connections.items()):
            connection.tick()
            connection.flush()
            self._settle(descriptor, connection)
        self._watch_listener()

    def close(self) -> None:
        """Send the clients away and remove the socket. May be called twice."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
        self._epoll.close()
        self._listening.close()

    def _accept(self) -> None:
        try:
            sock, _ = self._listening.socket.accept()
        except BlockingIOError:
            return
        except OSError:
            self._watch(self._listening.socket.fileno(), 0)  # no descriptor is free: `tick` tries again
            return
        sock.setblocking(False)  # noqa: FBT003 - the standard library's own signature
        connection = self.admit(sock)
        if connection is None:
            sock.close()
            return
        self._connections[sock.fileno()] = connection
        connection.flush()
        self._settle(sock.fileno(), connection)
        self._watch_listener()

    def _settle(self, descriptor: int, connection: Connection) -> None:
        """Close a connection that is over, or watch for what it wants next."""
        if connection.is_over:
            self._watch(descriptor, None)
            del self._connections[descriptor]
            connection.close()
            self._watch_listener()
        else:
            self._watch(descriptor, connection.wants)

    def _watch_listener(self) -> None:
        is_full = len(self._connections) >= _MOST_CLIENTS
        self._watch(self._listening.socket.fileno(), 0 if is_full else select.EPOLLIN)

    def _watch(self, descriptor: int, events: int | None) -> None:
        """Watch a descriptor for `events`; None for not at all."""
        known = self._watched.get(descriptor)
        if known == events or self._epoll.closed:
            return
        if events is None:
            self._epoll.unregister(descriptor)
            del self._watched[descriptor]
        elif known is None:
            self._epoll.register(descriptor, events)
            self._watched[descriptor] = events
        else:
            self._epoll.modify(descriptor, events)
            self._watched[descriptor] = events
