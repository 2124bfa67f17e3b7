"""show hardware-interfaces: the layout of VPP 26.06 (src/vnet/interface_format.c, plugins/memif/device.c)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.glassbox.commands.columns import centred, mac_text, thread_name
from labs.glassbox.commands.command import command
from labs.glassbox.commands.interface_show import by_name
from labs.glassbox.commands.rx_mode import mode_of
from labs.glassbox.commands.words import interface

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words
    from labs.glassbox.interfaces import Interface
    from labs.glassbox.memif_queues import Memif

_HELP = "show hardware-interfaces [brief|verbose|detail] [<interface> [<interface> [..]]]"
_KINDS = {"local": "local", "pg": "PG", "loop": "Loopback"}


@command("show hardware-interfaces", help=_HELP)
def show_hardware(box: Box, words: Words) -> str:
    """Print what lies behind each interface: its link, queues and hardware address."""
    is_brief = False
    chosen: list[Interface] = []
    while not words.is_over:
        if words.take("brief"):
            is_brief = True
        elif words.take("verbose") or words.take("detail"):
            is_brief = False
        elif (found := words.read(interface(box.interfaces))) is not None:
            chosen.append(found)
        else:
            raise words.unknown()
    text = f"{centred('Name', 32)}{centred('Idx', 6)}{centred('Link', 8)}Hardware\n"
    for each in chosen or by_name(box):
        text += _head(box, each)
        if not is_brief:
            text += _details(box, each)
    return text


@command("clear hardware-interfaces", help="clear hardware-interfaces")
def clear_hardware(box: Box, words: Words) -> str:
    """Do nothing: a ring's own counters begin anew with each connection only."""
    del box
    words.end()
    return ""


def _head(box: Box, each: Interface) -> str:
    link = "up" if each.is_linked else "down"
    text = f"{each.name:<32}{centred(each.index, 6)}{centred(link, 8)}{each.name}\n  Link speed: unknown\n"
    memif = box.memifs.by_index.get(each.index)
    if memif and memif.connection:
        text += "  RX Queues:\n" + _columns("queue", "thread", "mode")
        for number, row in enumerate(memif.rows):
            entry = box.vm.rx_queues[row]
            text += _columns(number, _thread(int(entry["thread"])), mode_of(entry))
        text += "  TX Queues:\n    queue shared thread(s)\n"
        for number in range(len(memif.connection.tx)):
            users = [thread for thread in range(len(box.vms)) if thread % len(memif.connection.tx) == number]
            shared = "yes" if len(users) > 1 else "no"
            text += f"    {number:<6}{shared:<7}{' '.join(map(str, users))}".rstrip() + "\n"
    return text


def _details(box: Box, each: Interface) -> str:
    text = f"  Ethernet address {mac_text(each.mac)}\n" if each.mac else ""
    if memif := box.memifs.by_index.get(each.index):
        return text + _memif(memif)
    return text + f"  {_KINDS.get(each.kind, each.kind)}\n"


def _memif(memif: Memif) -> str:
    text = f"  MEMIF interface\n     instance {memif.interface.index}\n"
    if memif.connection is None:
        return text
    out, back = ("slave-to-master", "master-to-slave")[:: 1 if memif.role == "slave" else -1]
    for number, queue in enumerate(memif.connection.tx):
        text += f"       {out} ring {number}\n         packets sent: {queue.counters.packets}\n"
        text += f"         no tx slot: {queue.counters.full}\n"
    for number, queue in enumerate(memif.connection.rx):
        text += f"       {back} ring {number}\n         packets received: {queue.counters.packets}\n"
    return text


def _columns(queue: object, thread: str, mode: str) -> str:
    return f"    {queue:<6}{thread:<15}{mode:<10}\n"


def _thread(number: int) -> str:
    return "main (0)" if number == 0 else f"{thread_name(number)} ({number})"
