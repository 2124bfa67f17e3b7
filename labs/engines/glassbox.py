"""The glass-box engine: one Python process per node, which is a data plane of our own and not VPP."""

from __future__ import annotations

import importlib.util
import platform
import subprocess
import sys
from typing import TYPE_CHECKING

from labs.engines.base import Availability
from labs.engines.child import ProcessNode, start
from labs.errors import LabError

if TYPE_CHECKING:
    from labs.engines.rundir import RunDir
    from labs.topology import NodeSpec

_MACHINES = ("x86_64", "aarch64")


class GlassBoxEngine:
    """Runs each node as a glass box; see `labs.glassbox`."""

    name = "glassbox"

    def availability(self) -> Availability:
        """Say whether it runs here: it needs nothing but what the course itself needs."""
        if importlib.util.find_spec("numba") is None:
            return Availability(
                ok=False, reason="numba is not installed.", hint="install the course again: make lab"
            )
        if sys.platform != "linux" or platform.machine() not in _MACHINES:
            return Availability(
                ok=False,
                reason=f"The glass box does not run on {sys.platform} on {platform.machine()}.",
                hint=f"use Linux on {' or '.join(_MACHINES)}.",
            )
        return Availability(ok=True, reason="the course's own glass box, which is not VPP")

    def inside(self, rundir: str) -> str:
        """Return `rundir` itself: a process sees what we see."""
        return rundir

    def start(self, spec: NodeSpec, rundir: RunDir) -> ProcessNode:
        """Start one glass box; see `labs.engines.base.Engine.start`."""
        _compile_once()
        return start(spec.name, [sys.executable, "-m", "labs.glassbox.process"], rundir, "labs cli")


def _compile_once() -> None:
    """Compile the kernels if that was not done yet: two nodes would else do it at the same time."""
    from labs.glassbox.warm import is_warm  # noqa: PLC0415 - numba takes a moment to load

    if not is_warm():
        print("Compiling the glass box, once; this takes about half a minute.", flush=True)
        compile_it = [sys.executable, "-m", "labs.warming"]
        done = subprocess.run(compile_it, capture_output=True, text=True, check=False)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise LabError(f"The glass box could not be compiled: {last[0]}", "see what it says: make lab")
