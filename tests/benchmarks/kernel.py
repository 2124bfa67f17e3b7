"""A Jupyter kernel of its own, in which a benchmark runs code as a notebook would."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import psutil
from jupyter_client.manager import start_new_kernel

_PATIENCE = 120


class Kernel:
    """Runs code in a kernel, and tells what the kernel used.

    Parameters
    ----------
    engine : str
        The engine of the labs in it.
    """

    def __init__(self, engine):
        env = {**os.environ, "LABS_ENGINE": engine}
        self._manager, self._client = start_new_kernel(kernel_name="python3", env=env)
        self.process = psutil.Process(self._manager.provisioner.pid)

    def run(self, code):
        """Run code, and return what it printed."""
        told = []

        def hear(message):
            if message["msg_type"] == "stream":
                told.append(message["content"]["text"])
            elif message["msg_type"] == "error":
                raise AssertionError("\n".join(message["content"]["traceback"]))

        self._client.execute_interactive(code, timeout=_PATIENCE, output_hook=hear)
        return "".join(told)

    def value(self, code):
        """Run an expression, and return its value, which is to be a literal."""
        return ast.literal_eval(self.run(f"print(repr({code}))"))

    def cpu(self):
        """Return the seconds of processor time that the kernel has used."""
        times = self.process.cpu_times()
        return times.user + times.system

    def memory_mb(self):
        """Return the memory that is the kernel's own, in MB.

        What is mapped of a node's shared memory is not its own, though psutil counts it as such while the
        node has not mapped it too.
        """
        rollup = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text(encoding="ascii")
        return int(re.search(r"^Anonymous:\s+(\d+) kB", rollup, re.MULTILINE)[1]) / 1000

    def close(self):
        """End it."""
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=False)
