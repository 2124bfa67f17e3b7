"""The packet generator's interfaces, which have no wire."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.commands.command import command
from labs.glassbox.commands.words import interface as interface_of
from labs.glassbox.commands.words import mac
from labs.glassbox.vm import INTERFACES

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words


@command(
    "create packet-generator interface",
    help="create packet-generator interface <interface name> [hw-addr <addr>]",
)
def create_interface(box: Box, words: Words) -> str:
    """Make an interface of the packet generator; one that is there already stays as it is."""
    name, address = "", None
    while not words.is_over:
        if re.fullmatch(r"pg\d+", words.peek()):
            name = words.word()
        elif found := words.read(mac, "hw-addr"):
            address = found
        elif words.peek() in ("gso-enabled", "coalesce-enabled", "csum-offload-enabled", "mode"):
            raise LabError(
                f"The glass box does not know {words.peek()}.", "its pg interfaces carry Ethernet frames."
            )
        else:
            raise words.unknown()
    if not name:
        name = next(f"pg{each}" for each in range(INTERFACES) if not box.interfaces.has(f"pg{each}"))
    if not box.interfaces.has(name):
        box.add_interface(name, "pg", address)
    return ""


@command("delete packet-generator interface", help="delete packet-generator interface <interface name>")
def delete_interface(box: Box, words: Words) -> str:
    """Delete an interface of the packet generator, with its streams."""
    found = words.read(interface_of(box.interfaces))
    if found is None:
        raise words.unknown() if not words.is_over else LabError("Missing <interface>")
    words.end()
    if found.kind != "pg":
        raise LabError("not a pg interface")
    box.remove_interface(found)
    return ""
