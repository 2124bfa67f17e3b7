"""A kernel in a thread of its own: how a generator or a sink is started, watched and stopped."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Self

import numpy as np

from labs.errors import LabError
from labs.memif import MemifError
from labs.traffic import blocks

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray

    from labs.memif.link import Link
    from labs.memif.queue import Queue

_MOMENT = 0.0002  # seconds
_SLICE = 0.1  # seconds that Python waits at a time, so that Stop is heeded
_STOPS_WITHIN = 5.0


class Worker:
    """A thread that works on one queue of a link.

    While it runs the queue is its own: ``link.send`` and ``link.receive`` on it wait until it has stopped.

    Parameters
    ----------
    link : Client or Server
    direction : {"tx", "rx"}
    queue : int
        Which of the link's queues.
    core : int, optional
        The processor to run on; without it the kernel may choose anew all the time.
    """

    def __init__(self, link: Link, direction: str, queue: int, core: int | None) -> None:
        self.link = link
        self.core = core
        self._direction, self._number = direction, queue
        self._thread: threading.Thread | None = None
        self._run = np.zeros(blocks.SIZE, np.int64)
        self._error: BaseException | None = None
        self.ended = ""
        """Why it ended, if it was not told to."""

    @property
    def is_running(self) -> bool:
        """Whether the thread runs."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def live(self) -> NDArray[np.int64]:
        """The block that the kernel counts in, as it stands, to be read only: see `labs.traffic.blocks`."""
        view = self._run.view()
        view.flags.writeable = False
        return view

    def __enter__(self) -> Self:
        self._begin(0.0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _prepare(self, run: NDArray[np.int64]) -> None:
        """Write the orders into a new block."""
        raise NotImplementedError

    def _work(self, queue: Queue, run: NDArray[np.int64]) -> int:
        """Run the kernel until it ends, and return why."""
        raise NotImplementedError

    def _begin(self, seconds: float) -> None:
        """Start the thread; after so many seconds it ends by itself, if they are not 0.

        Raises
        ------
        LabError
            It runs already.
        Down, MemifError
            The link is down, or has no such queue.
        """
        if self.is_running:
            name = type(self).__name__.lower()
            raise LabError(f"This {name} runs already.", "stop() it first.")
        queue = self.link.queue(self._direction, self._number)
        self._error, self.ended = None, ""
        run = np.zeros(blocks.SIZE, np.int64)
        self._prepare(run)
        run[blocks.LASTS] = int(seconds * 1e9)
        self._run = run
        name = f"{type(self).__name__} on {self.link.path}"
        self._thread = threading.Thread(target=self._main, args=(queue, run), name=name, daemon=True)
        self._thread.start()
        while run[blocks.BEGAN] == 0 and self.is_running:  # a kernel may have to be compiled first
            self._join(_MOMENT)
        self._join(0 if self.is_running else None)

    def _end(self) -> None:
        """Stop the thread and wait for it."""
        self._run[blocks.HALT] = 1
        self._join(_STOPS_WITHIN)

    def _wait(self) -> None:
        """Wait for the thread to end by itself; whatever interrupts that ends it."""
        try:
            while self.is_running:
                self._join(_SLICE)
        finally:
            self._end()

    def _join(self, seconds: float | None) -> None:
        if self._thread is not None:
            self._thread.join(seconds)
            if error := self._error:
                self._error = None
                raise error

    def _main(self, queue: Queue, run: NDArray[np.int64]) -> None:
        try:
            if self.core is not None:
                _move_to(self.core)
            if queue.checked(self._work(queue, run)) == blocks.LINK_STOPPED:
                self.ended = self._why_down()
        except MemifError as error:
            self.ended = f"It ended early. {error.message}"
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._error = error
        finally:
            run[blocks.HALT] = 1

    def _why_down(self) -> str:
        """Return why the link went down; its control thread may need a moment to note it."""
        deadline = time.monotonic() + _SLICE
        while self.link.last_error is None and time.monotonic() < deadline:
            time.sleep(_SLICE / 20)
        why = f" {self.link.last_error.message}" if self.link.last_error else ""
        return f"It ended early: the link went down.{why}"


def _move_to(core: int) -> None:
    """Have this thread run on one core only.

    Raises
    ------
    LabError
        It may not.
    """
    try:
        os.sched_setaffinity(0, {core})
    except (OSError, ValueError):
        allowed = ", ".join(map(str, sorted(os.sched_getaffinity(0))))
        raise LabError(
            f"Core {core!r} is outside the cores this session may use ({allowed}).",
            "leave `core` out, or pick one of these.",
        ) from None
