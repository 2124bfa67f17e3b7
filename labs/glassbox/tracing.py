"""Following single packets through the graph: marked by an input node, recorded behind each node."""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from labs.glassbox.graph import OUTPUT
from labs.glassbox.memory import get8, get64, ticks
from labs.glassbox.packet import HEADROOM, mark_of, origin, set_mark
from labs.glassbox.vm import RECORDS, TRACE_BYTES, TRACED
from labs.memif.hints import apart
from labs.memif.jit import seldom


@seldom
def mark_new(vm, me, frame, count):
    """Mark the first packets of an input node's frame, as many as ``trace add`` has asked for."""
    apart()
    wanted = min(vm.nodes[me].traces, count)
    for each in range(wanted):
        vm.state[TRACED] += 1
        set_mark(frame[each], vm.state[TRACED])
    vm.nodes[me].traces -= wanted


@seldom
def record(vm, me, frame, count):
    """Write down the marked packets of a frame: the node, where they go, and how they look behind it."""
    apart()
    for each in range(count):
        packet = frame[each]
        if mark_of(packet) and vm.state[RECORDS] < vm.records.size:
            line = vm.state[RECORDS]
            vm.state[RECORDS] += 1
            vm.records[line].mark = mark_of(packet)
            vm.records[line].node = me
            chosen = vm.nexts[each]
            vm.records[line].next = chosen if chosen >= OUTPUT or chosen < 0 else vm.nodes[me].arcs[chosen]
            vm.records[line].at = ticks()
            for word in range(8):
                vm.records[line].facts[word] = get64(packet + 8 * word)
            vm.records[line].facts[0] = get64(packet) - origin(packet)
            for byte in range(TRACE_BYTES):
                vm.records[line].bytes[byte] = get8(origin(packet) - HEADROOM + byte)
