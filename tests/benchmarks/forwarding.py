"""One core that sends packets on one memif and counts them on another, around a device that forwards them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

from labs import memif
from labs.memif.control import POSITION
from labs.memif.jit import kernel
from labs.memif.kernels import give_back, send
from labs.memif.steps import look, publish

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 2000
"""Bursts to send between two looks at the clock."""
READY_WITHIN = 5.0  # seconds
SHORT, WINDOWS, BEST_LEFT_OUT = 0.006, 40, 3
"""Seconds of a window, how many make a measurement, and how many of the best may be chance."""


@kernel
def pump(out, back, data, offsets, lengths, rounds):
    """Send a burst and take back what has come, `rounds` times; return packets sent and packets back."""
    sent = came = 0
    for _ in range(rounds):
        went = send(out, data, offsets, lengths, 0, lengths.size)
        if went < 0:
            return went, came
        sent += went
        there = look(back)
        if there < 0:
            return there, came
        if there > 0:
            position = back[POSITION]
            give_back(back, position, position + there)
            publish(back, position + there)
            came += there
    return sent, came


class NotReady(Exception):  # noqa: N818 - reads as what it says
    """No packet comes back from the device."""


class Tester:
    """Two links to a device, and the packets it shall forward from the first to the second.

    It listens, so that the device is the client of both: it makes the memory, and lends its packets or copies
    them as it does by itself.

    Parameters
    ----------
    first, second : path
        Sockets.
    packets : sequence of bytes
    """

    def __init__(self, first, second, packets):
        self.burst = memif.Burst.of(packets)
        # a client of DPDK's does not seal what it lends; on a bench it is trusted not to shrink it
        self.links = [memif.Server(path, trust=True) for path in (first, second)]
        for link in self.links:
            link.start()

    def ready(self):
        """Return when packets come back from the device: it has connected, and knows all addresses.

        DPDK's client may connect, leave and connect once more while it starts.
        """
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline:
            with contextlib.suppress(memif.Down):
                for link in self.links:
                    link.wait_up(READY_WITHIN)
                if self.rate(0.01):  # compiled, too
                    return
        raise NotReady

    def rate(self, seconds):
        """Return the Mpps that come back, and forget what is on its way."""
        out, back = self.links[0].queue("tx"), self.links[1].queue("rx")
        with out.in_use() as one, back.in_use() as other:
            data, offsets, lengths = self.burst.data, self.burst.offsets, self.burst.lengths
            came, began = 0, time.perf_counter()
            while (took := time.perf_counter() - began) < seconds:
                sent, got = pump(one, other, data, offsets, lengths, ROUNDS)
                assert sent >= 0, sent
                came += got
        return came / took / 1e6

    def best(self):
        """Return the Mpps of one of many short windows, the best few left out: the host left it alone."""
        return sorted(self.rate(SHORT) for _ in range(WINDOWS))[-BEST_LEFT_OUT - 1]

    def close(self):
        for link in self.links:
            link.close()


@contextlib.contextmanager
def running(pid: int) -> Iterator[None]:
    """Let a process that polls run meanwhile; it is stopped for the rest of the time."""
    os.kill(pid, signal.SIGCONT)
    time.sleep(0.02)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGSTOP)
