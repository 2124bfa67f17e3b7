"""set interface l2, set interface l3, bridge domains and what they have learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.commands.columns import centred, interface_name, mac_text
from labs.glassbox.commands.command import command
from labs.glassbox.commands.words import interface as interface_of
from labs.glassbox.commands.words import number
from labs.glassbox.vm import BRIDGE, CROSS_CONNECT
from labs.glassbox.vm import MACS as _MOST_LEARNED

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words
    from labs.glassbox.interfaces import Interface

_Cells = tuple[tuple[object, int], ...]

_DOMAIN: _Cells = (
    *(("BD-ID", 8), ("Index", 8), ("BSN", 7), ("Age(min)", 10), ("Learning", 10), ("U-Forwrd", 10)),
    *(("UU-Flood", 11), ("Flooding", 11), ("ARP-Term", 10), ("arp-ufwd", 10), ("Learn-co", 10)),
    *(("Learn-li", 10), ("BVI-Intf", 11)),
)
_PORT: _Cells = (("Interface", 30), ("If-idx", 8), ("ISN", 5), ("SHG", 5), ("BVI", 5), ("TxFlood", 9))
_STATION: _Cells = (
    *(("Mac-Address", 19), ("", 1), ("BD-Idx", 6), ("If-Idx", 7), ("BSN-ISN", 8), ("Age(min)", 9)),
    *(("static", 7), ("filter", 7), ("bvi", 5), ("Interface-Name", 30)),
)
_ALWAYS = ("learn", "forward", "uu-flood", "flood")  # what a bridge of ours does, asked or not
_NEVER = ("arp-term", "arp-ufwd", "mac-age")


@command("set interface l2 xconnect", help="set interface l2 xconnect <interface> <peer interface>")
def set_xconnect(box: Box, words: Words) -> str:
    """Let all that comes in by one interface leave by another."""
    interface = _interface(box, words, "unknown interface")
    peer = _interface(box, words, "unknown peer interface")
    words.end()
    box.bridges.connect(interface, peer)
    return ""


@command("set interface l2 bridge", help="set interface l2 bridge <interface> <bridge-domain-id> [shg 0]")
def set_bridge(box: Box, words: Words) -> str:
    """Make an interface a port of a bridge domain, which is made if need be."""
    interface = _interface(box, words, "unknown interface")
    bridge = words.read(number)
    if bridge is None:
        raise LabError(f"expected bridge domain ID `{words.shown}'")
    group = words.read(number, "shg")
    if words.peek() in ("bvi", "uu-fwd") or group:
        raise LabError(
            "The glass box has no bvi, no uu-fwd and no split-horizon groups.", "every port is a plain one."
        )
    words.end()
    box.bridges.join(interface, bridge)
    return ""


@command("set interface l3", help="set interface l3 <interface>")
def set_l3(box: Box, words: Words) -> str:
    """Let an interface take part in routing again."""
    interface = _interface(box, words, "unknown interface")
    words.end()
    box.bridges.route(interface)
    return ""


@command("show mode", help="show mode [<if-name1> <if-name2> ...]")
def show_mode(box: Box, words: Words) -> str:
    """Print what each interface does with the frames that come in."""
    chosen = []
    while not words.is_over:
        chosen.append(_interface(box, words, "unknown input"))
    return "\n".join(_mode(box, each) for each in chosen or box.interfaces)


@command(
    "create bridge-domain",
    help="create bridge-domain <bridge-domain-id> [learn 1] [forward 1] [flood 1] [del]",
)
def create_bridge(box: Box, words: Words) -> str:
    """Make or delete a bridge domain."""
    if words.is_over:
        return ""
    bridge = words.read(number)
    if bridge is None:
        raise LabError(f"expecting bridge domain ID, got `{words.shown}'")
    if words.take("del"):
        words.end()
        box.bridges.remove(bridge)
        return ""
    while not words.is_over:
        name = words.peek()
        if name not in (*_ALWAYS, *_NEVER):
            raise words.unknown()
        wanted = words.read(number, name)
        if wanted is None:
            raise words.unknown()
        if bool(wanted) != (name in _ALWAYS):
            raise LabError(f"A bridge of the glass box cannot do {name} {wanted}.", "leave it out.")
    box.bridges.add(bridge)
    return f"bridge-domain {bridge}"


@command("show bridge-domain", help="show bridge-domain [bridge-domain-id [detail|int]]")
def show_bridges(box: Box, words: Words) -> str:
    """Print the bridge domains; `detail`: with their ports."""
    only = words.read(number)
    has_ports = words.take("detail") or words.take("int")
    words.end()
    if only is not None and only not in box.bridges.numbers:
        raise LabError(f"No such bridge domain {only}")
    numbers = sorted(box.bridges.numbers) if only is None else [only]
    if not numbers:
        return "no bridge-domains in use"
    lines = [_row(_DOMAIN)]
    for bridge in numbers:
        learned = sum(each.bridge == bridge for each in box.bridges.stations())
        cells = (
            bridge,
            bridge,
            0,
            "off",
            "on",
            "on",
            "flood",
            "on",
            "off",
            "off",
            learned,
            _MOST_LEARNED,
            "N/A",
        )
        lines.append(_row(tuple(zip(cells, (width for _, width in _DOMAIN), strict=True))))
        if has_ports:
            lines += _ports(box, bridge)
    return "\n".join(lines)


@command("show l2fib", help="show l2fib [all] | [bd_id <bd_id>] [verbose]")
def show_l2fib(box: Box, words: Words) -> str:
    """Print the Ethernet addresses that bridges have learned."""
    only: int | None = None
    is_verbose = False
    while not words.is_over:
        bridge = words.read(number, "bd_id")
        if bridge is not None:
            only, is_verbose = bridge, True
        elif words.take("verbose") or words.take("all"):
            is_verbose = True
        else:
            raise words.unknown()
    stations = [each for each in box.bridges.stations() if only in (None, each.bridge)]
    if not stations:
        return "no l2fib entries"
    lines = [_row(_STATION)] if is_verbose else []
    if is_verbose:
        lines += [
            _row(
                (
                    *((f" {mac_text(each.mac)} ", 19), ("", 1), (each.bridge, 6), (each.interface, 7)),
                    *(("0/0", 8), ("-", 9), ("-", 7), ("-", 7), ("-", 5)),
                    (interface_name(box, each.interface), 30),
                )
            )
            for each in sorted(stations, key=lambda station: (station.bridge, station.mac))
        ]
    lines.append(f"L2FIB total/learned entries: {len(stations)}/{len(stations)}")
    return "\n".join(lines)


@command("clear l2fib", help="clear l2fib")
def clear_l2fib(box: Box, words: Words) -> str:
    """Forget whom bridges have seen."""
    words.end()
    box.bridges.forget_all()
    return ""


def _interface(box: Box, words: Words, refusal: str) -> Interface:
    found = words.read(interface_of(box.interfaces))
    if found is None:
        raise LabError(f"{refusal} `{words.shown}'")
    return found


def _mode(box: Box, interface: Interface) -> str:
    if interface.mode == CROSS_CONNECT:
        return f"l2 xconnect {interface.name} {interface_name(box, interface.peer)}"
    if interface.mode == BRIDGE:
        return f"l2 bridge {interface.name} bd_id {interface.peer} shg 0"
    return f"l3 {interface.name}"


def _ports(box: Box, bridge: int) -> list[str]:
    """Return the table of a bridge domain's ports."""
    widths = [width for _, width in _PORT]
    rows = [
        _row(tuple(zip((port.name, port.index, 0, 0, "-", "*"), widths, strict=True)))
        for port in box.bridges.ports(bridge)
    ]
    return ["", _row(_PORT), *rows]


def _row(cells: _Cells) -> str:
    return "".join(centred(*each) for each in cells).rstrip()
