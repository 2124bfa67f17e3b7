"""Two glass boxes in this process that share a run directory, each with its command line."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from pathlib import Path

from labs.glassbox import clock
from labs.glassbox.box import Box
from labs.glassbox.commands import Cli
from labs.glassbox.turns import run
from labs.glassbox.vm import ATTENTION, NEXT_TIMER, QUEUES
from labs.vpp.cli_failures import classify

WAIT = 20.0  # seconds that a handshake may take on a busy machine
ENDS = {"a": ("master", "10.10.2.1/24"), "b": ("slave", "10.10.2.2/24")}


class Pair:
    """Boxes a and b, by name."""

    def __init__(self, folder, names="ab", workers=0):
        self.folder = folder
        self.boxes = {name: Box(folder, workers) for name in names}
        self.clis = {name: Cli(box) for name, box in self.boxes.items()}
        self.turn()  # what has to be compiled is compiled here, where nothing waits for it

    def close(self):
        for box in self.boxes.values():
            box.close()

    def turn(self):
        """Let each box take one turn, as its main loop would."""
        for box in self.boxes.values():
            box.memifs.settle()
            box.vm.state[NEXT_TIMER], box.vm.state[ATTENTION] = clock.now(), 0
            numbers = (box.graph.number(name) for name in ("memif-input", "pg-input"))
            run(box.vm, *numbers, QUEUES, box.streams.rows)
            box.hear()
            for ping in list(box.pings.values()):
                ping.run(clock.now())

    def until(self, is_so):
        """Turn until something is so."""
        end = time.monotonic() + WAIT
        while not is_so():
            assert time.monotonic() < end, "it did not come about"
            self.turn()

    def ask(self, name, line):
        """Give one line, and return all that it prints, in the end."""
        outcome = self.clis[name].run(line)
        if isinstance(outcome, str):
            return outcome
        lines = []
        while (more := outcome.poll()) is not None:
            lines += more
            self.turn()
        return "".join(f"{line}\n" for line in lines)

    def do(self, name, *lines):
        """Give lines that must be taken, and return the last one's answer."""
        text = ""
        for line in lines:
            text = self.ask(name, line)
            assert classify(line, text) is None, f"{line}: {text}"
        return text

    def refusal(self, name, line):
        """Give a line that must be refused, and return how."""
        text = self.ask(name, line)
        failure = classify(line, text)
        assert failure is not None, f"{line} was taken: {text}"
        return failure.text

    def link(self, options=""):
        """Make the link of the course between a and b, and wait until packets can flow."""
        for name, (role, address) in ENDS.items():
            self.do(
                name,
                f"create interface memif id 0 {role}{options if role == 'slave' else ''}",
                "set interface state memif0/0 up",
                f"set interface ip address memif0/0 {address}",
            )
        self.until(self.is_linked)

    def is_linked(self):
        return all(
            any(memif.connection for memif in box.memifs.by_index.values()) for box in self.boxes.values()
        )


@contextlib.contextmanager
def pair_of(names="ab", workers=0):
    """Make boxes in a directory with a short name, and leave nothing of them."""
    folder = Path(tempfile.mkdtemp(prefix="lg", dir="/tmp"))
    pair = Pair(folder, names, workers)
    try:
        yield pair
    finally:
        pair.close()
        shutil.rmtree(folder, ignore_errors=True)
