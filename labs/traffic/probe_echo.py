"""A node whose latency is known, to try an instrument on: an echo that can delay, stall and drop."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Self

import numpy as np

from labs.errors import LabError
from labs.traffic import probe_echo_kernels as k

if TYPE_CHECKING:
    from types import TracebackType

    from labs.memif.link import Link
    from labs.memif.queue import Queue


class Echo:
    """Sends back every packet of a link as it came, in a thread of its own.

    Parameters
    ----------
    link : Link or (Queue, Queue)
        The link, or a sending and a receiving queue.
    delay : float
        Seconds that each packet is kept.
    drop : int
        Drop every so manieth packet; 0 for none.
    sleeps : bool
        Sleep on the doorbell while there is nothing to do; not with a delay.
    core : int, optional
        Where to run.

    Notes
    -----
    ``with Echo(link) as echo:`` runs it for a while; `stall` stops it for a while.
    """

    def __init__(
        self,
        link: Link | tuple[Queue, Queue],
        *,
        delay: float = 0.0,
        drop: int = 0,
        sleeps: bool = False,
        core: int | None = None,
    ) -> None:
        if delay < 0 or drop < 0 or (sleeps and delay):
            raise LabError(
                "An echo cannot do that.", "give delay and drop from 0 on, and not both sleeps and delay."
            )
        self._tx, self._rx = link if isinstance(link, tuple) else (link.queue("tx"), link.queue("rx"))
        self._block = np.zeros(k.WORDS, np.int64)
        self._seen = np.zeros(self._rx.ring.size, np.int64)
        self._block[k.DELAY], self._block[k.DROP] = round(delay * 1e9), drop
        self._block[k.TIMED], self._block[k.SLEEPS] = delay > 0, sleeps
        self._core = core
        self._thread = threading.Thread(target=self._run, name="probe echo", daemon=True)

    @property
    def count(self) -> int:
        """Packets seen so far."""
        return int(self._block[k.COUNT])

    def stall(self, seconds: float, after: float = 0.0) -> tuple[int, int]:
        """Do nothing for `seconds`, `after` so many from now; return begin and end, CLOCK_MONOTONIC in ns."""
        begin = time.monotonic_ns() + round(after * 1e9)
        self._block[k.STALL_FROM], self._block[k.STALL_UNTIL] = begin, begin + round(seconds * 1e9)
        self._block[k.TIMED] = 1
        return begin, begin + round(seconds * 1e9)

    def _run(self) -> None:
        if self._core is not None:
            os.sched_setaffinity(0, {self._core})  # of this thread alone
        with self._rx.in_use() as rx, self._tx.in_use() as tx:
            code = k.echo(rx, tx, self._block, self._seen)
        if code < 0:
            self._rx.checked(code)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._block[k.STOP] = 1
        self._thread.join()
