"""trace add, clear trace, show trace: the way of single packets through the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.commands.columns import thread_name
from labs.glassbox.commands.command import command
from labs.glassbox.commands.trace_format import Seen, lines_of, seen
from labs.glassbox.commands.words import number
from labs.glassbox.vm import RECORDS, TICKS_PER_MS, TRACE_LENGTH

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words

_SHOWN = 50  # packets, where no max is given


@command("trace add", help="trace add <input-graph-node> <add'l-pkts-for-node-> [verbose]")
def trace_add(box: Box, words: Words) -> str:
    """Record the way of the next so many packets that an input node makes."""
    if words.is_over:
        return ""
    start = words.at
    name = words.word()
    if name not in box.graph.names:
        words.at = start
        raise LabError(f"expected NODE COUNT, got `{words.shown}'")
    node = box.graph.number(name)
    count = words.read(number)
    if count is None:
        words.at = start
        raise LabError(f"expected NODE COUNT, got `{words.shown}'")
    words.take("verbose")
    words.end()
    if not box.graph.kinds[node].makes_packets:
        raise LabError(
            f"node '{name}' doesn't support per-node tracing. "
            "There may be another way to initiate trace on this node."
        )
    box.vm.nodes[node]["traces"] += count
    return ""


@command("clear trace", help="Clear trace buffer and free memory")
def clear_trace(box: Box, words: Words) -> str:
    """Forget what was traced."""
    words.end()
    box.clear_trace()
    return ""


@command("show trace", help="Show trace buffer [max COUNT]")
def show_trace(box: Box, words: Words) -> str:
    """Print the way of each traced packet."""
    most = _SHOWN
    if not words.is_over:
        wanted = words.read(number, "max")
        if wanted is None:
            raise LabError(f"expected 'max COUNT', got `{words.shown}'")
        most = wanted
        words.end()
    warning = f"Limiting display to {most} packets. To display more specify max."
    shown, before = [], []
    for thread in range(len(box.vms)):
        packets = paths(box, thread)
        shown.append(
            f"------------------- Start of thread {thread} {thread_name(thread)} -------------------"
        )
        if not packets:
            shown.append("No packets in trace buffer")
        for place, path in enumerate(packets[:most]):
            shown += [f"Packet {place + 1}", "", *_told(box, path), ""]
        if len(packets) > most:
            before.append(warning)
            shown.append(warning)
        if box.vms[thread].state[RECORDS] >= TRACE_LENGTH:
            shown.append(f"The trace holds {TRACE_LENGTH} steps and is full: clear trace makes room.")
    return "\n".join(before + shown)


def paths(box: Box, thread: int) -> list[list[Seen]]:
    """Return each packet that a thread has traced, with its steps in order."""
    vm = box.vms[thread]
    packets: dict[int, list[Seen]] = {}
    for record in vm.records[: int(vm.state[RECORDS])]:
        step = seen(record)
        packets.setdefault(step.mark, []).append(step)
    return list(packets.values())


def _told(box: Box, path: list[Seen]) -> list[str]:
    """Return the lines about one packet."""
    lines = []
    before: Seen | None = None
    for step in path:
        lines.append(f"{_clock(box, step.at)}: {box.graph.names[step.node]}")
        lines += [f"  {line}" for line in lines_of(box, step, before)]
        before = step
    return lines


def _clock(box: Box, at: int) -> str:
    """Return the time since the box was made, as VPP shows it: hours, minutes, seconds, microseconds."""
    micros = max(0, (at - box.born) * 1000 // int(box.vm.state[TICKS_PER_MS]))
    seconds = micros // 1_000_000
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}:{micros % 1_000_000:06}"
