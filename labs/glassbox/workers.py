"""Threads beside the main one, and the barrier at which they stand still while tables change."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import threading
from typing import TYPE_CHECKING

import numpy as np

from labs.errors import LabError
from labs.glassbox.turns import run
from labs.glassbox.vm import ATTENTION, BARRIER, NEXT_TIMER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.glassbox.box import Box
    from labs.glassbox.vm import Vm

_PR_SET_NAME = 15
_NEVER = np.iinfo(np.int64).max


def name_thread(name: str) -> None:
    """Give the calling thread a name that ``ps -L`` and ``/proc`` show."""
    ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


class Worker:
    """One thread that forwards packets and does nothing else.

    Parameters
    ----------
    box : Box
    number : int
        From 0; its view is ``box.vms[number + 1]``.
    core : int
    """

    def __init__(self, box: Box, number: int, core: int) -> None:
        self._box = box
        self._vm: Vm = box.vms[number + 1]
        self._vm.state[NEXT_TIMER] = _NEVER
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        box.memifs.queues.bells(number + 1).register(self._wake, select.EPOLLIN)
        self._parked, self._released = threading.Semaphore(0), threading.Semaphore(0)
        self._is_ending = False
        self.tid = 0
        self._started = threading.Event()
        self._error: OSError | None = None
        self._thread = threading.Thread(
            target=self._run, args=(f"glass_wk_{number}", core), name=f"worker {number}", daemon=True
        )
        self._thread.start()
        self._started.wait()
        if self._error:
            os.close(self._wake)
            raise LabError(
                f"Core {core} is outside the cores that this process may use.", "choose another worker core."
            )

    def park(self) -> None:
        """Ask the thread to stand still; `wait_parked` waits until it does."""
        self._vm.state[BARRIER] = 1
        os.eventfd_write(self._wake, 1)

    def wait_parked(self) -> None:
        """Return when the thread stands still."""
        self._parked.acquire()

    def release(self) -> None:
        """Let the thread go on."""
        self._vm.state[BARRIER] = 0
        self._released.release()

    def end(self) -> None:
        """End the thread; it must stand still."""
        self._is_ending = True
        self.release()
        self._thread.join()
        os.close(self._wake)

    def _run(self, name: str, core: int) -> None:
        name_thread(name)
        self.tid = threading.get_native_id()
        try:
            os.sched_setaffinity(0, {core})
        except OSError as error:
            self._error = error
            return
        finally:
            self._started.set()
        memif_input, pg_input = (self._box.graph.number(each) for each in ("memif-input", "pg-input"))
        while not self._is_ending:
            run(self._vm, memif_input, pg_input, self._box.memifs.last_row, 0)
            if self._vm.state[ATTENTION]:
                self._vm.state[ATTENTION] = 0
                os.eventfd_write(self._box.memifs.wake, 1)  # the main thread has something to hear
            if self._vm.state[BARRIER]:
                with contextlib.suppress(BlockingIOError):
                    os.eventfd_read(self._wake)
                self._parked.release()
                self._released.acquire()


class Workers:
    """All workers of a box.

    Parameters
    ----------
    box : Box
    cores : sequence of int
        A core for each.
    """

    def __init__(self, box: Box, cores: tuple[int, ...]) -> None:
        self._workers = [Worker(box, number, core) for number, core in enumerate(cores)]
        self._depth = 0

    @property
    def tids(self) -> list[int]:
        """The kernel's numbers of the threads."""
        return [each.tid for each in self._workers]

    @contextlib.contextmanager
    def barrier(self) -> Iterator[None]:
        """Let all workers stand still meanwhile."""
        if not self._depth:
            for worker in self._workers:
                worker.park()
            for worker in self._workers:
                worker.wait_parked()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                for worker in self._workers:
                    worker.release()

    def end(self) -> None:
        """End all threads."""
        for worker in self._workers:
            worker.park()
        for worker in self._workers:
            worker.wait_parked()
            worker.end()
        self._workers = []
