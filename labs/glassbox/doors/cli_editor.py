"""The least a person at a terminal needs to type a line: echo, corrections, and the lines before."""

from __future__ import annotations

import re

_BACKSPACE, _LINE_KILL, _INTERRUPT, _END = (8, 127), 21, 3, 4
_ESCAPE = re.compile(rb"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])")
_UP, _DOWN = (b"\x1b[A", b"\x1bOA"), (b"\x1b[B", b"\x1bOB")
_FIRST_PRINTABLE = 32
_KEPT = 50


class Editor:
    """Turns keys into lines.

    Parameters
    ----------
    prompt : str
        What stands before a line.
    """

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt.encode()
        self._line = bytearray()
        self._before: list[bytes] = []
        self._at = 0
        self._last = 0

    def feed(self, keys: bytes) -> tuple[bytes, bytes]:
        """Take keys.

        Returns
        -------
        (bytes, bytes)
            The lines that were completed, each with its end; and what to show.
        """
        lines, echo = bytearray(), bytearray()
        while keys:
            escape = _ESCAPE.match(keys)
            if escape:
                echo += self._recall(escape.group())
                keys = keys[escape.end() :]
                continue
            key, keys = keys[0], keys[1:]
            if key == ord("\n") and self._last == ord("\r"):
                pass  # the second half of one Enter
            elif key in b"\r\n":
                echo += b"\r\n"
                lines += self._enter()
            elif key == _END and not self._line:
                lines += b"quit\n"
            else:
                echo += self._edit(key)
            self._last = key
        return bytes(lines), bytes(echo)

    def _edit(self, key: int) -> bytes:
        if key in _BACKSPACE:
            if not self._line:
                return b""
            while self._line and self._line.pop() & 0xC0 == 0x80:  # noqa: PLR2004 - the rest of a UTF-8 character
                pass
            return b"\b \b"
        if key in (_LINE_KILL, _INTERRUPT):
            return self._show(b"")
        if key < _FIRST_PRINTABLE:
            return b""
        self._line.append(key)
        return bytes([key])

    def _enter(self) -> bytes:
        line = bytes(self._line)
        if line.strip():
            self._before = [*self._before, line][-_KEPT:]
        self._at = len(self._before)
        self._line.clear()
        return line + b"\n"

    def _recall(self, key: bytes) -> bytes:
        step = -1 if key in _UP else 1 if key in _DOWN else 0
        at = self._at + step
        if not step or not 0 <= at <= len(self._before):
            return b""
        self._at = at
        return self._show(self._before[at] if at < len(self._before) else b"")

    def _show(self, line: bytes) -> bytes:
        """Put `line` in place of what was typed."""
        wipe = b"\b \b" * len(self._line.decode(errors="replace"))
        self._line = bytearray(line)
        return wipe + line
