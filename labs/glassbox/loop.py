"""The main loop: the data plane's turns, and between them everything that is Python's.

One thread does it all, as VPP's main thread does: while a command is carried out, no packet moves (but for
workers' packets, and these stand at the barrier).
"""

from __future__ import annotations

import selectors
import time
from typing import TYPE_CHECKING, Protocol

from labs.glassbox import clock
from labs.glassbox.turns import run
from labs.glassbox.vm import ATTENTION, FILES, NEXT_TIMER, TICKS_PER_MS, VECTORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.glassbox.box import Box
    from labs.glassbox.workers import Workers

_DOORS_MS = 100
"""How often doors are given a moment although nobody has knocked."""


class Watched(Protocol):
    """A door, as the loop sees it."""

    def fileno(self) -> int:
        """Return the descriptor that is readable when there is something to do."""

    def ready(self) -> None:
        """Do what there is to do, without waiting."""

    def tick(self) -> None:
        """Do what is due by time."""


class Loop:
    """Turns until it is stopped.

    Parameters
    ----------
    box : Box
    workers : Workers
    update_interval : float
        Seconds between updates of rates and heartbeat.
    """

    def __init__(self, box: Box, workers: Workers, update_interval: float) -> None:
        self._box = box
        self._workers = workers
        self._doors: list[Watched] = []
        self._selector = selectors.EpollSelector()
        self._per_ms = int(box.vm.state[TICKS_PER_MS])
        self._update_every = int(update_interval * 1000 * self._per_ms)
        self._next_update = self._next_doors = clock.now()
        self._is_stopping = False
        self.began = time.monotonic()
        box.vm.state[FILES] = self._selector.fileno()
        self.watch(box.memifs.wake, box.memifs.settle)

    def watch(self, descriptor: int, call: Callable[[], None]) -> None:
        """Call `call` whenever a descriptor is readable."""
        self._selector.register(descriptor, selectors.EVENT_READ, call)

    def add(self, door: Watched) -> None:
        """Serve a door."""
        self._doors.append(door)
        self.watch(door.fileno(), door.ready)

    def stop(self) -> None:
        """End `run` soon."""
        self._is_stopping = True

    def run(self) -> None:
        """Turn until stopped."""
        box = self._box
        state = box.vm.state
        memif_input, pg_input = (box.graph.number(each) for each in ("memif-input", "pg-input"))
        while not self._is_stopping:
            state[ATTENTION] = 0
            state[NEXT_TIMER] = self._next_timer()
            run(box.vm, memif_input, pg_input, box.memifs.last_row, box.streams.rows)
            self._after_turn()
        self._selector.close()

    def _next_timer(self) -> int:
        dues = [ping.due for ping in self._box.pings.values()]
        return min([self._next_update, self._next_doors, *(due for due in dues if due is not None)])

    def _after_turn(self) -> None:
        """Do what is Python's: read the news, serve who knocks, run processes whose time has come."""
        box = self._box
        files = self._selector.select(0)
        now = clock.now()
        pings = list(box.pings.values())
        for ping in pings:
            ping.run(now)
        if files or box.has_news or now >= self._next_doors or any(ping.has_lines for ping in pings):
            with self._workers.barrier():
                box.hear()
                for key, _ in files:
                    key.data()
                if now >= self._next_doors or any(ping.has_lines for ping in pings):
                    box.pool.settle()
                    for door in self._doors:
                        door.tick()
                    is_over = any(ping.due is None for ping in pings)  # doors hear of it when they ask again
                    self._next_doors = now + (0 if is_over else _DOORS_MS) * self._per_ms
        if now >= self._next_update:
            self._next_update = now + self._update_every
            box.counters.update(sum(int(vm.state[VECTORS]) for vm in box.vms))
