"""DPDK's testpmd: the same peer at the other end of every kind of link."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from labs.engines import starter
from labs.engines.child import unprivileged
from labs.engines.reaper import MARK
from labs.errors import LabError, NodeDied, NotAvailable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

INSTALL = "install it: apt-get install dpdk; or load a saved run of this experiment."
_PROMPT = "testpmd> "
_STARTS_WITHIN, _ANSWERS_WITHIN, _ENDS_WITHIN, _LATE = 20.0, 10.0, 5.0, 1.0
_MEMORY_MB, _BUFFERS = 512, 8192
_NO_DEVICE = "No probed ethernet devices"
_WHY = re.compile("[Ff]ailed")
_COUNTER = r"{}-packets: (\d+)"


def missing() -> str:
    """Return why testpmd cannot be used here; empty where it can."""
    if shutil.which("dpdk-testpmd") is None:
        return "DPDK's testpmd is not here."
    return ""


@dataclass
class Testpmd:
    """A running testpmd.

    Parameters
    ----------
    place : Path
        A lab's run directory: what it makes is made there.
    token : str
        The lab's, so that the reaper ends it with the lab.
    devices : sequence of str
        See `labs.experiments.testpmd_devices`.
    forward : str
        ``txonly``, ``rxonly``, ``icmpecho``, ``macswap`` or ``io``.
    cores : tuple of int
        The core of its command line, and that of its packets.
    name : str
        Two of one lab need two names.
    ring : int or None
        Descriptors of its own queues; as many as testpmd takes by itself for None.
    options : sequence of str
        More of testpmd's own options.
    eal : sequence of str
        More of DPDK's options.
    within : sequence of str, optional
        The command that starts it: by default one that takes root's privileges from it.

    Raises
    ------
    NotAvailable
        It is not installed.
    LabError
        It does not start; its last line says why.
    """

    __test__ = False

    place: Path
    token: str
    devices: Sequence[str]
    forward: str
    cores: tuple[int, int]
    name: str = "testpmd"
    ring: int | None = 1024
    options: Sequence[str] = ()
    eal: Sequence[str] = ()
    within: Sequence[str] = field(default_factory=unprivileged)
    told: str = field(default="", init=False, repr=False)
    child: subprocess.Popen[bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if why := missing():
            raise NotAvailable(why, INSTALL)
        self.child = starter.start(self._launch, _end)
        try:
            self._must_have_its_devices(self._read_until(_PROMPT, _STARTS_WITHIN))
        except BaseException:
            _end(self.child)
            raise

    def _must_have_its_devices(self, told: str) -> None:
        """Refuse to go on without a device: testpmd starts all the same, with no port.

        Raises
        ------
        LabError
            A device is missing; its words say why.
        """
        lines = [line.strip() for line in told.splitlines()]
        if any(_NO_DEVICE in line for line in lines):
            why = next((line for line in lines if _WHY.search(line)), "see how it was called")
            raise LabError(f"{self.name} has no port: {why}", f"it was called so: {' '.join(self.command)}")

    @property
    def command(self) -> list[str]:
        """The command line, as a learner would type it."""
        return [
            "dpdk-testpmd",
            *("--no-huge", "-m", str(_MEMORY_MB), "--no-pci"),
            f"--file-prefix={self.place.name}-{self.name}",
            *("--lcores", f"0@{self.cores[0]},1@{self.cores[1]}"),
            *self.eal,
            *(f"--vdev={device}" for device in self.devices),
            "--",
            *("--no-mlockall", f"--total-num-mbufs={_BUFFERS}", f"--forward-mode={self.forward}", "-i"),
            *((f"--rxd={self.ring}", f"--txd={self.ring}") if self.ring else ()),
            *self.options,
        ]

    def do(self, line: str, until: str = _PROMPT) -> str:
        """Say a line to it, and return what it answers.

        Raises
        ------
        NodeDied
            It has ended.
        LabError
            It does not answer.
        """
        assert self.child.stdin is not None  # noqa: S101 - it was made with one
        try:
            self.child.stdin.write(f"{line}\n".encode())
        except OSError:
            raise self._obituary() from None
        return self._read_until(until, _ANSWERS_WITHIN)

    def packets(self, direction: str = "RX", port: int = 0) -> int:
        """Return how many packets a port has received (``RX``) or sent (``TX``) so far."""
        counter = _COUNTER.format(direction)
        found = re.search(counter, self.do(f"show port stats {port}"))
        if found is None:  # the prompt may have been that of the line before
            with contextlib.suppress(LabError):
                found = re.search(counter, self._read_until(_PROMPT, _LATE))
        if found is None:
            raise LabError(
                f"{self.name} does not count the packets of port {port}.",
                "see its answer: show port stats all",
            )
        return int(found[1])

    def stop(self) -> None:
        """End it; safe to call twice."""
        if self.child.poll() is None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self.child.communicate(b"stop\nquit\n", timeout=_ENDS_WITHIN)
        _end(self.child)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _launch(self) -> subprocess.Popen[bytes]:
        unbuffered = ["stdbuf", "-o0"] if shutil.which("stdbuf") else []
        return subprocess.Popen(
            [*self.within, *unbuffered, *self.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
            env={**os.environ, MARK: self.token, "XDG_RUNTIME_DIR": str(self.place)},
        )

    def _read_until(self, text: str, timeout: float) -> str:
        """Read what it prints until `text` is there, and return it."""
        assert self.child.stdout is not None  # noqa: S101 - it was made with one
        deadline, begin = time.monotonic() + timeout, len(self.told)
        while text not in self.told[begin:]:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.child.stdout], [], [], left)[0]:
                raise LabError(
                    f"{self.name} did not answer within {timeout:g} s.", f"its last line: {self._last_line()}"
                )
            piece = os.read(self.child.stdout.fileno(), 65536)
            if not piece:
                raise self._obituary()
            self.told += piece.decode(errors="replace")
        return self.told[begin:]

    def _last_line(self) -> str:
        lines = [line for each in self.told.splitlines() if (line := each.removeprefix(_PROMPT).strip())]
        return lines[-1] if lines else "(it printed nothing)"

    def _obituary(self) -> NodeDied:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(timeout=1.0)
        return NodeDied(f"{self.name} has ended.", f"its last line: {self._last_line()}")


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
