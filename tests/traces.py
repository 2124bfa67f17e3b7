"""What a lab leaves in the system while it runs, so that tests can see that nothing is left of it."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import psutil

from labs import engines
from labs.engines import rundir
from labs.engines.docker import _LABEL
from labs.engines.docker_daemon import connect
from labs.engines.reaper import MARK

SHM = Path("/dev/shm")  # noqa: S108 - where VPP puts its files


class Traces:
    """The traces of the labs whose tokens it has noted."""

    def __init__(self):
        self.tokens = set()
        self.has_docker = engines.find("docker").availability().ok

    def note(self):
        """Remember the labs that are there now; return how many are known."""
        self.tokens |= {lab.token for lab in rundir.every()}
        return len(self.tokens)

    def left(self):
        """Return what is there of the labs noted, a line each."""
        return [
            *self._processes(),
            *self._containers(),
            *(str(path) for token in self.tokens for path in SHM.glob(f"*{token}*")),
            *(str(lab.path) for lab in rundir.every() if lab.token in self.tokens),
        ]

    def gone_within(self, seconds):
        """Wait until nothing is left, and return what is left after `seconds` all the same."""
        deadline = time.monotonic() + seconds
        while (left := self.left()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return left

    def _processes(self):
        found = []
        base = f"{rundir.base()}/"
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                line = " ".join(process.cmdline())
                marked = process.environ().get(MARK) in self.tokens
                reaps = "labs.engines.reaper" in line and base in line
                if marked or reaps:
                    found.append(f"process {process.pid} ({process.status()}): {line}")
        return found

    def _containers(self):
        if not self.has_docker:
            return []
        with contextlib.closing(connect()) as client:
            return [
                f"container {each.name}"
                for token in self.tokens
                for each in client.containers.list(
                    all=True, filters={"label": f"{_LABEL}={token}"}, ignore_removed=True
                )
            ]


def own_resources():
    """Return how many file descriptors, threads and children this process has."""
    process = psutil.Process()
    return {
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": process.num_threads(),
        "children": len(process.children()),
    }
