"""Handing vectors from node to node, until no packet is left anywhere."""
# ruff: noqa: ANN001, ANN201, ANN202, ARG001 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from labs.glassbox.graph import GONE, OUTPUT
from labs.glassbox.memory import ticks
from labs.glassbox.tracing import mark_new, record
from labs.glassbox.vm import PENDING, TRACED, VECTOR
from labs.memif.jit import step

CALLS = 1024
"""Nodes called in a row at most, after each input node."""


def _caller(returns):
    def call(_typing, address, vm, me, frame, nexts, count):
        def generate(_context, builder, _signature, arguments):
            result = ir.IntType(64) if returns else cgutils.voidptr_t
            kind = ir.FunctionType(result, [each.type for each in arguments[1:]])
            value = builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
            return value if returns else _context.get_dummy_value()

        result = types.int64 if returns else types.void
        return result(types.int64, vm, types.int64, frame, nexts, types.int64), generate

    return intrinsic(call)


call_input, call_node = _caller(returns=True), _caller(returns=False)


@step
def enqueue(vm, target, packet):
    """Put one packet into a node's queue."""
    waiting = vm.queued[target]
    if waiting == 0:
        vm.pending[vm.state[PENDING]] = target
        vm.state[PENDING] += 1
    vm.queues[target, waiting] = packet
    vm.queued[target] = waiting + 1


@step
def arc_of(vm, me, chosen):
    """Return the node that an entry of `nexts` means."""
    if chosen >= OUTPUT:
        return vm.interfaces[chosen - OUTPUT].output_node
    return vm.nodes[me].arcs[chosen]


@step
def hand_on(vm, me, count):
    """Put the packets of the frame into the queues of the nodes that come next."""
    first = vm.nexts[0]
    differ = 0
    for each in range(1, count):
        differ |= vm.nexts[each] ^ first
    if differ == 0:
        if first == GONE:
            return
        target = arc_of(vm, me, first)
        waiting = vm.queued[target]
        if waiting == 0:
            vm.pending[vm.state[PENDING]] = target
            vm.state[PENDING] += 1
        for each in range(count):
            vm.queues[target, waiting + each] = vm.frame[each]
        vm.queued[target] = waiting + count
    else:
        for each in range(count):
            if vm.nexts[each] != GONE:
                enqueue(vm, arc_of(vm, me, vm.nexts[each]), vm.frame[each])


@step
def take_in(vm, me, which, now):
    """Let an input node make packets; return how many, and the time afterwards."""
    count = call_input(vm.nodes[me].function, vm, which, vm.frame, vm.nexts, VECTOR)
    if count > 0:
        if vm.nodes[me].traces > 0:
            mark_new(vm, me, count)
        if vm.state[TRACED] > 0:
            record(vm, me, count)
        hand_on(vm, me, count)
    after = ticks()
    vm.calls[me] += np.uint64(1)
    vm.vectors[me] += np.uint64(count)
    vm.clocks[me] += np.uint64(after - now)
    return count, after


@step
def drain(vm, now):
    """Run nodes until no packet is left anywhere; return the time afterwards.

    Interfaces can be wired so that packets go round for ever: what is left after `CALLS` has to wait.
    """
    calls = 0
    while vm.state[PENDING] > 0 and calls < CALLS:
        calls += 1
        me = vm.pending[0]
        waiting = vm.queued[me]
        count = min(waiting, VECTOR)
        for each in range(count):
            vm.frame[each] = vm.queues[me, each]
        if waiting > count:
            for each in range(waiting - count):
                vm.queues[me, each] = vm.queues[me, each + count]
        else:
            vm.state[PENDING] -= 1
            for each in range(vm.state[PENDING]):
                vm.pending[each] = vm.pending[each + 1]
        vm.queued[me] = waiting - count
        call_node(vm.nodes[me].function, vm, me, vm.frame, vm.nexts, count)
        if vm.state[TRACED] > 0:
            record(vm, me, count)
        hand_on(vm, me, count)
        after = ticks()
        vm.calls[me] += np.uint64(1)
        vm.vectors[me] += np.uint64(count)
        vm.clocks[me] += np.uint64(after - now)
        now = after
    return now
