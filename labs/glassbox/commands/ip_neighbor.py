"""Neighbours: VPP 26.06's src/vnet/ip-neighbor/ip_neighbor.c."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.commands.columns import centred, interface_name, mac_text
from labs.glassbox.commands.command import command
from labs.glassbox.commands.words import address, interface, mac

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words


@command(
    "set ip neighbor",
    help="set ip neighbor [del] <intfc> <ip-address> <mac-address> [static]",
)
def set_neighbor(box: Box, words: Words) -> str:
    """Say what a neighbour's hardware address is, or forget it."""
    shown = words.shown
    kinds: dict[str, Callable[[str], Any]] = {
        "which": interface(box.interfaces),
        "host": address,
        "own": mac,
        **{name: partial(_is, name) for name in ("static", "delete", "del", "no-fib-entry")},
    }
    said: dict[str, Any] = {}
    while not words.is_over:
        name = next(
            (name for name in kinds if name not in said and kinds[name](words.peek()) is not None), ""
        )
        if not name:
            break
        said[name] = kinds[name](words.word())
    which, host, own = said.get("which"), said.get("host"), said.get("own")
    is_delete = "del" in said or "delete" in said
    if which is None or host is None or not (own or is_delete):
        raise LabError(f"specify interface, IP address and MAC: `{shown}'")
    words.end()
    if own and not is_delete:
        box.routes.learn(which.index, host, own, static="static" in said)
    elif (which.index, host) in box.routes.neighbours:
        box.routes.forget(which.index, host)
    return ""


def _is(name: str, text: str) -> str | None:
    return name if text == name else None


@command(
    "show ip neighbors",
    "show ip neighbor",
    "show ip4 neighbors",
    "show ip4 neighbor",
    help="show ip neighbors [interface]",
)
def show_neighbors(box: Box, words: Words) -> str:
    """Print which hardware address belongs to which neighbour, and since how many seconds it is known."""
    only = words.read(interface(box.interfaces))
    words.end()
    rows = [key for key in box.routes.neighbours if only is None or key[0] == only.index]
    if not rows:
        return ""
    names = f"{centred('Age', 12)}{centred('IP', 40)}{centred('Flags', 6)}"
    text = f"{names}{centred('Ethernet', 20)}{centred('Interface', 24)}\n"
    now = time.monotonic()
    for key in sorted(rows, key=lambda each: box.routes.learned_at[each], reverse=True):
        index, host = key
        flags = "S" if key in box.routes.static else "D"
        hardware = centred(mac_text(box.routes.neighbours[key]), 20)
        age = now - box.routes.learned_at[key]
        text += f"{age:>12.4f}{centred(host, 40)}{centred(flags, 6)}{hardware}{interface_name(box, index)}\n"
    return text
