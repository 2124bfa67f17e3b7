"""Whether a link is up, and what happens when that changes."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, ClassVar, Self

from labs.memif.errors import Down, MemifError
from labs.memif.settings import RX_MODES, Settings, secret_of

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from labs.memif.connection import Connection
    from labs.memif.wire import Said


_made: weakref.WeakSet[LinkState] = weakref.WeakSet()


class LinkState:
    """Whether a link is up, since when and why not: what its control thread and its users share.

    A thread of its own keeps the control socket: it shakes hands, notices that the peer is gone, and connects
    again, while the caller's cell has long returned. Packets never pass through it.
    """

    role: ClassVar[str]
    usual: ClassVar[dict[str, Any]] = {}
    """Settings that are other than `Settings` has them, unless said."""

    def __init__(
        self,
        path: str | Path,
        id: int = 0,  # noqa: A002 - VPP's word
        *,
        secret: str | bytes | None = None,
        **settings: Any,  # noqa: ANN401 - `Settings` types them
    ) -> None:
        settings = {"interface": f"{self.role} {id}", **self.usual, **settings}
        self.path = path
        self.settings = Settings(id=id, secret=secret_of(secret), **settings)
        self.last_error: MemifError | None = None
        """Why the link last went down, or did not come up."""
        self.handshake: list[Said] = []
        """The messages of the last handshake that succeeded."""
        self.times_up = 0
        self._rx_mode = self.settings.rx_mode
        self._connection: Connection | None = None
        self._fault: MemifError | None = None
        self._changed = threading.Condition()
        self._refusals = 0
        self._closing = threading.Event()
        self.pid = os.getpid()
        _made.add(self)

    def start(self) -> None:
        """Begin to connect, or to listen; it returns at once."""
        raise NotImplementedError

    def close(self) -> None:
        """End the link for good."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_up(self) -> bool:
        """Whether packets can flow."""
        return self._connection is not None

    @property
    def is_closed(self) -> bool:
        """Whether it was ended for good."""
        return self._closing.is_set()

    @property
    def connection(self) -> Connection:
        """The connection, for the microscope and for kernels.

        Raises
        ------
        Down
            There is none.
        """
        if (connection := self._connection) is None:
            why = f" {self.last_error.message}" if self.last_error else ""
            raise Down(f"The link at {self.path} is down.{why}", "wait_up() waits until it is up again.")
        return connection

    def wait_up(self, timeout: float = 5.0) -> Self:
        """Wait until the link is up, and return it.

        Raises
        ------
        Down
            It is not up in `timeout` seconds; the message says what stood in the way last.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.is_up or self._is_hopeless(), timeout)
        _ = self.connection
        return self

    def rx_mode(self, mode: str) -> None:
        """Tell the peer whether to ring our doorbell (``interrupt``) or to leave it alone (``polling``).

        It holds for this connection and for those after it.
        """
        if mode not in RX_MODES:
            raise MemifError(f"rx_mode cannot be {mode!r}.", f"use {' or '.join(map(repr, RX_MODES))}.")
        self._rx_mode = mode
        if connection := self._connection:
            _mask(connection, mode)

    def _is_hopeless(self) -> bool:
        """Return whether waiting longer for the peer makes no sense."""
        return self._closing.is_set()

    def _up(self, connection: Connection) -> None:
        """Take a connection into use."""

        def fault(error: MemifError) -> None:
            self._fault = error
            connection.stop()
            connection.channel.end(error.reason)

        for queue in connection.queues:
            queue.on_fault = fault
        _mask(connection, self._rx_mode)
        connection.channel.handshake_over()
        with self._changed:
            self._fault = None
            self._connection = connection
            self.handshake = connection.channel.said
            self.last_error = None
            self.times_up += 1
            self._refusals = 0
            self._changed.notify_all()

    def _down(self, error: MemifError) -> None:
        """Let go of the connection, if there is one, and note why."""
        connection = self._connection
        if connection:
            connection.stop()
        with self._changed:
            self.last_error = _bare(self._fault or error)
            self._fault = None
            self._connection = None
            self._changed.notify_all()
        if connection:
            connection.close()
            for queue in connection.queues:
                queue.on_fault = lambda _error: None


def _bare(error: MemifError) -> MemifError:
    """Return a copy of the error that remembers no call: that would keep the peer's memory mapped."""
    return type(error)(error.message, error.hint, reason=error.reason)


def _mask(connection: Connection, mode: str) -> None:
    for queue in connection.rx:
        queue.polls(polls=mode == "polling")


@atexit.register
def _close_all() -> None:
    """Say good-bye and remove the sockets, however the program ends."""
    for link in list(_made):
        if link.pid == os.getpid():  # not in a child: the link is its parent's
            link.close()
