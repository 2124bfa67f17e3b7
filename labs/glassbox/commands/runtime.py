"""show runtime and clear runtime: what each node has done, and what a packet costs in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from labs.errors import LabError
from labs.glassbox import clock
from labs.glassbox.commands.columns import centred, thread_name
from labs.glassbox.commands.command import command
from labs.glassbox.vm import TICKS_PER_MS, TURNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words

_NAME, _STATE, _COLUMN = 30, 12, 16
_HEAD = ("Calls", "Vectors", "Suspends")
_LINE = "-" * 15


@dataclass(frozen=True)
class Since:
    """Where the counters stood at the last ``clear runtime``.

    Attributes
    ----------
    at : int
        When, in ticks.
    turns : ndarray of int64, shape (threads,)
    calls, vectors, clocks : ndarray of uint64, shape (threads, nodes)
    """

    at: int
    turns: NDArray[np.int64]
    calls: NDArray[np.uint64]
    vectors: NDArray[np.uint64]
    clocks: NDArray[np.uint64]


_CLEARED: WeakKeyDictionary[Box, Since] = WeakKeyDictionary()


@command("clear runtime", help="Clear per node runtime statistics")
def clear_runtime(box: Box, words: Words) -> str:
    """Count from here."""
    words.end()
    _CLEARED[box] = _now(box)
    return ""


@command("show runtime", help="Show packet processing runtime [time] [verbose] [summary]")
def show_runtime(box: Box, words: Words) -> str:
    """Print what each node has done since the last ``clear runtime``, thread by thread."""
    options = set()
    while not words.is_over:
        name = words.peek()
        if name == "max":
            raise LabError(
                "The glass box keeps no maxima.", "show runtime has the averages since clear runtime."
            )
        if name not in ("time", "verbose", "summary"):
            raise words.unknown()
        options.add(words.word())
    cleared, now = _CLEARED.get(box), _now(box)
    lines: list[str] = []
    for thread in range(len(box.vms)):
        if len(box.vms) > 1:
            lines += [_LINE] if thread else []
            lines.append(f"Thread {thread} {thread_name(thread)}{_core(box, thread)}")
        lines += _block(box, thread, cleared, now, options)
    return "\n".join(lines)


def _core(box: Box, thread: int) -> str:
    """Return the core that a thread was started on, as VPP prints it; nothing where none was asked for."""
    if box.startup is None:
        return ""
    core = box.startup.worker_cores[thread - 1] if thread else box.startup.main_core
    return "" if core is None else f" (lcore {core})"


def _block(box: Box, thread: int, cleared: Since | None, now: Since, options: set[str]) -> list[str]:
    """Return what one thread has done."""
    began = cleared.at if cleared else box.born
    seconds = max((now.at - began) / (float(box.vm.state[TICKS_PER_MS]) * 1000), 1e-6)
    turns = int(now.turns[thread] - (cleared.turns[thread] if cleared else 0))
    calls, vectors, clocks = (
        getattr(now, each)[thread] - (getattr(cleared, each)[thread] if cleared else np.uint64(0))
        for each in ("calls", "vectors", "clocks")
    )
    if "time" in options:
        clocks = clocks * (1e6 / float(box.vm.state[TICKS_PER_MS]))
    kinds = box.graph.kinds
    makes = np.array([each.makes_packets for each in kinds])
    sends = np.array([each.name.startswith("interface-") and each.name.endswith("-tx") for each in kinds])
    drops = np.array([each.name == "drop" for each in kinds])
    count = len(kinds)
    inner = vectors[:count][~makes].sum() / max(int(calls[:count][~makes].sum()), 1)
    rates = [float(vectors[:count][each].sum()) / seconds for each in (makes, sends, drops)]
    taken_in, sent, dropped = (science(each, 4) for each in rates)
    loops = f"internal node vector rate {inner:.2f} loops/sec {turns / seconds:.2f}"
    lines = [
        f"Time {seconds:.1f}, {seconds:.6f} sec {loops}",
        f"  vector rates in {taken_in}, out {sent}, drop {dropped}, punt {science(0, 4)}",
    ]
    if "summary" in options:
        return lines
    cost = "Packet-Time" if "time" in options else "Packet-Clocks"
    lines.append(
        f"{centred('Name', _NAME)}{centred('State', _STATE)}"
        + "".join(centred(each, _COLUMN) for each in (*_HEAD, cost, "Vectors/Call"))
    )
    shown = [each for each in range(count) if calls[each] or "verbose" in options]
    lines += [
        _row(
            box.graph.names[number],
            state_of(box, number, thread),
            *(each[number].item() for each in (calls, vectors, clocks)),
        )
        for number in sorted(shown, key=lambda each: box.graph.names[each])
    ]
    return lines


def _row(name: str, state: str, calls: int, vectors: int, clocks: float) -> str:
    cost = clocks / (vectors or calls or 1)
    per_call = vectors / calls if calls else 0.0
    counts = "".join(f"{each:{_COLUMN}}" for each in (calls, vectors, 0))
    name, state = f"{name[:_NAME]:{_NAME}}", centred(state[:_STATE], _STATE)
    return f"{name}{state}{counts}{science(cost, 2):>{_COLUMN}}{per_call:{_COLUMN}.2f}"


def state_of(box: Box, number: int, thread: int = 0) -> str:
    """Return what a node does while there is no packet: input nodes poll or wait, the others are called."""
    kind = box.graph.kinds[number]
    if not kind.makes_packets:
        return "active"
    if kind.name == "pg-input":
        return "polling" if thread == 0 and box.vm.streams["enabled"].any() else "disabled"
    queues = box.vm.rx_queues
    mine = queues[(queues["block"] != 0) & (queues["thread"] == thread)]
    if not mine.size:
        return "disabled"
    return "polling" if mine["polls"].any() else "interrupt wait"


def science(value: float, digits: int) -> str:
    """Return a number as VPP's %e writes it: ``1.86e4``."""
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _now(box: Box) -> Since:
    nodes = box.counters.nodes()
    return Since(
        clock.now(),
        np.array([vm.state[TURNS] for vm in box.vms]),
        nodes["calls"],
        nodes["vectors"],
        nodes["clocks"],
    )
