"""Start a lab of two VPPs and time the way to the first echo reply; run as a program, it prints JSON.

Two instruments: our own clock around it, and the kernel's record of when the first VPP was born. The second
start in the same Python finds all modules loaded: what a learner sees who runs the cell again.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labs import Lab


def main(engine: str) -> None:
    began = time.perf_counter()
    from labs import two_vpps  # noqa: PLC0415 - the import is part of what is timed

    lab = two_vpps(f"bench-{os.getpid()}", engine=engine)
    figures = {"import_s": time.perf_counter() - began, **first_echo(lab)}
    figures["warm_first_echo_s"] = first_echo(lab)["first_echo_s"]
    sys.stdout.write(json.dumps(figures) + "\n")


def first_echo(lab: Lab) -> dict[str, float]:
    """Start the lab, wait for one echo reply, stop it, and return the times in seconds."""
    from labs.engines import rundir  # noqa: PLC0415 - see above
    from labs.vpp.cli import Cli  # noqa: PLC0415
    from labs.vpp.parse import parse_ping_line  # noqa: PLC0415

    began = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        lab.start()
    ready = time.perf_counter()
    door = rundir.base() / lab.name / "vpp1.cli.sock"
    lines = Cli(door).stream("ping 10.10.2.2 repeat 50 interval 0.01")
    next(line for line in lines if parse_ping_line(line))
    echoed, now = time.perf_counter(), time.clock_gettime(time.CLOCK_BOOTTIME)
    lines.close()
    born = min(_birth(lab[name].handle.pid) for name in lab)
    lab.stop()
    return {"start_s": ready - began, "first_echo_s": echoed - began, "birth_to_echo_s": now - born}


def _birth(pid: int) -> float:
    """Return when a process began, in seconds since the machine started, to 10 ms."""
    ticks = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(sys.argv[1])
