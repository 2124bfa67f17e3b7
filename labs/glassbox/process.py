"""The glass box as a program: ``python -m labs.glassbox.process -c startup.conf``."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from pathlib import Path

from labs.errors import LabError
from labs.glassbox import startup
from labs.glassbox.box import Box
from labs.glassbox.commands import Cli
from labs.glassbox.doors.api_door import ApiDoor
from labs.glassbox.doors.cli_door import CliDoor
from labs.glassbox.doors.stats_door import StatsDoor
from labs.glassbox.handlers import handlers
from labs.glassbox.loop import Loop
from labs.glassbox.workers import Workers, name_thread

BANNER = "glass-box (not VPP)"


def main() -> None:
    """Run one glass box until SIGTERM or SIGINT."""
    if len(sys.argv) != 3 or sys.argv[1] != "-c":  # noqa: PLR2004 - the program, -c and the file
        sys.exit("usage: python -m labs.glassbox.process -c STARTUP.CONF")
    try:
        _serve(startup.read(Path(sys.argv[2]).read_text()))
    except (LabError, OSError) as error:
        sys.exit(f"{BANNER}: {error}")


def _serve(conf: startup.Startup) -> None:
    name_thread("glass_main")
    faulthandler.enable(all_threads=False)  # a crash is told in the log, as VPP tells it
    conf.runtime_dir.mkdir(parents=True, exist_ok=True)
    os.chdir(conf.runtime_dir)
    if conf.main_core is not None:
        os.sched_setaffinity(0, {conf.main_core})
    box = Box(conf.runtime_dir, len(conf.worker_cores))
    box.startup = conf
    box.workers = workers = Workers(box, conf.worker_cores)
    loop = Loop(box, workers, conf.update_interval)
    cli = Cli(box)
    doors = [
        CliDoor(conf.cli_socket, cli.run),
        StatsDoor(conf.stats_socket, box.counters.segment),
        ApiDoor(conf.api_socket, handlers(box, cli)),  # the last: who finds it open finds all of them open
    ]
    for door in doors:
        loop.add(door)
    _end_on_signal(loop)
    print(f"{BANNER}: process {os.getpid()} serves {conf.cli_socket}", file=sys.stderr, flush=True)  # noqa: T201 - its log
    try:
        loop.run()
    finally:
        for door in doors:
            door.close()
        workers.end()
        box.close()


def _end_on_signal(loop: Loop) -> None:
    """Stop the loop at a signal, also while compiled code sleeps."""
    ours, theirs = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(theirs)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: loop.stop())
    loop.watch(ours, lambda: _forget(os.read(ours, 16)))


def _forget(_read: bytes) -> None:
    """Do nothing: what woke us has been read."""


if __name__ == "__main__":
    main()
    os._exit(0)  # all is closed; to take down the compiler would last longer than the rest of the end
