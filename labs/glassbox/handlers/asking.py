"""Carrying out an API message by a line of the command line, and VPP's numbers for refusals."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.doors import ApiRefusal

if TYPE_CHECKING:
    from collections.abc import Container

    from labs.glassbox.box import Box
    from labs.glassbox.commands import Cli
    from labs.glassbox.interfaces import Interface

ALL = 0xFFFFFFFF
"""In place of an interface or a number: all, or any."""

# src/vnet/error.h
UNSPECIFIED, INVALID_INTERFACE, NO_SUCH_FIB, NO_SUCH_ENTRY, INVALID_VALUE = -1, -2, -3, -6, -7
UNIMPLEMENTED, ADDRESS_NOT_FOUND, SUBIF_EXISTS, INVALID_ARGUMENT = -9, -60, -68, -73
BAD_FAMILY, ADDRESS_IN_USE, EXISTS, BRIDGE_EXISTS, BRIDGE_IN_USE = -97, -105, -116, -119, -120
BRIDGE_0, BRIDGE_TOO_HIGH, INVALID_QUEUE = -121, -122, -125

# What the command line says, and the number that stands for it; the first that fits counts.
_REFUSALS = (
    (r"IPv4 only", BAD_FAMILY),
    (r"conflicts with|is on \S+ already", ADDRESS_IN_USE),
    (r"not found for interface|does not have the address", ADDRESS_NOT_FOUND),
    (r"Subinterface already exists", SUBIF_EXISTS),
    (r"Entry already exists|interface already exists", EXISTS),
    (r"bridge domain already exists|bd_add_del returned -119", BRIDGE_EXISTS),
    (r"in use - remove members", BRIDGE_IN_USE),
    (r"bridge domain 0", BRIDGE_0),
    (r"exceed 16M", BRIDGE_TOO_HIGH),
    (r"bridge domain ID does not exist|no such bridge", NO_SUCH_ENTRY),
    (r"unknown queue", INVALID_QUEUE),
    (r"Nonexistent table|no FIB table", NO_SUCH_FIB),
    (r"not a memif interface|is not a loopback|unknown interface|unknown peer interface", INVALID_INTERFACE),
    (r"Invalid argument|Invalid socket|does not exist|must be|power of 2|too long", INVALID_ARGUMENT),
    (r"The glass box|A bridge of the glass box|has no hardware address", UNIMPLEMENTED),
)


class Handlers:
    """What all groups of handlers have.

    Parameters
    ----------
    box : Box
    cli : Cli
    """

    def __init__(self, box: Box, cli: Cli) -> None:
        self._box = box
        self._cli = cli

    def _do(self, line: str) -> str:
        """Carry out a line and return what it prints.

        Raises
        ------
        ApiRefusal
            It was refused.
        """
        outcome, is_done = self._cli.attempt(line)
        if not isinstance(outcome, str):
            outcome.abort()
            raise ApiRefusal(UNSPECIFIED, f"{line} goes on, and the API does not wait.")
        if not is_done:
            raise ApiRefusal(_number(outcome), outcome.strip())
        return outcome.strip()

    def _named(self, index: int) -> str:
        """Return the name of an interface."""
        return self._interface(index).name

    def _interface(self, index: int) -> Interface:
        """Return an interface.

        Raises
        ------
        ApiRefusal
            There is none of that index.
        """
        try:
            return self._box.interfaces[index]
        except LabError as error:
            raise ApiRefusal(INVALID_INTERFACE, error.message) from None

    def _chosen(self, index: int) -> list[Interface]:
        """Return the interface of that index; all for `ALL`; none if there is none."""
        return [each for each in self._box.interfaces if index in (ALL, each.index)]


def mac_or_nothing(address: Any, word: str) -> str:  # noqa: ANN401 - papi's own type
    """Return an Ethernet address with the word for it, as a command takes it; nothing if it is zero."""
    return "" if str(address) == "00:00:00:00:00:00" else f" {word} {address}"


def free_number(asked: int, taken: Container[int]) -> int:
    """Return the number asked for; for `ALL` the lowest from 1 on that is not taken."""
    return next(each for each in count(1) if each not in taken) if asked == ALL else asked


def _number(text: str) -> int:
    return next((number for pattern, number in _REFUSALS if re.search(pattern, text)), UNSPECIFIED)
