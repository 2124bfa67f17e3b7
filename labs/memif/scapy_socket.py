"""A scapy socket over a memif link: ``sr1``, ``sniff`` and ``AsyncSniffer`` work on it.

>>> socket = link.scapy_socket()                                   # doctest: +SKIP
>>> socket.sr1(Ether(dst=mac) / IP(dst="10.10.2.1") / ICMP())       # doctest: +SKIP
>>> AsyncSniffer(opened_socket=socket).start()                     # doctest: +SKIP
"""

from __future__ import annotations

import select
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.supersocket import SuperSocket

from labs.memif.errors import Down

if TYPE_CHECKING:
    from labs.memif.connection import Connection
    from labs.memif.link import Link


class MemifSocket(SuperSocket):
    """A link as scapy wants it. It borrows the link: closing the socket leaves the link as it is.

    Scapy sleeps until a descriptor is readable, so the link is set to interrupt mode.

    Parameters
    ----------
    link : Link
        A link that is up, or will be.
    """

    desc = "memif"

    def __init__(self, link: Link) -> None:
        self.link = link
        self.closed = False
        self._layer = IP if link.settings.mode == "ip" else Ether
        self._waiting: deque[bytes] = deque()
        self._watched: Connection | None = None
        self._epoll: select.epoll | None = None
        link.rx_mode("interrupt")

    def fileno(self) -> int:
        """Return a descriptor that is readable when the peer has rung any queue's doorbell."""
        connection = self.link.connection
        if self._watched is not connection or self._epoll is None:
            self._unwatch()
            self._epoll = select.epoll()
            for queue in connection.rx:
                self._epoll.register(queue.doorbell, select.EPOLLIN)
            self._watched = connection
        return self._epoll.fileno()

    def send(self, x: Any) -> int:  # noqa: ANN401 - a packet of scapy's
        """Send one packet, and return its bytes."""
        data = bytes(x)
        sent = self.link.send([data])
        if hasattr(x, "sent_time"):
            x.sent_time = time.time()
        return len(data) if sent else 0

    def recv_raw(self, x: int = 65535) -> tuple[Any, bytes | None, float | None]:
        """Return (layer, bytes, time) of the next packet; None each if there is none now."""
        self._collect()
        if not self._waiting:
            return None, None, None
        return self._layer, self._waiting.popleft()[:x], time.time()

    def close(self) -> None:
        """Let go of the link, which stays as it is."""
        self.closed = True
        self._unwatch()

    @staticmethod
    def select(sockets: list[SuperSocket], remain: float | None = None) -> Any:  # noqa: ANN401 - as scapy's
        """Return the sockets that can be received from, after `remain` seconds at most."""
        ready = [each for each in sockets if isinstance(each, MemifSocket) and each._is_ready()]  # noqa: SLF001 - our own
        return ready or SuperSocket.select(sockets, remain)

    def _is_ready(self) -> bool:
        self._collect()
        return bool(self._waiting)

    def _collect(self) -> None:
        """Silence the doorbells, then take what is there: what comes later rings again."""
        if self._waiting or self.closed:
            return
        try:
            for queue in self.link.connection.rx:
                queue.clear_doorbell()
            self._waiting.extend(self.link.receive(timeout=0))
        except Down as error:
            raise EOFError(str(error)) from None

    def _unwatch(self) -> None:
        if self._epoll is not None:
            self._epoll.close()
        self._epoll = self._watched = None
