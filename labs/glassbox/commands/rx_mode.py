"""How receive queues wait for packets, and which thread looks into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.commands.columns import thread_name
from labs.glassbox.commands.command import command
from labs.glassbox.commands.words import interface, number
from labs.glassbox.memif_queues import MODES

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words
    from labs.glassbox.interfaces import Interface


@command(
    "set interface rx-mode",
    help="set interface rx-mode <interface> [queue <n>] [polling | interrupt | adaptive]",
)
def set_rx_mode(box: Box, words: Words) -> str:
    """Let queues be polled, or sleep on their doorbells.

    As in VPP a memif that is not connected has no queue: without a number nothing is done, and nothing said.
    """
    which: Interface | None = None
    queue: int | None = None
    mode = ""
    while not words.is_over:
        if (wanted := words.read(number, "queue")) is not None:
            queue = wanted
        elif words.peek() in MODES:
            mode = words.word()
        elif (found := words.read(interface(box.interfaces))) is not None:
            which = found
        else:
            raise LabError(f"parse error: '{words.shown}'")
    if which is None:
        raise LabError("please specify valid interface name")
    if not mode:
        raise LabError("please specify valid rx-mode")
    memif = box.memifs.by_index.get(which.index)
    if queue is not None and (memif is None or queue >= len(memif.rows)):
        raise LabError(f"unknown queue {queue} on interface {which.name}")
    if memif:
        box.memifs.queues.set_mode(memif, mode, queue)
    return ""


@command(
    "set interface rx-placement",
    help="set interface rx-placement <interface> [queue <n>] [worker <n> | main]",
)
def set_rx_placement(box: Box, words: Words) -> str:
    """Give a queue to another thread."""
    which: Interface | None = None
    queue = 0
    thread: int | None = None
    while not words.is_over:
        if (wanted := words.read(number, "queue")) is not None:
            queue = wanted
        elif words.take("main"):
            thread = 0
        elif (worker := words.read(number, "worker")) is not None:
            thread = worker + 1
        elif (found := words.read(interface(box.interfaces))) is not None:
            which = found
        else:
            raise LabError(f"parse error: '{words.shown}'")
    if which is None:
        raise LabError("please specify valid interface name")
    if thread is None or thread >= len(box.vms):
        raise LabError("please specify valid worker thread or main")
    memif = box.memifs.by_index.get(which.index)
    if memif is None or queue >= len(memif.rows):
        raise LabError(f"unknown queue {queue} on interface {which.name}")
    box.memifs.queues.place(memif, queue, thread)
    return ""


@command("show interface rx-placement", help="show interface rx-placement")
def show_rx_placement(box: Box, words: Words) -> str:
    """Print which thread looks into which queue, and how."""
    words.end()
    text = ""
    for thread in range(len(box.vms)):
        rows = [
            f"    {memif.interface.name} queue {queue} ({mode_of(box.vm.rx_queues[row])})\n"
            for memif in box.memifs.by_index.values()
            for queue, row in enumerate(memif.rows)
            if box.vm.rx_queues[row]["thread"] == thread
        ]
        if rows:
            text += f"Thread {thread} ({thread_name(thread)}):\n node memif-input:\n" + "".join(rows)
    return text


def mode_of(entry: Any) -> str:  # noqa: ANN401 - a row of a numpy table
    """Return the word for a receive queue's mode."""
    return next(word for word, value in MODES.items() if value == entry["mode"])
