"""A node that is a process of this machine: started without privileges, tied to our life, ended for good."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.engines import starter
from labs.engines.reaper import MARK
from labs.kernel import format_cores

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from labs.engines.rundir import RunDir


@dataclass
class ProcessNode:
    """A vpp that we started."""

    name: str
    child: subprocess.Popen[bytes]
    log_file: Path
    shell: str

    @property
    def pid(self) -> int:
        """Its process number."""
        return self.child.pid

    def alive(self) -> bool:
        """Return whether its process runs (or is stopped, but not ended)."""
        return self.child.poll() is None

    def ending(self) -> str:
        """Return how its process ended, in a few words; empty while it is alive."""
        code = self.child.poll()
        if code is None:
            return ""
        if code >= 0:
            return f"it ended with status {code}"
        known = -code in set(signal.Signals)  # the real-time signals have no names
        return f"it was ended by {signal.Signals(-code).name if known else f'signal {-code}'}"

    def log(self) -> str:
        """Return what VPP has written to its log so far."""
        try:
            return self.log_file.read_text(errors="replace")
        except OSError:
            return ""

    def pin(self, cores: Mapping[int, tuple[int, ...]]) -> list[str]:
        """Move threads to cores; see `labs.engines.base.NodeHandle.pin`."""
        for tid, wanted in cores.items():
            os.sched_setaffinity(tid, wanted)
        return [f"taskset -cp {format_cores(wanted)} {tid}" for tid, wanted in cores.items()]

    def kill(self) -> None:
        """End it at once, as a crash would."""
        _end(self.child)

    def stop(self) -> None:
        """End it; safe to call twice."""
        if self.alive():
            self.child.terminate()
            self.child.send_signal(signal.SIGCONT)  # a stopped process would never see the first signal
            try:
                self.child.wait(timeout=1.0)
            except subprocess.TimeoutExpired:
                self.kill()


def start(name: str, program: list[str], rundir: RunDir, vppctl: str) -> ProcessNode:
    """Start a node's program, with its configuration in the run directory.

    Parameters
    ----------
    name : str
        The node's.
    program : list of str
        The program and its arguments; ``-c FILE`` is added.
    rundir : RunDir
    vppctl : str
        What a learner calls to reach the node's CLI.
    """
    log_file = rundir.file(name, "log")
    command = [*unprivileged(), *program, "-c", str(rundir.file(name, "conf"))]
    child = starter.start(lambda: _launch(command, log_file, rundir.token), _end)
    return ProcessNode(name, child, log_file, f"{vppctl} -s {rundir.file(name, 'cli.sock')}")


def unprivileged() -> list[str]:
    """Return the command that ties a program to our life and takes root's privileges from it, if any."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:  # the reaper alone then sees to it that VPP does not outlive us
        return []
    command = [setpriv, "--pdeathsig", "KILL", "--no-new-privs"]
    if os.geteuid() == 0:
        command += ["--bounding-set=-all", "--inh-caps=-all"]
    return [*command, "--"]


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()


def _launch(command: list[str], log_file: Path, token: str) -> subprocess.Popen[bytes]:
    """Start a node in a session of its own: a notebook's interrupt goes to its whole process group."""
    with log_file.open("wb") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, MARK: token},
        )
