"""The listening socket, which several servers of this process may share, each with its id."""

from __future__ import annotations

import os
import select
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Protocol

from labs.memif import handshake
from labs.memif.errors import Down, MemifError, Refused
from labs.memif.sockets import address_of, listen
from labs.memif.wire import Channel

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from labs.memif.messages import Init
    from labs.memif.settings import Settings

_NAP = 0.05
_MOST_STRANGERS = 16  # clients that have connected but not yet asked for an interface


class Interface(Protocol):
    """What waits behind a listener."""

    @property
    def settings(self) -> Settings:
        """Its settings."""

    def attend(self, channel: Channel, init: Init) -> None:
        """Take over a client that asked for its id."""


class Listener:
    """Accepts clients at one path and leads each to the interface it asks for."""

    _all: ClassVar[dict[str | bytes, Listener]] = {}
    _guard: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, path: str | Path) -> None:
        self.interfaces: dict[int, Interface] = {}
        self.last_error: MemifError | None = None
        """Why the last client was sent away before it reached an interface."""
        self._address = address_of(path)
        self._socket, self._remove = listen(path)
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._strangers: set[Channel] = set()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=f"memif server {path}", daemon=True)

    @classmethod
    def join(cls, path: str | Path, interface: Interface) -> Listener:
        """Listen at `path` for an interface too.

        Raises
        ------
        MemifError
            The id is taken there, or another program listens there.
        """
        address = address_of(path)
        number = interface.settings.id
        with cls._guard:
            listener = cls._all.get(address)
            if listener is None:
                listener = cls._all[address] = cls(path)
                listener._thread.start()
            if number in listener.interfaces:
                raise MemifError(
                    f"Interface {number} is served at {path} already.", "use another id, or close it."
                )
            listener.interfaces[number] = interface
        return listener

    def leave(self, interface: Interface) -> None:
        """Listen for an interface no more, and for none at all if it was the last."""
        with self._guard:
            self.interfaces.pop(interface.settings.id, None)
            if self.interfaces:
                return
            self._all.pop(self._address, None)
            os.eventfd_write(self._wake, 1)
            self._thread.join()
            self._remove()
            self._socket.close()
            os.close(self._wake)
        with self._changed:
            for channel in list(self._strangers):
                channel.end("interface deleted")
            self._changed.wait_for(lambda: not self._strangers, timeout=5)

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while True:
            if self._wake in {found for found, _ in poll.poll()}:
                return
            try:
                self._take(self._socket.accept()[0])
            except OSError:
                time.sleep(_NAP)  # no descriptor is free: the client waits until one is

    def _take(self, sock: socket.socket) -> None:
        settings = self._greeting()
        if settings is None or len(self._strangers) >= _MOST_STRANGERS:
            sock.close()
            return
        channel = Channel(sock, settings.timeout)
        with self._changed:
            self._strangers.add(channel)
        threading.Thread(
            target=self._lead, args=(channel, settings), name=f"{self._thread.name} client", daemon=True
        ).start()

    def _greeting(self) -> Settings | None:
        """Return the settings that HELLO speaks of: the widest of all interfaces here."""
        every = [each.settings for each in list(self.interfaces.values())]
        if not every:
            return None
        return replace(
            every[0],
            queues=max(each.queues for each in every),
            ring_size=max(each.ring_size for each in every),
            timeout=max(each.timeout for each in every),
        )

    def _lead(self, channel: Channel, settings: Settings) -> None:
        try:
            init = handshake.greet(channel, settings)
            interface = self.interfaces.get(init.id)
            if interface is None:
                raise MemifError(  # noqa: TRY301 - the peer is told like of any other error
                    f"A client asked for interface {init.id}, which is not here.",
                    reason="unmatched interface id",
                )
        except MemifError as error:
            if not isinstance(error, Down | Refused):
                channel.end(error.reason)
            self.last_error = type(error)(error.message, error.hint, reason=error.reason)
            channel.close()
            interface = None
        finally:
            with self._changed:
                self._strangers.discard(channel)
                self._changed.notify_all()
        if interface:
            interface.attend(channel, init)
