"""The generator: packets out, flat out or at a rate."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Self

import numpy as np

from labs.errors import LabError
from labs.memif import MemifError
from labs.memif.control import BAD_INPUT
from labs.traffic import blocks, stamp
from labs.traffic.generate import generate
from labs.traffic.headers import within
from labs.traffic.reports import GeneratorReport
from labs.traffic.worker import Worker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labs.memif.link import Link
    from labs.memif.queue import Queue
    from labs.traffic.packets import Packets

MIN_RATE, MAX_RATE = 1e-3, 1e9
MAX_BUCKET = 1 << 20
_streams = itertools.count(int.from_bytes(os.urandom(2), "little"))


class Generator(Worker):
    """Sends packets over a link, built in place in its ring.

    >>> with memif.Client(path) as link:  # doctest: +SKIP
    ...     print(Generator(link, udp(flows=100), rate=1e6).run(seconds=2))

    Parameters
    ----------
    link : Client or Server
    packets : Packets
    rate : float, optional
        Packets a second, to a thousandth of one; without it as many as the ring takes. Packets go in bursts
        of as many as are due in 2 µs, 64 at most. May be changed while it runs.
    queue : int
        Which of the link's queues.
    stream : int, optional
        Goes into the stamps, for a sink to tell this generator from others; without it each has its own.
    bucket : int
        Packets: what was not sent in time is sent later, but no more than so many at once. The rest is given
        up, and counted as missed.
    core : int, optional
        The processor to run on.

    Raises
    ------
    LabError
        A value that cannot be.

    Notes
    -----
    Each flow's numbers go on from run to run, so that a sink may stay while a generator is stopped and
    started.
    """

    def __init__(
        self,
        link: Link,
        packets: Packets,
        rate: float | None = None,
        *,
        queue: int = 0,
        stream: int | None = None,
        bucket: int = 256,
        core: int | None = None,
    ) -> None:
        super().__init__(link, "tx", queue, core)
        within("stream", stream or 0, 0, stamp.MAX_STREAM)
        within("bucket", bucket, 1, MAX_BUCKET)
        if packets.mode != link.settings.mode:
            raise LabError(
                f"The packets are made for mode {packets.mode}, and the link has mode {link.settings.mode}.",
                "give both the same mode.",
            )
        self.packets = packets
        self.stream = next(_streams) & stamp.MAX_STREAM if stream is None else stream
        self.bucket = bucket
        self._rate = _millis(rate)
        self._limit = 0
        self._sequences = np.zeros(packets.flows, np.int64)
        self._before = self._sequences.copy()

    @property
    def rate(self) -> float | None:
        """Packets a second; None for flat out. It may be set while packets flow."""
        return self._rate / 1000 if self._rate else None

    @rate.setter
    def rate(self, rate: float | None) -> None:
        self._rate = _millis(rate)
        self._run[blocks.RATE] = self._rate

    def start(self, seconds: float = 0.0, count: int = 0) -> Self:
        """Begin to send, and return at once.

        Parameters
        ----------
        seconds : float
            When to stop; 0 for not before `stop`.
        count : int
            Packets after which to stop; 0 for no limit.

        Raises
        ------
        LabError
            It runs already.
        Down, MemifError
            The link is down, or has no such queue.
        """
        within("count", count, 0, 1 << 62)
        self._limit = count
        self._begin(seconds)
        return self

    def stop(self) -> GeneratorReport:
        """Stop sending and return what was sent."""
        self._end()
        return self.report()

    def run(self, seconds: float = 0.0, count: int = 0) -> GeneratorReport:
        """Send for so many seconds, or so many packets, and return what was sent.

        Raises
        ------
        LabError, Down, MemifError
            As for `start`, and where neither is given.
        """
        if not seconds and not count:
            raise LabError(
                "It is not said when to stop.", "give seconds or count, or use start() and stop()."
            )
        self.start(seconds, count)
        self._wait()
        return self.report()

    def report(self) -> GeneratorReport:
        """Return what was sent so far."""
        run = self._run.copy()
        return GeneratorReport(
            packets=int(run[blocks.PACKETS]),
            bytes=int(run[blocks.BYTES]),
            seconds=float(run[blocks.NOW] - run[blocks.BEGAN]) / 1e9,
            rate=self.rate,
            full=int(run[blocks.FULL]),
            missed=int(run[blocks.MISSED]),
            behind=float(run[blocks.BEHIND]) / 1e9,
            per_flow=self._sequences - self._before,
            ended=self.ended,
        )

    def _prepare(self, run: NDArray[np.int64]) -> None:
        run[blocks.RATE], run[blocks.LIMIT], run[blocks.BUCKET] = self._rate, self._limit, self.bucket
        self._before = self._sequences.copy()

    def _work(self, queue: Queue, run: NDArray[np.int64]) -> int:
        with queue.in_use() as block:
            plan = self.packets.plan(self.stream)
            why: int = generate(block, run, plan, self.packets.lengths, self.packets.pattern, self._sequences)
        if why == BAD_INPUT:
            raise MemifError(
                f"Packets of {int(self.packets.lengths.max())} bytes do not fit this ring of "
                f"{queue.ring.size} slots.",
                "use smaller packets, or a larger ring or buffer.",
            )
        return why


def _millis(rate: float | None) -> int:
    """Return a rate as packets in 1000 s, as the kernel takes it; 0 for flat out."""
    if rate is None:
        return 0
    if not isinstance(rate, int | float) or not MIN_RATE <= rate <= MAX_RATE:
        raise LabError(
            f"rate cannot be {rate!r}.", "use 0.001 to 1e9 packets a second, or None for flat out."
        )
    return round(rate * 1000)
