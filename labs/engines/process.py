"""The process engine: one unprivileged ``vpp`` per node, on this machine, as this user."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from labs.engines import starter
from labs.engines.base import Availability
from labs.engines.reaper import MARK
from labs.errors import LabError
from labs.kernel import format_cores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.engines.rundir import RunDir
    from labs.topology import NodeSpec

OLDEST = (24, 6)
"""The first release that hands out its API's definition over the API (VPP commit ac0babd412e)."""

_OPT = Path("/opt/vpp")

_HOW_TO_GET = (
    "install VPP from FD.io's packages as CONTRIBUTING.md shows, or set LABS_VPP to a vpp program you have."
)


def find_vpp() -> Path | None:
    """Return the vpp program: ``$LABS_VPP`` (a file, or its installation), on PATH, or under /opt/vpp."""
    if chosen := os.environ.get("LABS_VPP"):
        candidates = [Path(chosen), Path(chosen) / "bin" / "vpp"]
    else:
        candidates = [Path(found)] if (found := shutil.which("vpp")) else []
        candidates.append(_OPT / "bin" / "vpp")
    return next((path for path in candidates if path.is_file() and os.access(path, os.X_OK)), None)


@cache
def version_of(vpp: Path, _changed: float) -> str:
    """Return the version a vpp program states, as ``26.06``; empty if it does not run."""
    try:
        shown = subprocess.run([vpp, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"\bv?(\d\d\.\d\d)", shown.stdout + shown.stderr)
    return found[1] if found else ""


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


class ProcessEngine:
    """Runs each node as a process of this user."""

    name = "process"

    def availability(self) -> Availability:
        """Say whether a vpp program is here and runs."""
        vpp = find_vpp()
        if vpp is None:
            chosen = os.environ.get("LABS_VPP")
            where = (
                f"LABS_VPP names {chosen}, which is no program"
                if chosen
                else "no vpp on PATH or under /opt/vpp"
            )
            return Availability(ok=False, reason=f"VPP was not found: {where}.", hint=_HOW_TO_GET)
        version = self._version(vpp)
        if not version:
            return Availability(
                ok=False, reason=f"{vpp} does not run on this machine.", hint=f"try it: {vpp} --version"
            )
        if tuple(int(part) for part in re.findall(r"\d\d", version)[:2]) < OLDEST:
            return Availability(
                ok=False, reason=f"{vpp} is VPP {version}, too old for the course.", hint=_HOW_TO_GET
            )
        return Availability(ok=True, reason=f"VPP {version} at {vpp}")

    def inside(self, rundir: str) -> str:
        """Return `rundir` itself: a process sees what we see."""
        return rundir

    def start(self, spec: NodeSpec, rundir: RunDir) -> ProcessNode:
        """Start one vpp; see `labs.engines.base.Engine.start`."""
        vpp = find_vpp()
        if vpp is None:
            raise LabError("VPP was not found.", _HOW_TO_GET)
        log_file = rundir.file(spec.name, "log")
        command = [*_unprivileged(), str(vpp), "-c", str(rundir.file(spec.name, "conf"))]
        child = starter.start(lambda: _launch(command, log_file, rundir.token), _end)
        vppctl = vpp.with_name("vppctl")
        program = "vppctl" if shutil.which("vppctl") or not vppctl.exists() else str(vppctl)
        return ProcessNode(spec.name, child, log_file, f"{program} -s {rundir.file(spec.name, 'cli.sock')}")

    @staticmethod
    def _version(vpp: Path) -> str:
        return version_of(vpp, vpp.stat().st_mtime)


def _unprivileged() -> list[str]:
    """Return the command that ties a program to our life and takes root's privileges from it."""
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
