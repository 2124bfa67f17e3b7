"""show interface, show interface address, clear interfaces (VPP 26.06: src/vnet/interface_cli.c)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.commands.columns import centred, interface_name
from labs.glassbox.commands.command import command
from labs.glassbox.commands.words import interface, number
from labs.glassbox.vm import BRIDGE, CROSS_CONNECT

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words
    from labs.glassbox.interfaces import Interface

_COUNTERS = (
    *("rx packets", "rx bytes", "tx packets", "tx bytes"),
    *("drops", "punt", "rx-no-buf", "rx-miss", "rx-error", "tx-error"),
)
_BEFORE_COUNTERS = 68
_NAMES = "[<interface> [<interface> [..]]]"


@command("show interface", help=f"show interface [address|addr] {_NAMES}")
def show_interface(box: Box, words: Words) -> str:
    """Print each interface's state, MTU and the counters that are not 0."""
    wants_addresses = False
    chosen: list[Interface] = []
    while not words.is_over:
        if words.take("address") or words.take("addr"):
            wants_addresses = True
        elif not words.take("verbose"):
            chosen.append(_one(box, words))
    if wants_addresses:
        return "".join(_addresses(box, each) for each in chosen or by_name(box))
    head = f"{centred('Name', 32)}{centred('Idx', 5)}{centred('State', 10)}{'MTU (L3/IP4/IP6/MPLS)'}"
    head += f"{centred('Counter', 16)}{centred('Count', 16)}\n"
    return head + "".join(_row(box, each) for each in chosen or by_name(box))


@command("clear interfaces", help="clear interfaces")
def clear_interfaces(box: Box, words: Words) -> str:
    """Set the counters of all interfaces to 0."""
    words.end()
    box.counters.clear_interfaces()
    return ""


def by_name(box: Box) -> list[Interface]:
    """Return all interfaces in the order in which VPP lists them."""
    return sorted(box.interfaces, key=lambda each: each.name)


def mtu_of(each: Interface) -> int:
    """Return an interface's MTU as VPP shows it: 0 where packets have no Ethernet header."""
    return each.mtu if each.mac else 0


def _one(box: Box, words: Words) -> Interface:
    """Read an interface's name or its number."""
    if (found := words.read(interface(box.interfaces))) is not None:
        return found
    if (index := words.read(number)) is not None:
        for each in box.interfaces:
            if each.index == index:
                return each
        raise LabError(f"unknown interface index `{index}'")
    raise words.unknown()


def _row(box: Box, each: Interface) -> str:
    state = "up" if each.is_up else "down"
    row = f"{each.name:<32}{centred(each.index, 5)}{centred(state, 10)}{centred(f'{mtu_of(each)}/0/0/0', 21)}"
    counts = box.counters.of_interface(each.index)
    lines = [f"{name:<16}{counts[name]:>16}" for name in _COUNTERS if counts.get(name)]
    return row + f"\n{' ' * _BEFORE_COUNTERS}".join(lines) + "\n"


def _addresses(box: Box, each: Interface) -> str:
    text = f"{each.name} ({'up' if each.is_up else 'dn'}):\n"
    if each.mode == BRIDGE:
        text += f"  L2 bridge bd-id {each.peer} shg 0\n"
    elif each.mode == CROSS_CONNECT:
        text += f"  L2 xconnect {interface_name(box, each.peer)}\n"
    return text + "".join(f"  L3 {address}\n" for address in each.addresses)
