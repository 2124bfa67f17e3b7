"""What a learner sets on an interface: state, addresses, MTU, hardware address; and loopback interfaces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.commands.command import command
from labs.glassbox.commands.words import interface, mac, number, prefix

if TYPE_CHECKING:
    import ipaddress

    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words
    from labs.glassbox.interfaces import Interface

_LARGEST = 9216
_SMALLEST = 64


@command("set interface state", help="set interface state <interface> [up|down|enable|disable]")
def set_state(box: Box, words: Words) -> str:
    """Set an interface up or down."""
    which = _interface(box, words)
    if words.take("up") or words.take("enable"):
        box.set_up(which, is_up=True)
    elif words.take("down") or words.take("disable"):
        box.set_up(which, is_up=False)
    else:
        raise LabError(f"unknown flags `{words.shown}'")
    return ""


@command(
    "set interface ip address", help="set interface ip address [del] <interface> <ip-addr>/<mask> | [del all]"
)
def set_address(box: Box, words: Words) -> str:
    """Give an interface an address, or take one away."""
    is_delete = words.take("del")
    which = _interface(box, words)
    if is_delete and words.take("all"):
        for each in list(which.addresses):
            box.routes.remove_address(which, each)
        return ""
    address = words.read(prefix)
    if address is None:
        if re.fullmatch(r"[0-9a-fA-F:.]*:[0-9a-fA-F:.]*/[0-9]+", words.peek()):
            raise LabError(
                "The glass box knows IPv4 only.", "engines docker and process bring VPP, which knows IPv6."
            )
        raise LabError(f"expected IP4/IP6 address/length `{words.shown}'")
    if is_delete:
        if address not in which.addresses:
            raise LabError(f"{address} not found for interface {which.name}")
        box.routes.remove_address(which, address)
    else:
        _check_conflict(box, which, address)
        box.routes.add_address(which, address)
    return ""


@command("set interface mtu", help="set interface mtu [packet] <value> <interface>")
def set_mtu(box: Box, words: Words) -> str:
    """Set the longest IPv4 packet that leaves by an interface."""
    for protocol in ("ip4", "ip6", "mpls"):
        if words.take(protocol):
            raise LabError(
                "The glass box has one MTU an interface.", "set interface mtu VALUE INTERFACE sets it."
            )
    words.take("packet")
    start = words.at
    size, which = words.read(number), words.read(interface(box.interfaces))
    if size is None or which is None:
        words.at = start
        raise words.unknown()
    if not _SMALLEST <= size <= _LARGEST:
        raise LabError(f"An MTU cannot be {size} here.", f"use {_SMALLEST} to {_LARGEST} bytes.")
    which.mtu = size
    _changed(box, which)
    return ""


@command("set interface mac address", help="set interface mac address <interface> <mac-address>")
def set_mac(box: Box, words: Words) -> str:
    """Give an interface another Ethernet address."""
    which = _interface(box, words)
    new = words.read(mac)
    if new is None:
        raise LabError(f"expected mac address `{words.shown}'")
    if not which.mac:
        raise LabError(f"{which.name} has no hardware address: its packets have no Ethernet header.")
    which.mac = new
    _changed(box, which)
    return ""


@command(
    "create loopback interface",
    "loopback create-interface",
    help="create loopback interface [mac <mac-addr>] [instance <instance>]",
)
def create_loopback(box: Box, words: Words) -> str:
    """Make an interface that receives what it sends."""
    instance: int | None = None
    own: bytes | None = None
    while not words.is_over:
        if (found := words.read(mac, "mac")) is not None:
            own = found
        elif (wanted := words.read(number, "instance")) is not None:
            instance = wanted
        else:
            raise words.unknown()
    if instance is None:
        instance = next(each for each in range(1 << 16) if not box.interfaces.has(f"loop{each}"))
    name = f"loop{instance}"
    if box.interfaces.has(name):
        raise LabError(f"{name}: interface already exists")
    return box.add_interface(name, "loop", own or b"\xde\xad" + instance.to_bytes(4, "big")).name


@command(
    "delete loopback interface",
    "loopback delete-interface",
    help="delete loopback interface intfc <interface>",
)
def delete_loopback(box: Box, words: Words) -> str:
    """Delete a loopback interface."""
    which = words.read(interface(box.interfaces), "intfc")
    if which is None:
        raise LabError(f"interface not specified: `{words.shown}'")
    words.end()
    if which.kind != "loop":
        raise LabError(f"{which.name} is not a loopback interface")
    box.remove_interface(which)
    return ""


def _interface(box: Box, words: Words) -> Interface:
    """Read an interface's name.

    Raises
    ------
    LabError
        In VPP's words, if there is none of that name.
    """
    found = words.read(interface(box.interfaces))
    if found is None:
        raise LabError(f"unknown interface `{words.shown}'")
    return found


def _changed(box: Box, which: Interface) -> None:
    box.interfaces.write(which)
    box.routes.refresh(which)


def _check_conflict(box: Box, which: Interface, address: ipaddress.IPv4Interface) -> None:
    """Refuse what VPP refuses: the same address twice, or one network on two interfaces."""
    if which.index == 0:
        raise LabError(
            "local0 takes no address.", "make an interface of your own: create loopback interface."
        )
    for other in box.interfaces:
        for there in other.addresses:
            is_taken = there.ip == address.ip if other is which else there.network.overlaps(address.network)
            if is_taken:
                raise LabError(
                    f"failed to add {address} on {which.name} which conflicts with {there} "
                    f"for interface {other.name}"
                )
