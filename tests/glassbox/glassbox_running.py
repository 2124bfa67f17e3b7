"""A glass box whose main loop turns in a thread of its own, as it does in its process."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from pathlib import Path

from glassbox_bench import WAIT, many

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


def sleep(running, *others):
    """Let all queues, or these wires', sleep on their doorbells: the tests' own machine has work to do."""
    for wire in others or running.bench.wires:
        running.do(lambda wire=wire: running.box.memifs.queues.set_mode(wire.memif, "interrupt"))


def held():
    """Count the descriptors that this process has open, and the links' memory that it has mapped."""
    found = 0
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            name = str(each.readlink())
            found += any(kind in name for kind in ("memfd", "eventfd", "eventpoll", "socket:"))
    return found, Path("/proc/self/maps").read_text().count("memfd:memif")


def frames(wire, count, size=18):
    """Return frames from the first neighbour to the second."""
    return many(wire, "10.0.0.2", "10.0.1.2", count, size)


def receive(link, count, timeout=WAIT):
    """Return what comes, once it is so many packets."""
    got, deadline = [], time.monotonic() + timeout
    while len(got) < count and time.monotonic() < deadline:
        got += link.receive(timeout=0.05)
    return got


def carries(running, count=300):
    """See that packets still go from the first wire to the second."""
    one, other = running.bench.wires
    one.link.wait_up()
    other.link.wait_up()
    running.until(lambda: one.memif.connection and other.memif.connection)
    sleep(running, other)
    marked = frames(one, count, size=99)  # others may still be under way
    assert one.link.send(marked) == count
    got, deadline = 0, time.monotonic() + WAIT
    while got < count and time.monotonic() < deadline:
        got += sum(len(each) == len(marked[0]) for each in other.link.receive(timeout=0.05))
    assert got == count
