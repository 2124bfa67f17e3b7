"""The control socket: messages and file descriptors, over SOCK_SEQPACKET."""

from __future__ import annotations

import array
import contextlib
import os
import select
import socket
import struct
import threading
import time
from dataclasses import dataclass
from typing import TypeVar

from labs.memif.errors import BadMessage, Down, MemifError, Refused
from labs.memif.messages import REASON_SIZE, SIZE, Disconnect, Message, clip, printable, unpack

M = TypeVar("M", bound=Message)

_FDS = 16  # descriptors taken from one message before we call it a flood
_INT = struct.calcsize("i")


@dataclass(frozen=True)
class Said:
    """One message of a handshake, for the microscope."""

    at: float
    """Seconds of `time.monotonic`."""
    message: Message
    descriptors: int
    """How many came along."""
    by_us: bool
    """Or else by the peer."""


class Channel:
    """A connected control socket.

    Sending is safe from any thread; only one thread may receive.

    Parameters
    ----------
    sock : socket
        Becomes the channel's.
    timeout : float
        Seconds until the handshake must be over: `handshake_over` lifts the limit.
    """

    def __init__(self, sock: socket.socket, timeout: float) -> None:
        sock.settimeout(timeout)
        self._socket = sock
        self._deadline: float | None = time.monotonic() + timeout
        self._lock = threading.Lock()
        self.said: list[Said] = []

    def fileno(self) -> int:
        """Return the socket's descriptor; -1 when closed."""
        return self._socket.fileno()

    def send(self, message: Message, descriptor: int = -1) -> None:
        """Send a message, and a descriptor along with it.

        Raises
        ------
        Down
            The peer is gone, or takes nothing.
        """
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        try:
            with self._lock:
                self._socket.sendmsg([message.pack()], rights if descriptor >= 0 else [], socket.MSG_NOSIGNAL)
        except OSError as error:
            raise Down(f"The peer has closed the link: {error.strerror}.") from None
        self.said.append(Said(time.monotonic(), message, int(descriptor >= 0), by_us=True))

    def handshake_over(self) -> None:
        """Let the peer be silent from now on."""
        self._deadline = None

    def receive(self) -> tuple[Message, list[int]]:
        """Return the peer's next message and the descriptors that came with it, which are the caller's.

        Raises
        ------
        BadMessage
            It is no message of memif, or has not the descriptors it should have.
        Down
            The peer is gone.
        MemifError
            The peer took too long.
        Refused
            The peer ended the link.
        """
        self._await()
        try:
            data, extra, flags, _ = self._socket.recvmsg(
                SIZE + 1, socket.CMSG_SPACE(_FDS * _INT), socket.MSG_CMSG_CLOEXEC
            )
        except OSError as error:
            raise Down(f"The peer has closed the link: {error.strerror}.") from None
        descriptors = _descriptors_in(extra)
        try:
            if not data:
                raise Down("The peer has closed the link.")
            message = unpack(data)
            if len(descriptors) != message.descriptors or flags & socket.MSG_CTRUNC:
                raise BadMessage(
                    f"{type(message).__name__.upper()} came with {len(descriptors)} file descriptors, "
                    f"not {message.descriptors}.",
                    reason="wrong number of descriptors",
                )
        except MemifError:
            close_all(descriptors)
            raise
        self.said.append(Said(time.monotonic(), message, len(descriptors), by_us=False))
        if isinstance(message, Disconnect):
            raise Refused(f"The peer ended the link: {printable(message.reason) or 'it gave no reason'}.")
        return message, descriptors

    def expect(self, kind: type[M]) -> M:
        """Return the peer's next message, which must be of this kind and bring no descriptors."""
        message, descriptors = self.receive()
        if not isinstance(message, kind):
            close_all(descriptors)
            raise unexpected(message, kind.__name__.upper())
        return message

    def end(self, reason: str) -> None:
        """Tell the peer why the link ends, and wake whoever waits on the socket."""
        with contextlib.suppress(MemifError, OSError):
            self.send(Disconnect(reason=clip(reason, REASON_SIZE)))
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket, and with it the peer's messages that nobody reads any more.

        Closed over unread messages, it would show the peer a reset before our DISCONNECT.
        """
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
            while self._socket.recv(1, socket.MSG_DONTWAIT):
                pass
        self._socket.close()

    def _await(self) -> None:
        poll = select.poll()
        try:
            poll.register(self._socket, select.POLLIN)
        except ValueError:
            raise Down("The link is closed.") from None
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic()) * 1000
        if not poll.poll(left):
            raise MemifError("The peer said nothing for too long.", reason="timeout")


def unexpected(message: Message, wanted: str) -> BadMessage:
    """Return the error for a message out of order."""
    return BadMessage(
        f"The peer sent {type(message).__name__.upper()} where {wanted} was due.", reason="unexpected message"
    )


def close_all(descriptors: list[int]) -> None:
    """Close file descriptors."""
    for each in descriptors:
        os.close(each)


def _descriptors_in(extra: list[tuple[int, int, bytes]]) -> list[int]:
    found = array.array("i")
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return list(found)
