"""A link, as its user sees it: packets out and in, the same for server and client."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from labs.memif.burst import Burst, listed
from labs.memif.doorbell import sleep_until_any
from labs.memif.errors import MemifError
from labs.memif.link_state import LinkState
from labs.memif.queue import Counters, Queue

if TYPE_CHECKING:
    from labs.memif.scapy_socket import MemifSocket

_BURST = 256
_SPIN = 1000  # looks before a nap, where a ring is full
_NAP = 50e-6


class Link(LinkState):
    """One end of a memif link; use `Client` or `Server`.

    Two threads may use one link; they take turns on each queue.
    """

    def send(self, packets: Any, timeout: float = 1.0, queue: int = 0) -> int:  # noqa: ANN401 - scapy need not be there
        """Send packets, waiting for room, and return how many went.

        Parameters
        ----------
        packets : bytes, scapy Packet, sequence of these, ndarray or Burst
            A sequence is a packet each; so is a row of an array.
        timeout : float
            Seconds to wait for room.
        queue : int
            Which of the queues.

        Raises
        ------
        Down
            The link is down, or goes down.
        MemifError
            A packet is empty or too large, or the peer broke the ring.
        """
        burst = Burst.of(listed(packets))
        queue_ = self.queue("tx", queue)
        deadline = time.monotonic() + timeout
        sent = looks = 0
        while (sent := sent + queue_.send(burst, sent)) < len(burst):
            looks += 1
            if looks > _SPIN:
                if time.monotonic() > deadline:
                    break
                time.sleep(_NAP)
        return sent

    def receive(self, timeout: float = 1.0, most: int = _BURST) -> list[bytes]:
        """Return packets from all queues, as soon as there are some; none after `timeout` seconds.

        Raises
        ------
        Down
            The link is down.
        MemifError
            The peer broke a ring.
        """
        packets: list[bytes] = []
        deadline = time.monotonic() + timeout
        while True:
            for queue in self.connection.rx:
                packets += queue.receive(most).packets()
            left = deadline - time.monotonic()
            if packets or left <= 0:
                return packets
            self.wait(left)

    def send_burst(self, burst: Any, first: int = 0, queue: int = 0) -> int:  # noqa: ANN401 - what Burst.of takes
        """Send a burst from packet `first` on, as far as there is room now, and return how many went.

        Raises
        ------
        Down, MemifError
            As for `send`.
        """
        return self.queue("tx", queue).send(Burst.of(burst), first)

    def receive_burst(self, most: int = _BURST, queue: int = 0) -> Burst:
        """Return what packets there are now, as a burst whose memory the next call uses again.

        Raises
        ------
        Down, MemifError
            As for `receive`.
        """
        return self.queue("rx", queue).receive(most)

    def wait(self, timeout: float = 1.0) -> bool:
        """Sleep on the doorbells until packets are there, and return whether they are.

        It returns early, with False, when the link goes down.

        Raises
        ------
        MemifError
            The peer broke a ring.
        """
        if (connection := self._connection) is None:
            with self._changed:
                return self._changed.wait_for(lambda: self.is_up, timeout) and self.wait(0)
        return sleep_until_any(connection.rx, connection.channel.fileno(), timeout)

    def queue(self, direction: str, number: int = 0) -> Queue:
        """Return a queue: direction ``tx`` or ``rx``. Kernels run on its control block (`Queue.in_use`).

        Raises
        ------
        Down, MemifError
            The link is down, or has no such queue.
        """
        queues: list[Queue] = getattr(self.connection, direction)
        if not 0 <= number < len(queues):
            raise MemifError(f"There is no queue {number}: this link has {len(queues)}.", "count from 0.")
        return queues[number]

    def scapy_socket(self) -> MemifSocket:
        """Return a scapy socket over this link, for ``sr1``, ``sniff`` and ``AsyncSniffer``."""
        from labs.memif.scapy_socket import MemifSocket  # noqa: PLC0415 - scapy takes a second to load

        return MemifSocket(self)

    def counters(self) -> dict[str, Counters]:
        """Return what was sent (``tx``) and received (``rx``) since the link came up, all queues together."""
        connection = self.connection
        return {
            name: sum((each.counters for each in queues), Counters())
            for name, queues in (("tx", connection.tx), ("rx", connection.rx))
        }
