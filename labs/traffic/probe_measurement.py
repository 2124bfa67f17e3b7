"""One run of a probe, in a thread of its own: started, watched, stopped, and made into a result."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from labs.memif.control import BAD_INPUT
from labs.memif.errors import MemifError
from labs.traffic import floor
from labs.traffic import probe_kernels as k
from labs.traffic.probe_pair import prefault
from labs.traffic.probe_plan import LEAD_NS, Plan
from labs.traffic.probe_run import ProbeRun

if TYPE_CHECKING:
    from labs.memif.link import Link
    from labs.memif.queue import Queue
    from labs.traffic.floor import Floor
    from labs.traffic.probe_request import Request

LINK_DOWN = "The link went down during the run"
_FIRST_SECONDS, _FIRST_INTERVAL, _FIRST_PATIENCE = 0.02, 1e-3, 0.2
_PR_SET_TIMERSLACK = 29  # linux/prctl.h


@dataclass(frozen=True)
class Wire:
    """Where a probe's requests go out and its replies come in.

    Parameters
    ----------
    link : Link
        Sends.
    back : Link
        Receives; the same one for a round trip.
    request : Request
    name : str
        What is measured.
    wait : {"poll", "nap", "sleep"}
    core : int or None
        Where the probe's thread runs.
    """

    link: Link
    back: Link
    request: Request
    name: str
    wait: str = "poll"
    core: int | None = None

    @property
    def way(self) -> str:
        """Whether replies come back on the link that the requests took."""
        return "round trip" if self.back is self.link else "one way"

    def queues(self) -> tuple[Queue, Queue]:
        """Return the sending and the receiving queue.

        Raises
        ------
        Down
            A link is down.
        MemifError
            Replies may come on more than one queue.
        """
        if (count := len(self.back.connection.rx)) != 1:
            raise MemifError(
                f"A probe receives on one queue, and this link has {count}.",
                "make the link with one queue in each direction.",
            )
        return self.link.queue("tx"), self.back.queue("rx")


@dataclass
class Measurement:
    """A run under way.

    Parameters
    ----------
    wire : Wire
    plan : Plan
    with_floor : bool
        Measure the probe's own floor first.
    outstanding : int or None
        How many requests may be under way; never more than a ring holds.
    """

    wire: Wire
    plan: Plan
    with_floor: bool = True
    outstanding: int | None = None
    _floor: Floor | None = None
    _error: BaseException | None = None
    _code: int = 0
    _end_ns: int = 0
    _thread: threading.Thread = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._queues = self.wire.queues()
        # were more under way than a ring holds, the node would have to drop replies if we were late
        most = min(queue.ring.size for queue in self._queues)
        self.plan.state[k.LIMIT] = min(self.outstanding or most, most)
        self.wire.back.rx_mode("polling")  # the kernel asks for the doorbell only while it sleeps
        self._thread = threading.Thread(target=self._work, name=f"probe {self.wire.name}", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return not self._thread.is_alive()

    def stop(self) -> None:
        """End the run soon; what was measured so far is kept."""
        self.plan.stop()

    def result(self) -> ProbeRun:
        """Wait until the run is over, and return what it has measured.

        Raises
        ------
        MemifError
            It could not begin.
        """
        self._thread.join()
        if self._error is not None and not self.plan.state[k.NEXT]:
            raise self._error
        return self.so_far()

    def so_far(self) -> ProbeRun:
        """Return what has been measured up to now."""
        plan, state = self.plan, self.plan.state.copy()
        count = self._count()
        kept = min(int(state[k.GAPS]), len(plan.gaps))
        return ProbeRun(
            self.wire.name,
            self.wire.way,
            plan.due[:count].copy(),
            plan.sent[:count].copy(),
            plan.got[:count].copy(),
            plan.interval * 1e6,
            plan.even,
            plan.gaps[:kept].copy(),
            int(state[k.GAPS]),
            int(state[k.GAP_NS]),
            self._floor,
            self.wire.wait,
            ended=self._ended(),
            foreign=int(state[k.FOREIGN]),
            twice=int(state[k.TWICE]),
        )

    def _count(self) -> int:
        """Return how many requests count: all that were due; without those in flight when it was stopped."""
        if self.is_over and self._code == k.DONE:
            return self.plan.due.size
        if not self.is_over or self.plan.state[k.STOP]:
            answered = np.flatnonzero(self.plan.got)
            return int(answered[-1]) + 1 if answered.size else 0
        return max(int(np.searchsorted(self.plan.due, self._end_ns)), int(self.plan.state[k.NEXT]))

    def _ended(self) -> str:
        if not self.is_over or self._code == k.DONE:
            return ""
        if self._error is not None:
            return str(self._error.args[0])
        if self.plan.state[k.STOP]:
            return "The run was stopped before its time."
        return f"{LINK_DOWN}."

    def _work(self) -> None:
        try:
            self._settle()
            floor.warm_up()
            for link in {self.wire.link, self.wire.back}:
                prefault(link.connection.regions)
            if self.with_floor:
                self._floor = floor.measure(self.wire.wait)
            self._probe()
        except Exception as error:  # noqa: BLE001 - `result` raises it, in the caller's thread
            self._error = error
        finally:
            self._end_ns = time.monotonic_ns()

    def _settle(self) -> None:
        """Give this thread its core, and have it woken on time: by default the kernel may be 50 µs late."""
        if self.wire.core is not None:
            os.sched_setaffinity(0, {self.wire.core})
        if self.wire.wait != "poll":
            ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(1), 0, 0, 0)

    def _probe(self) -> None:
        tx, rx = self._queues
        first = Plan.make(self.wire.request, _FIRST_SECONDS, _FIRST_INTERVAL, wait=self.wire.wait)
        first.state[k.PATIENCE] = int(_FIRST_PATIENCE * 1e9)
        with tx.in_use() as sending, rx.in_use() as receiving:
            for plan in (first, self.plan):  # addresses are resolved and caches warm before it counts
                plan.begin(time.monotonic_ns() + LEAD_NS)
                self._code = k.probe(sending, receiving, *plan.arguments)
        if self._code == BAD_INPUT:
            raise MemifError(
                f"A frame of {self.wire.request.size} bytes does not fit one slot of the ring.",
                "choose a smaller size, or make the link with larger buffers.",
            )
        if self._code < 0:
            (rx if self.plan.got.any() else tx).checked(self._code)
        self._note_end()

    def _note_end(self) -> None:
        """Find out why the link went down, if it did; its own thread needs a moment to see."""
        if self._code == k.DONE or self.plan.state[k.STOP]:
            return
        deadline = time.monotonic() + 1.0
        links = (self.wire.link, self.wire.back)
        while all(link.is_up for link in links) and time.monotonic() < deadline:
            time.sleep(0.001)
        why = next((link.last_error for link in links if not link.is_up and link.last_error), None)
        if why:
            self._error = MemifError(f"{LINK_DOWN}: {why.message}", why.hint)
