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
from labs.glassbox.memory import set64, ticks
from labs.glassbox.tracing import mark_new, record
from labs.glassbox.view import address_of
from labs.glassbox.vm import PENDING, TRACED, VECTOR
from labs.memif.atoms import copy
from labs.memif.hints import apart
from labs.memif.jit import seldom, step

CALLS = 1024
"""Nodes called in a row at most, after each input node."""


def _caller(returns):
    def call(_typing, function, image, me, frame, nexts, count):
        def generate(context, builder, _signature, arguments):
            function, image, *others = arguments
            others = [address_of(builder, image), *others]
            result = ir.IntType(64) if returns else cgutils.voidptr_t
            kind = ir.FunctionType(result, [each.type for each in others])
            value = builder.call(builder.inttoptr(function, kind.as_pointer()), others)
            return value if returns else context.get_dummy_value()

        result = types.int64 if returns else types.void
        return result(types.int64, image, types.int64, frame, nexts, types.int64), generate

    return intrinsic(call)


call_input, call_node = _caller(returns=True), _caller(returns=False)


@step
def enqueue(vm, target, packet):
    """Put one packet into a node's queue."""
    waiting = vm.queued[target]
    if waiting == 0:
        vm.pending[vm.state[PENDING]] = target
        vm.state[PENDING] += 1
    set64(place_in(vm, target, waiting), packet)
    vm.queued[target] = waiting + 1


@step
def place_in(vm, target, number):
    """Return the address of a place in a node's queue."""
    return np.int64(vm.queues.ctypes.data) + (target * vm.queues.shape[1] + number) * 8


@step
def arc_of(vm, me, chosen):
    """Return the node that an entry of `nexts` means."""
    if chosen >= OUTPUT:
        return vm.interfaces[chosen - OUTPUT].output_node
    return vm.nodes[me].arcs[chosen]


@step
def hand_on(vm, me, frame, count):
    """Put the packets of a frame into the queues of the nodes that come next."""
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
        copy(place_in(vm, target, waiting), np.int64(frame.ctypes.data), 8 * count)
        vm.queued[target] = waiting + count
    else:
        for each in range(count):
            if vm.nexts[each] != GONE:
                enqueue(vm, arc_of(vm, me, vm.nexts[each]), frame[each])


@seldom
def leave_the_rest(vm, me, frame, count):
    """Take a frame out of a node's queue that holds more than that."""
    apart()
    for each in range(count):
        frame[each] = vm.queues[me, each]
    left = vm.queued[me] - count
    for each in range(left):
        vm.queues[me, each] = vm.queues[me, each + count]
    vm.queued[me] = left


@step
def take_in(vm, me, which, now):
    """Let an input node make packets; return how many, and the time afterwards."""
    frame = vm.frame
    count = call_input(vm.nodes[me].function, vm.image, which, frame, vm.nexts, VECTOR)
    if count > 0:
        if vm.nodes[me].traces > 0:
            mark_new(vm, me, frame, count)
        if vm.state[TRACED] > 0:
            record(vm, me, frame, count)
        hand_on(vm, me, frame, count)
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
        frame = vm.queues[me]
        count = min(vm.queued[me], VECTOR)
        call_node(vm.nodes[me].function, vm.image, me, frame, vm.nexts, count)
        if vm.state[TRACED] > 0:
            record(vm, me, frame, count)
        if vm.queued[me] > count:
            frame = vm.frame
            leave_the_rest(vm, me, frame, count)
        else:
            vm.queued[me] = 0
            vm.state[PENDING] -= 1
            for each in range(vm.state[PENDING]):
                vm.pending[each] = vm.pending[each + 1]
        hand_on(vm, me, frame, count)
        after = ticks()
        vm.calls[me] += np.uint64(1)
        vm.vectors[me] += np.uint64(count)
        vm.clocks[me] += np.uint64(after - now)
        now = after
    return now
