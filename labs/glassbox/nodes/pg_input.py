"""pg-input: packets made from a description, as fast as wanted."""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.graph import node
from labs.glassbox.memory import ticks
from labs.glassbox.packet import DATA, begin
from labs.glassbox.vm import ATTENTION, FREE
from labs.memif.atoms import copy


@node(
    "pg-input",
    to=("error-drop", "ethernet-input", "ip4-input", "ip4-lookup"),
    makes_packets=True,
)
def pg_input(vm, which, frame, nexts, most):
    """Make up to `most` packets of stream `which`: no more than its limit and its rate allow."""
    stream = vm.streams[which]
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
    for each in range(wanted):
        packet = vm.free[free - 1 - each]
        begin(packet, stream.size, stream.interface)
        copy(packet + DATA, stream.template, stream.size)
        frame[each] = packet
        nexts[each] = stream.to
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
