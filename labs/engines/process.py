"""The process engine: one unprivileged ``vpp`` per node, on this machine, as this user."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from labs.engines.base import Availability
from labs.engines.child import ProcessNode, start
from labs.errors import LabError

if TYPE_CHECKING:
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
        vppctl = vpp.with_name("vppctl")
        program = "vppctl" if shutil.which("vppctl") or not vppctl.exists() else str(vppctl)
        return start(spec.name, [str(vpp)], rundir, program)

    @staticmethod
    def _version(vpp: Path) -> str:
        return version_of(vpp, vpp.stat().st_mtime)
