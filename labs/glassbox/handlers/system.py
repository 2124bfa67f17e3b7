"""Messages about the program itself."""

from __future__ import annotations

import os
import time
from typing import Any

from labs.glassbox.commands.columns import thread_name
from labs.glassbox.commands.system import own_version
from labs.glassbox.doors import ApiRefusal
from labs.glassbox.handlers.asking import UNSPECIFIED, Handlers
from labs.glassbox.loading import Loading


class SystemHandlers(Handlers):
    """Version, clock, threads, and the command line."""

    def show_version(self) -> dict[str, Any]:
        """Say what this is."""
        return {"program": "glass-box", "version": f"glass-box (not VPP) {own_version()}"}

    def show_vpe_system_time(self) -> dict[str, Any]:
        """Tell the time."""
        return {"vpe_system_time": time.time()}

    def show_threads(self) -> dict[str, Any]:
        """List the threads, with the cores that the startup file gave them."""
        startup, workers = self._box.startup, self._box.workers
        numbers = [os.getpid(), *(workers.tids if workers else ())]
        cores = [startup.main_core if startup else None, *(startup.worker_cores if startup else ())]
        cores += [None] * (len(numbers) - len(cores))
        return {
            "thread_data": [
                {
                    "id": thread,
                    "name": thread_name(thread),
                    "type": "workers" if thread else "",
                    "pid": number,
                    "cpu_id": core or 0,
                    "core": core or 0,
                }
                for thread, (number, core) in enumerate(zip(numbers, cores, strict=False))
            ]
        }

    def cli_inband(self, cmd: str) -> dict[str, Any]:
        """Run a command line; one that goes on, as a ping does, is refused."""
        outcome, is_done = self._cli.attempt(cmd)
        if isinstance(outcome, Loading):
            outcome.wait()
            lines = outcome.poll() or []
            if outcome.error:
                raise ApiRefusal(UNSPECIFIED, outcome.error.message)
            return {"reply": "\n".join(lines)}
        if not isinstance(outcome, str):
            outcome.abort()
            raise ApiRefusal(UNSPECIFIED, f"{cmd} goes on, and the API does not wait: use the CLI's socket.")
        if not is_done:
            raise ApiRefusal(UNSPECIFIED, outcome.strip())
        return {"reply": outcome}
