"""What a CLI server says and hears in telnet's own language (RFC 854, RFC 1091)."""

from __future__ import annotations

from labs.vpp.telnet import DO, DONT, IAC, SB, SE, TERMINAL_TYPE, WILL, WONT, TelnetFilter

_ECHO, _SUPPRESS_GO_AHEAD, _WINDOW_SIZE, _LINE_MODE = 1, 3, 31, 34
_IS, _SEND = 0, 1

GREETING = bytes(
    [
        *(IAC, WONT, _LINE_MODE, IAC, DONT, _LINE_MODE),
        *(IAC, WILL, _SUPPRESS_GO_AHEAD, IAC, DO, _SUPPRESS_GO_AHEAD),
        *(IAC, WILL, _ECHO, IAC, DONT, _ECHO),
        *(IAC, DO, TERMINAL_TYPE, IAC, SB, TERMINAL_TYPE, _SEND, IAC, SE),
        *(IAC, DO, _WINDOW_SIZE, IAC, SB, _WINDOW_SIZE, _SEND, IAC, SE),
    ]
)
"""What VPP sends first: character at a time, and what terminal are you? vppctl waits for the question."""


class ServerTelnet(TelnetFilter):
    """Takes telnet commands out of what a client sends.

    Attributes
    ----------
    terminal : str or None
        The terminal type that the client has told; None before it has.
    """

    def __init__(self) -> None:
        super().__init__()
        self.terminal: str | None = None

    @property
    def unfinished(self) -> int:
        """How many bytes are kept of a command that has not ended."""
        return len(self._pending)

    def _take(self, command: bytes) -> bytes:
        if command[1] == SB and command[2:4] == bytes([TERMINAL_TYPE, _IS]):
            self.terminal = command[4:-2].decode("ascii", errors="replace")
        return super()._take(command)
