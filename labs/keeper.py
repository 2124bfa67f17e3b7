"""A lab that outlives the command that started it: a process of its own keeps it until ``labs down``.

A lab lives and dies with its owner. For ``labs up`` that owner is this small process, so nothing is
different for engines, reaper and run directory.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import psutil

from labs.engines import reaper, rundir
from labs.engines.rundir import RunDir
from labs.errors import LabError

_PATIENCE = 10.0
_READY = "ready "


def start(name: str, nodes: int, engine: str | None) -> str:
    """Start a lab with a keeper of its own and return what it says.

    Raises
    ------
    LabError
        The lab did not start.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "labs.keeper", name, str(nodes), engine or ""],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as keeper:
        assert keeper.stdout is not None  # noqa: S101 - asked for above
        said = []
        try:
            for line in keeper.stdout:
                if line.startswith(_READY):
                    keeper.returncode = 0  # it stays; we are not to wait for it
                    return line.removeprefix(_READY).strip() + f"\nStop it with: labs down {name}"
                said.append(line.rstrip())
        except KeyboardInterrupt:
            keeper.terminate()
            keeper.wait()
            _sweep_after(keeper.pid, name)
            raise LabError("The start was interrupted.", "nothing was left running.") from None
    message, _, hint = "\n".join(said).partition("\nHint: ")
    raise LabError(message, hint)


def _sweep_after(keeper: int, name: str) -> None:
    """Remove what a keeper left that was ended between two of its steps."""
    lab = RunDir.read(rundir.base() / name)
    if lab is not None and lab.owner.pid == keeper:
        reaper.sweep(lab)


def stop(name: str) -> None:
    """Stop a lab of this user, whoever owns it.

    Raises
    ------
    LabError
        There is no such lab.
    """
    lab = RunDir.read(rundir.base() / name)
    if lab is None:
        there = ", ".join(each.name for each in rundir.every()) or "none"
        raise LabError(f"No lab named {name!r} is running.", f"labs that are: {there}.")
    with contextlib.suppress(psutil.NoSuchProcess):
        owner = psutil.Process(lab.owner.pid)
        if lab.owner.alive() and "labs.keeper" in owner.cmdline():
            owner.terminate()
            deadline = time.monotonic() + _PATIENCE
            while lab.owner.alive() and time.monotonic() < deadline:
                time.sleep(0.05)
            if lab.owner.alive():
                owner.kill()
    reaper.sweep(lab)


def main() -> None:
    """Start the lab named on the command line, and keep it until a signal to end."""
    from labs.stock import chain  # noqa: PLC0415 - `start` and `stop` do without

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    name, nodes, engine = sys.argv[1:4]
    try:
        lab = chain(int(nodes), name, engine=engine or None)
        with contextlib.redirect_stdout(_Ready()):
            lab.start()
    except LabError as error:
        print(error)
        sys.exit(1)
    sys.stdout.flush()
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    while True:
        signal.pause()


class _Ready:
    """Marks the line that a lab prints when it has started."""

    def __init__(self) -> None:
        self._out = sys.stdout

    def write(self, text: str) -> int:
        return self._out.write(_READY + text if text.strip() else text)

    def flush(self) -> None:
        self._out.flush()


if __name__ == "__main__":
    main()
