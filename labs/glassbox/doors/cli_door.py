"""The CLI's door: VPP's telnet dialect on a unix socket, as vppctl and the labs speak it."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from labs.glassbox.doors.cli_session import CliSession
from labs.glassbox.doors.door import Door

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from labs.glassbox.doors.running import Running


class CliDoor(Door):
    """Takes command lines and gives their text.

    Parameters
    ----------
    path : str or Path
        The socket.
    run : callable
        Called with each line, stripped of blanks and never empty; returns its text, or a `Running` for
        a command that goes on. It should return within a few milliseconds, and may raise `LabError`.
    banner, prompt : str
        What a person at a terminal sees on coming in, and before each line.

    Raises
    ------
    LabError
        The socket cannot be listened on.
    """

    def __init__(
        self,
        path: str | Path,
        run: Callable[[str], str | Running],
        *,
        banner: str = "",
        prompt: str = "glass-box# ",
    ) -> None:
        super().__init__(path, socket.SOCK_STREAM)
        self._run = run
        self._banner = banner
        self._prompt = prompt

    def admit(self, sock: socket.socket) -> CliSession:
        """Return a session for a client that has come in."""
        return CliSession(sock, self._run, self._banner, self._prompt)

    @property
    def is_busy(self) -> bool:
        """Whether a command goes on: then the loop should tick often."""
        return any(isinstance(each, CliSession) and each.is_running for each in self._connections.values())
