"""pg-input: packets made from a description, as fast as wanted."""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.graph import node
from labs.glassbox.memory import ticks
from labs.glassbox.packet import begin, origin
from labs.glassbox.streams import HEAD
from labs.glassbox.vm import ATTENTION, FREE
from labs.memif.atoms import copy


@node(
    "pg-input",
    to=("error-drop", "ethernet-input", "ip4-input", "ip4-lookup"),
    makes_packets=True,
)
def pg_input(vm, which, frame, nexts, most):
    """Make up to `most` packets of stream `which`: no more than its limit and its rate allow.

    Its packets differ in how they begin, and share the rest.
    """
    stream = vm.streams[which]
    most = min(most, stream.most)
    wanted = min(most, vm.state[FREE])
    if stream.left >= 0:
        wanted = min(wanted, stream.left)
    if stream.rate > 0:
        now = ticks()
        credit = min(stream.credit + (now - stream.last) * stream.rate, float(most))
        wanted = min(wanted, int(credit))
        vm.streams[which].credit = credit - wanted
        vm.streams[which].last = now
    free = vm.state[FREE]
    kind = stream.next
    size, kinds, heads = stream.size, stream.kinds, stream.heads
    for each in range(wanted):
        packet = vm.free[free - 1 - each]
        begin(packet, size, stream.interface)
        copy(origin(packet), heads + kind * HEAD, min(size, HEAD))
        if size > HEAD:
            copy(origin(packet) + HEAD, stream.template + HEAD, size - HEAD)
        kind += 1
        if kind == kinds:
            kind = 0
        frame[each] = packet
        nexts[each] = stream.to
    vm.streams[which].next = kind
    vm.state[FREE] = free - wanted
    vm.rx[stream.interface, 0] += np.uint64(wanted)
    vm.rx[stream.interface, 1] += np.uint64(wanted * stream.size)
    vm.streams[which].sent += wanted
    if stream.left >= 0:
        left = stream.left - wanted
        vm.streams[which].left = left
        if left == 0:
            vm.streams[which].enabled = 0
            vm.state[ATTENTION] = 1
    return wanted
