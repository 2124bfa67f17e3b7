"""Leave nothing behind: sweep a lab whose owner has ended, however it ended.

Run as ``python -m labs.engines.reaper PATH``, it waits on the kernel for the
owner's process to end, and then sweeps. It has a session of its own, so that
neither an interrupt nor the killing of the owner's process group reaches it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from labs.engines import rundir
from labs.engines.rundir import RunDir

_GRACE = 1.0
"""Seconds that VPP has to end by itself after SIGTERM."""

_LOOK = 1.0
"""Seconds between two looks whether the lab is still there, and on old kernels whether its owner is."""

MARK = "VPP_LABS"
"""The environment variable by which a node's process is known: no recorded process number can go stale."""


def processes_of(lab: RunDir) -> list[psutil.Process]:
    """Return the processes that were started as nodes of this lab."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.uids().real == os.getuid() and process.environ().get(MARK) == lab.token:
                found.append(process)
    return found


def end_processes(processes: list[psutil.Process]) -> None:
    """End processes, politely first."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
            process.resume()  # a stopped process would never see the signal
    _, left = psutil.wait_procs(processes, timeout=_GRACE)
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=_GRACE)


def sweep(lab: RunDir) -> None:
    """Remove all that a lab has left: processes, containers, shared memory, files."""
    end_processes(processes_of(lab))
    if lab.engine == "docker":
        from labs.engines.docker import remove_containers  # noqa: PLC0415 - the SDK takes long to import

        remove_containers(lab.token)
    for file in Path("/dev/shm").glob(f"{lab.shm_prefix}-*"):  # noqa: S108 - where VPP puts them
        file.unlink(missing_ok=True)
    lab.remove()


def gc() -> list[str]:
    """Sweep every lab of this user whose owner has ended.

    Returns
    -------
    list of str
        The names of the labs swept.
    """
    with rundir.locked():
        dead = [lab for lab in rundir.every() if not lab.owner.alive()]
        for lab in dead:
            sweep(lab)
    return [lab.name for lab in dead]


def spawn(lab: RunDir) -> subprocess.Popen[bytes]:
    """Start the reaper of a lab; it is ready when it has written a line."""
    return subprocess.Popen(
        [sys.executable, "-m", "labs.engines.reaper", str(lab.path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def dismiss(watcher: subprocess.Popen[bytes]) -> None:
    """End the reaper of a lab that has been stopped; safe to call twice."""
    watcher.kill()
    watcher.wait()
    if watcher.stdout:
        watcher.stdout.close()


def _wait(lab: RunDir) -> None:
    """Return when the owner has ended, or someone else has swept the lab."""
    ended = []
    with contextlib.suppress(OSError, AttributeError):  # ended already, or a kernel before 5.3
        ended.append(os.pidfd_open(lab.owner.pid))
    while lab.owner.alive() and (now := RunDir.read(lab.path)) and now.token == lab.token:
        select.select(ended, [], [], _LOOK)


def main() -> None:
    """Wait for the owner of the lab named on the command line to end, then sweep the lab."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lab = RunDir.read(Path(sys.argv[1]))
    if lab is None:
        return
    sys.stdout.write("waiting\n")
    sys.stdout.flush()
    _wait(lab)
    sweep(lab)


if __name__ == "__main__":
    main()
