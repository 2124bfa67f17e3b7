"""The little of the telnet protocol that VPP's CLI socket speaks (RFC 854, RFC 1091)."""

from __future__ import annotations

IAC, DONT, DO, WONT, WILL, SB, SE = 255, 254, 253, 252, 251, 250, 240
TERMINAL_TYPE = 24
_IS, _SEND = 0, 1

NON_INTERACTIVE = bytes([IAC, SB, TERMINAL_TYPE, _IS]) + b"vppctl" + bytes([IAC, SE])
"""Our answer to the terminal-type question. For this name VPP leaves out banner, prompt, pager and
echo, and ends each answer with a NUL (vlib/unix/cli.c, unix_cli_terminal_type_noninteractive)."""


class TelnetFilter:
    """Takes telnet commands out of a byte stream that arrives in arbitrary pieces.

    Attributes
    ----------
    asked_terminal_type : bool
        Whether the peer has asked for the terminal type.
    """

    def __init__(self) -> None:
        self.asked_terminal_type = False
        self._pending = b""

    def feed(self, piece: bytes) -> bytes:
        """Return the plain bytes of `piece`; an unfinished command is kept for the next call."""
        data = self._pending + piece
        plain = bytearray()
        at = 0
        while at < len(data):
            start = data.find(IAC, at)
            if start < 0:
                plain += data[at:]
                at = len(data)
                break
            plain += data[at:start]
            end = self._command_end(data, start)
            if end < 0:
                at = start
                break
            plain += self._take(data[start:end])
            at = end
        self._pending = data[at:]
        return bytes(plain)

    @staticmethod
    def _command_end(data: bytes, start: int) -> int:
        """Return the index after the command at `start`, or -1 if it is not complete."""
        if start + 1 >= len(data):
            return -1
        if data[start + 1] == SB:
            end = data.find(bytes([IAC, SE]), start + 2)
            return end + 2 if end >= 0 else -1
        length = 3 if WILL <= data[start + 1] <= DONT else 2
        return start + length if start + length <= len(data) else -1

    def _take(self, command: bytes) -> bytes:
        """Act on one complete command; return the plain bytes it stands for."""
        if command[1] == SB:
            if command[2:4] == bytes([TERMINAL_TYPE, _SEND]):
                self.asked_terminal_type = True
            return b""
        if command[1] == IAC:
            return b"\xff"
        return command if command[1] < SE else b""
