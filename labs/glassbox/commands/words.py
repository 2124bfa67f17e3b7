"""The words of a command line, read from left to right in VPP's manner.

A command reads its arguments as VPP's do: each is a few fixed words and perhaps a value after them, in any
order. What it cannot read, it refuses with `Words.unknown`.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Any, TypeVar

from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.glassbox.interfaces import Interface, Interfaces

T = TypeVar("T")

_BLANK = re.compile(r"\s*")
_WORD = re.compile(r"[^\s{}]+")
_SHOWN = 30  # characters that format_unformat_error (src/vppinfra/unformat.c) shows
_MAC_BYTES = 6


class Words:
    """A line and how far it has been read.

    Parameters
    ----------
    text : str
    cli : Cli, optional
        Whose line it is: ``words.cli.loop`` is the main loop, ``words.cli.run`` gives another line.

    Attributes
    ----------
    at : int
        The column of the next word.
    """

    def __init__(self, text: str, cli: Any = None) -> None:  # noqa: ANN401 - Cli, which imports this module
        self.text = text
        self.cli = cli
        self.at = 0
        self._skip()

    @property
    def rest(self) -> str:
        """What was not read yet."""
        return self.text[self.at :].rstrip()

    @property
    def is_over(self) -> bool:
        """Whether everything was read."""
        return not self.rest

    def peek(self) -> str:
        """Return the next word without reading it; empty at the end."""
        found = _WORD.match(self.text, self.at)
        return found[0] if found else ""

    def word(self) -> str:
        """Read one word, whatever it is; empty at the end."""
        found = self.peek()
        self.move(len(found))
        return found

    def line(self) -> str:
        """Read all that is left."""
        rest = self.rest
        self.at = len(self.text)
        return rest

    def take(self, *names: str) -> bool:
        """Read these words if they come next, in full; else read nothing."""
        start = self.at
        for name in names:
            if self.word() != name:
                self.at = start
                return False
        return True

    def read(self, kind: Callable[[str], T | None], *names: str) -> T | None:
        """Read these words and a value, if they come next; else read nothing and return None.

        Parameters
        ----------
        kind : callable
            `number`, `address`, ... of this module: makes the value of a word, or None if it is none.
        *names : str
            The words before it.
        """
        start = self.at
        if self.take(*names):
            text = self.word()
            value = kind(text) if text else None
            if value is not None:
                return value
        self.at = start
        return None

    def block(self, *names: str) -> str | None:
        """Read these words and ``{ ... }``, braces in it included; return what is inside, or None."""
        start = self.at
        if self.take(*names) and self.text.startswith("{", self.at):
            depth = 0
            for column in range(self.at, len(self.text)):
                depth += {"{": 1, "}": -1}.get(self.text[column], 0)
                if depth == 0:
                    inside = self.text[self.at + 1 : column]
                    self.move(column + 1 - self.at)
                    return inside.strip()
        self.at = start
        return None

    def end(self) -> None:
        """Refuse the line if there is anything left of it."""
        if not self.is_over:
            raise self.unknown()

    def unknown(self) -> LabError:
        """Return VPP's refusal of what comes next, to be raised."""
        return LabError(f"unknown input `{self.shown}'")

    @property
    def shown(self) -> str:
        """What was not read yet, as VPP quotes it: cut where it is long."""
        rest = self.text[self.at :]
        shown = rest.rstrip() if len(rest) <= _SHOWN else rest[:_SHOWN] + "..."
        return shown.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")

    def move(self, columns: int) -> None:
        """Go on by some columns, and past the blanks after them."""
        self.at += columns
        self._skip()

    def _skip(self) -> None:
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at


def word(text: str) -> str | None:
    """Return the word itself."""
    return text


def number(text: str) -> int | None:
    """Return a number that is not negative, decimal or hexadecimal (0x...), of 32 bits at most."""
    if not re.fullmatch(r"[0-9]+|0[xX][0-9a-fA-F]+", text):
        return None
    value = int(text, 16) if text[:2] in ("0x", "0X") else int(text)
    return value if value < 1 << 32 else None


def amount(text: str) -> float | None:
    """Return a number that is not negative, perhaps with a fraction or an exponent."""
    return float(text) if re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text) else None


def address(text: str) -> ipaddress.IPv4Address | None:
    """Return an IPv4 address."""
    try:
        return ipaddress.IPv4Address(text)
    except ValueError:
        return None


def prefix(text: str) -> ipaddress.IPv4Interface | None:
    """Return an IPv4 address with its prefix length, as 10.10.2.1/24; a bare address is none."""
    if not re.fullmatch(r"[0-9.]+/[0-9]+", text):
        return None
    try:
        return ipaddress.IPv4Interface(text)
    except ValueError:
        return None


def mac(text: str) -> bytes | None:
    """Return an Ethernet address: 02:fe:00:00:00:01 or 02fe.0000.0001."""
    pairs = re.fullmatch(r"([0-9a-fA-F]{1,2})((:[0-9a-fA-F]{1,2}){5})", text)
    if pairs:
        return bytes(int(each, 16) for each in text.split(":"))
    quads = re.fullmatch(r"[0-9a-fA-F]{4}(\.[0-9a-fA-F]{4}){2}", text)
    return bytes.fromhex(text.replace(".", "")) if quads else None


def interface(interfaces: Interfaces) -> Callable[[str], Interface | None]:
    """Return a kind for `Words.read`: the interface that is so called."""

    def named(text: str) -> Interface | None:
        return interfaces.named(text) if interfaces.has(text) else None

    return named
