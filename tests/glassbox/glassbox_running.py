"""A glass box whose main loop turns in a thread of its own, as it does in its process."""

from __future__ import annotations

import os
import queue
import threading
import time

from glassbox_bench import WAIT

from labs.glassbox.loop import Loop
from labs.glassbox.workers import Workers


class Running:
    """A box that runs.

    Parameters
    ----------
    box : Box
    cores : tuple of int
        A core for each of its workers.
    """

    def __init__(self, box, cores=()):
        self.box = box
        box.workers = self.workers = Workers(box, cores)
        self.loop = Loop(box, self.workers, 0.5)
        self._bell = os.eventfd(0, os.EFD_NONBLOCK)
        self._calls, self._results = queue.Queue(), queue.Queue()
        self.loop.watch(self._bell, self._serve)
        self.error = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def do(self, call):
        """Carry something out between two turns, as a command is, and return its result."""
        self._calls.put(call)
        os.eventfd_write(self._bell, 1)
        deadline = time.monotonic() + WAIT
        while True:
            try:
                result = self._results.get(timeout=0.05)
            except queue.Empty:
                assert self._thread.is_alive(), self.error
                assert time.monotonic() < deadline, "the main loop does not answer"
                continue
            if isinstance(result, Exception):
                raise result
            return result

    def until(self, condition):
        """Wait until something is so, as the main loop sees it."""
        deadline = time.monotonic() + WAIT
        while not self.do(condition):
            assert time.monotonic() < deadline, "it did not come about"
            time.sleep(0.002)

    def close(self):
        if self._thread.is_alive():
            self.do(self.loop.stop)
            self._thread.join(WAIT)
        assert not self._thread.is_alive(), "the main loop does not end"
        self.workers.end()
        os.close(self._bell)
        assert self.error is None

    def _run(self):
        try:
            self.loop.run()
        except Exception as error:  # noqa: BLE001 - it is told to who waits
            self.error = error

    def _serve(self):
        os.eventfd_read(self._bell)
        while not self._calls.empty():
            try:
                self._results.put(self._calls.get()())
            except Exception as error:  # noqa: BLE001 - it is raised where it was called
                self._results.put(error)
