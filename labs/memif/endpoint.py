"""Client and server: who dials, who listens, and what each does when the link breaks."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, ClassVar, Self

from labs.memif import handshake
from labs.memif.errors import Down, MemifError, Refused
from labs.memif.link import Link
from labs.memif.listener import Listener
from labs.memif.messages import Disconnect
from labs.memif.sockets import dial
from labs.memif.wire import close_all, unexpected

if TYPE_CHECKING:
    from labs.memif.messages import Init
    from labs.memif.wire import Channel

_REFUSALS = 3  # in a row, before a client that waits is told
_GOODBYE = "interface deleted"  # VPP's own words


class Client(Link):
    """The end that dials and makes the memory (VPP says slave).

    ``with Client(path) as link:`` waits until the link is up.

    Parameters
    ----------
    path : str or Path
        The server's socket, or ``abstract:NAME``.
    id : int
        Which interface at that socket.
    secret : str or bytes, optional
        The server's secret.
    **settings
        See `Settings`: ``mode``, ``queues``, ``ring_size``, ``buffer_size``, ``rx_mode``, and more.

    Raises
    ------
    MemifError
        A setting that cannot be.
    """

    role = "client"
    _thread: threading.Thread | None = None
    _channel: Channel | None = None

    def __enter__(self) -> Self:
        self.start()
        try:
            return self.wait_up(self.settings.timeout)
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """Begin to dial, again and again until the server answers; it returns at once."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"memif client {self.path}", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Tell the server good-bye and end the link for good."""
        self._closing.set()
        with self._changed:
            channel = self._channel
        if channel:
            channel.end(_GOODBYE)
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join(self.settings.timeout)

    def _is_hopeless(self) -> bool:
        return super()._is_hopeless() or self._refusals >= _REFUSALS

    def _run(self) -> None:
        while not self._closing.is_set():
            self._once()
            self._closing.wait(self.settings.retry)

    def _once(self) -> None:
        """Dial once, and keep the link until it ends."""
        channel = None
        try:
            channel = dial(self.path, self.settings.timeout)
            with self._changed:
                self._channel = channel
            if not self._closing.is_set():
                self._up(handshake.connect(channel, self.settings))
                keep(channel)
        except MemifError as error:
            if channel and not isinstance(error, Down | Refused):
                channel.end(error.reason)
            if not isinstance(error, Down):
                self._refusals += 1
            self._down(error)
        except OSError as error:
            self._down(exhausted(error))
        finally:
            with self._changed:
                self._channel = None
            if channel:
                channel.close()


class Server(Link):
    """The end that listens and maps the client's memory (VPP says master).

    Several servers, with different ids, may share a socket. ``with Server(path) as link:`` listens, and does
    not wait for a client: `wait_up` does.

    Parameters
    ----------
    path : str or Path
        Where to listen, or ``abstract:NAME``.
    id, secret, **settings
        As for `Client`. ``queues`` and ``ring_size`` are the most a client may have, ``buffer_size`` is the
        client's to choose.

    Raises
    ------
    MemifError
        A setting that cannot be.
    """

    role = "server"
    usual: ClassVar[dict[str, Any]] = {"queues": 16, "ring_size": 16384, "buffer_size": 64}
    _listener: Listener | None = None

    def start(self) -> None:
        """Listen.

        Raises
        ------
        MemifError
            Another program listens there, or this one does with the same id.
        """
        if self._listener is None:
            self._channels: set[Channel] = set()
            self._taken = threading.Lock()
            self._listener = Listener.join(self.path, self)

    def close(self) -> None:
        """Tell the client good-bye, end the link and listen no more."""
        self._closing.set()
        if self._listener is None:
            return
        self._listener.leave(self)
        self._listener = None
        with self._changed:
            channels = list(self._channels)
            self._changed.notify_all()
        for channel in channels:
            channel.end(_GOODBYE)
        deadline = time.monotonic() + self.settings.timeout
        with self._changed:
            self._changed.wait_for(lambda: not self._channels, max(0.0, deadline - time.monotonic()))

    def attend(self, channel: Channel, init: Init) -> None:
        """Go on with a client that asked for this interface, until the link ends."""
        with self._changed:
            self._channels.add(channel)
        try:
            handshake.admit(init, self.settings)
            if self._closing.is_set() or not self._taken.acquire(blocking=False):
                raise MemifError(  # noqa: TRY301 - the peer is told like of any other error
                    "The client asks for an interface that is in use.", reason="already connected"
                )
            try:
                self._accept(channel, init)
            finally:
                self._taken.release()
        except MemifError as error:
            if not isinstance(error, Down | Refused):
                channel.end(error.reason)
            if not self.is_up:
                self._down(error)
        finally:
            channel.close()
            with self._changed:
                self._channels.discard(channel)
                self._changed.notify_all()

    def _accept(self, channel: Channel, init: Init) -> None:
        try:
            try:
                handshake.accept(channel, self.settings, init, self._up)
            except OSError as error:
                raise exhausted(error) from None
            keep(channel)
        except MemifError as error:
            if not isinstance(error, Down | Refused):
                channel.end(error.reason)
            self._down(error)


def exhausted(error: OSError) -> MemifError:
    """Return the error for what this process can have no more of: descriptors, or memory."""
    return MemifError(
        f"The link needs what this process cannot have: {error.strerror}.",
        "close links that are not needed, or raise the limit on open files.",
        reason="out of resources",
    )


def keep(channel: Channel) -> None:
    """Stay on the control socket of a link that is up, until it ends.

    Raises
    ------
    MemifError
        Always: why the link ended.
    """
    message, descriptors = channel.receive()
    close_all(descriptors)
    raise unexpected(message, Disconnect.__name__.upper())
