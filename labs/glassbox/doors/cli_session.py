"""One conversation at the CLI's door, of a program or of a person at a terminal."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.doors.cli_editor import Editor
from labs.glassbox.doors.cli_telnet import GREETING, ServerTelnet
from labs.glassbox.doors.connection import Connection

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from labs.glassbox.doors.running import Running

_PROGRAM = "vppctl"
"""The terminal type for which VPP leaves out banner, prompt and echo, and ends answers with a NUL."""

_LONGEST_LINE = 65536
_PATIENCE = 1.0  # seconds to wait for a terminal type before the client is taken for a person
_PAUSE = 0.2  # seconds after which a program's line counts as complete without an end, as any does for VPP
_QUIT = ("quit", "q", "exit")

_log = logging.getLogger(__name__)


class CliSession(Connection):
    """Lines in, text out.

    Parameters
    ----------
    sock : socket.socket
        The client.
    run : callable
        As for `CliDoor`.
    banner, prompt : str
        As for `CliDoor`.
    """

    def __init__(
        self, sock: socket.socket, run: Callable[[str], str | Running], banner: str, prompt: str
    ) -> None:
        super().__init__(sock)
        self._run = run
        self._banner = banner
        self._prompt = prompt
        self._telnet = ServerTelnet()
        self._heard = time.monotonic()
        self._editor: Editor | None = None
        self._is_open = False
        self._input = bytearray()
        self._running: Running | None = None
        self.send(GREETING)

    @property
    def is_running(self) -> bool:
        """Whether a command goes on."""
        return self._running is not None

    def take(self, data: bytes) -> None:
        """Keep lines; a keypress while a command goes on stops that, and is for nothing else."""
        self._heard = time.monotonic()
        plain = self._telnet.feed(data).replace(b"\0", b"")
        if not self._is_open and (plain or self._telnet.terminal is not None):
            self._open()
        if not plain:
            pass
        elif self._running is not None:
            self._abort()
            self._progress()
        elif self._editor is not None:
            lines, echo = self._editor.feed(plain)
            self._input += lines
            self.send(echo)
        else:
            self._input += plain
        if max(len(self._input) - self._input.rfind(b"\n"), self._telnet.unfinished) > _LONGEST_LINE:
            self.drop()

    def has_work(self) -> bool:
        """Return whether a line waits to be run."""
        return self._running is None and b"\n" in self._input

    def work(self) -> None:
        """Run one line."""
        end = self._input.index(b"\n") + 1
        line = self._input[:end].decode(errors="replace").strip()
        del self._input[:end]
        if line in _QUIT:
            self.end()
            return
        outcome: str | Running = ""
        if line:
            try:
                outcome = self._run(line)
            except LabError as error:
                outcome = f"{error.message}\n{error.hint}"
            except Exception as error:  # noqa: BLE001 - a fault of one command must not stop the data plane
                _log.exception("the command %r failed", line)
                outcome = f"This command has failed inside the glass box: {error!r}"
        if isinstance(outcome, str):
            self._print(outcome)
            self._finish()
        else:
            self._running = outcome

    def tick(self) -> None:
        """Print what a running command has to say, and wait no longer for what does not come."""
        if self._running is not None and not self.is_congested:
            self._progress()
        silence = time.monotonic() - self._heard
        if not self._is_open and silence > _PATIENCE:
            self._open()
        if self._editor is None and self._input and not self.has_work() and silence > _PAUSE:
            self._input += b"\n"

    def gone(self) -> None:
        """Stop a command whose user has left."""
        if self._running is not None:
            self._abort()
            self._running = None

    def _open(self) -> None:
        self._is_open = True
        if self._telnet.terminal != _PROGRAM:
            self._editor = Editor(self._prompt)
            self._print(self._banner)
            self.send(self._editor.prompt)

    def _abort(self) -> None:
        try:
            if self._running is not None:
                self._running.abort()
        except Exception:  # noqa: BLE001 - as in `work`
            _log.exception("a command could not be aborted")
            self._running = None

    def _progress(self) -> None:
        lines: list[str] | None = None
        try:
            if self._running is not None:
                lines = self._running.poll()
        except Exception as error:  # noqa: BLE001 - as in `work`
            _log.exception("a running command failed")
            self._print(f"This command has failed inside the glass box: {error!r}")
        if lines is None:
            self._running = None
            self._finish()
        else:
            self._print("".join(f"{line}\n" for line in lines))

    def _print(self, text: str) -> None:
        """Send text in whole lines, without the NULs that would end an answer."""
        text = text.replace("\0", "")
        if text and not text.endswith("\n"):
            text += "\n"
        self.send(text.encode(errors="replace"))

    def _finish(self) -> None:
        """Say that the answer is complete."""
        self.send(b"\0" if self._editor is None else self._editor.prompt)
