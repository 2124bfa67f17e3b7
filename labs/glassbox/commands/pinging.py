"""ping: VPP 26.06's src/plugins/ping/ping.c."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.commands.command import command
from labs.glassbox.commands.words import address, amount, interface, number
from labs.glassbox.pinging import MOST_DATA

if TYPE_CHECKING:
    import ipaddress
    from collections.abc import Callable

    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words
    from labs.glassbox.doors.running import Running

_HELP = (
    "ping {<ip-addr> | ipv4 <ip4-addr>} [source <interface>] [size <pktsize:60>] [interval <sec:1>] "
    "[repeat <cnt:5>] [table-id <id:0>] [burst <count:1>] [verbose]"
)
_USAGE = "Usage: ping <addr> [source <intf>] [size <datasz>] [repeat <count>] [verbose]"
_MOST_IN_BURST = 2560
_VALUES: dict[str, tuple[Callable[[str], Any], str]] = {
    "size": (number, "expecting size but got"),
    "interval": (amount, "expecting interval (floating point number) got"),
    "repeat": (number, "expecting repeat count but got"),
    "burst": (number, "expecting burst count but got"),
    "table-id": (number, "expecting table-id but got"),
}


@command("ping", help=_HELP)
def ping(box: Box, words: Words) -> Running:
    """Ask an address for echoes, and print those that come back."""
    target = _target(words)
    knobs: dict[str, Any] = {}
    while not words.is_over:
        name = words.peek()
        if name in _VALUES:
            words.word()
            kind, complaint = _VALUES[name]
            value = words.read(kind)
            if value is None:
                raise LabError(f"{complaint} `{words.shown}'")
            knobs[name] = value
        elif words.take("source"):
            knobs["source"] = words.read(interface(box.interfaces))
            if knobs["source"] is None:
                raise LabError(f"unknown interface `{words.shown}'")
        elif words.take("verbose"):
            knobs["is_verbose"] = True
        else:
            raise words.unknown()
    if (size := knobs.get("size", 0)) > MOST_DATA:
        raise LabError(f"{size} is bigger than maximum allowed payload size {MOST_DATA}")
    if not 1 <= knobs.get("burst", 1) <= _MOST_IN_BURST:
        raise LabError(f"burst size must be between 1 and {_MOST_IN_BURST}")
    return box.ping(target, has_table=knobs.pop("table-id", 0) == 0, **knobs)


def _target(words: Words) -> ipaddress.IPv4Address:
    """Read whom to ask."""
    if words.take("ipv4"):
        found = words.read(address)
        if found is None:
            raise LabError(f"expecting IPv4 address but got `{words.shown}'")
        return found
    found = words.read(address)
    if found is None:
        if words.peek() == "ipv6" or ":" in words.peek():
            raise LabError("The glass box knows IPv4 only.")
        raise LabError(f"expecting IP4/IP6 address `{words.shown}'. {_USAGE}")
    return found
