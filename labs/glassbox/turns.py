"""The main loop of a thread: sleep or look, take packets in, and run the graph until it is empty.

One turn follows VPP's own order (vlib/main.c, vlib_main_or_worker_loop; vlib/file.c, vlib_file_poll): first
the files, asleep if nothing polls; then the input nodes; then all that is pending. Processes, such as ping,
come last: they are Python's, when `run` has returned.
"""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np
from numba import types

from labs.glassbox.dispatch import drain, take_in
from labs.glassbox.memory import ticks, words_at
from labs.glassbox.vm import (
    ADAPTIVE,
    ATTENTION,
    BARRIER,
    BELLS,
    FILES,
    LAST_VECTORS,
    LOOK_AT_FILES,
    NEXT_TIMER,
    PENDING,
    POLLING,
    SCRATCH,
    SLEEPS,
    THREAD,
    TICKS_PER_MS,
    TURNS,
    UNFINISHED,
    VECTORS,
)
from labs.memif.atoms import c_poll
from labs.memif.control import RUNG
from labs.memif.jit import kernel, step

TURNS_BETWEEN_LOOKS = 1024
"""A thread that polls looks at its files once in so many turns, as VPP does."""

WHEEL_MS = 10
"""A sleeping thread wakes at least when its timer wheel comes round."""

MANY, FEW = 10, 5
"""Adaptive: begin to poll at so many packets a look, sleep again at so few (vlib/main.c:922-1000)."""

MAY_SLEEP, POLLS, WAS_RUNG = 0, 1, 2
_POLLIN = 1
_COUNTER = 8  # bytes of an eventfd's
c_read = types.ExternalFunction("read", types.int64(types.int32, types.int64, types.int64))


@step
def asks(vm, which, me):
    """Return whether a thread has to look into a receive queue in this turn."""
    queue = vm.rx_queues[which]
    return queue.block != 0 and queue.thread == me and (queue.polls | queue.pending) != 0


@step
def need(vm, last_queue, streams):
    """Return what keeps a thread awake: nothing, a queue or stream to poll, or a doorbell that has rung."""
    found = vm.state[UNFINISHED]
    for which in range(last_queue):
        if asks(vm, which, vm.state[THREAD]):
            found |= POLLS | vm.rx_queues[which].pending * WAS_RUNG
    if vm.state[THREAD] == 0:
        for which in range(streams):
            found |= vm.streams[which].enabled
    return found


@step
def note_bells(vm, scratch):
    """Note which queues' doorbells have rung, and silence them; what comes from now on rings again."""
    for which in range(vm.rx_queues.size):
        queue = vm.rx_queues[which]
        sleeps = queue.block != 0 and queue.mode != POLLING and queue.thread == vm.state[THREAD]
        if sleeps and c_read(queue.doorbell, scratch, _COUNTER) == _COUNTER:
            vm.rx_queues[which].pending = 1
            words_at(queue.block)[RUNG] += 1  # show memif tells


@step
def look_at_files(vm, timeout):
    """Sleep up to `timeout` ms, until a doorbell rings or Python is wanted; note who rang."""
    base = np.int64(vm.state.ctypes.data) + SCRATCH * 8
    vm.state[SCRATCH] = vm.state[BELLS] | (_POLLIN << 32)
    vm.state[SCRATCH + 1] = (vm.state[FILES] & 0xFFFFFFFF) | (_POLLIN << 32)
    if c_poll(base, 2, timeout) > 0:
        if (vm.state[SCRATCH + 1] >> 48) & _POLLIN:
            vm.state[ATTENTION] = 1
        if (vm.state[SCRATCH] >> 48) & _POLLIN:
            note_bells(vm, base + 16)


@step
def files_first(vm, last_queue, streams, now):
    """Look at the files: asleep if nothing is to be done, now and then if something polls."""
    needed = need(vm, last_queue, streams)
    vm.state[LOOK_AT_FILES] -= 1
    if needed == MAY_SLEEP:
        wheel = WHEEL_MS - (now // vm.state[TICKS_PER_MS]) % WHEEL_MS
        left = vm.state[NEXT_TIMER] - now
        timer = (
            max(left // vm.state[TICKS_PER_MS], 1) if left > 0 else 0
        )  # never 0: it would not sleep at all
        vm.state[SLEEPS] += 1
        look_at_files(vm, min(wheel, timer))
        return ticks()
    if needed & WAS_RUNG or vm.state[LOOK_AT_FILES] <= 0:
        vm.state[LOOK_AT_FILES] = TURNS_BETWEEN_LOOKS
        look_at_files(vm, 0)
    return now


@step
def adapt(vm, which, count):
    """Poll a queue that sleeps on its doorbell while it is busy, in adaptive mode."""
    if vm.rx_queues[which].mode == ADAPTIVE:
        if count >= MANY:
            vm.rx_queues[which].polls = 1
        elif count <= FEW and vm.rx_queues[which].polls:
            vm.rx_queues[which].polls = 0
            vm.rx_queues[which].pending = 1  # one more look before it sleeps


@kernel
def run(vm, memif_input, pg_input, last_queue, streams):
    """Turn until Python is wanted: for a file, a timer, news, or a barrier.

    Parameters
    ----------
    vm : Vm
    memif_input, pg_input : int
        The numbers of the two input nodes.
    last_queue, streams : int
        How many rows of `vm.rx_queues` and `vm.streams` to look at.
    """
    now = ticks()
    me = vm.state[THREAD]
    while True:
        vm.state[TURNS] += 1
        now = files_first(vm, last_queue, streams, now)
        total = 0
        # input nodes, and after each of them all that is pending; once more for what processes have queued
        for which in range(last_queue + streams + 1):
            count = 0
            if which < last_queue:
                if asks(vm, which, me):
                    vm.rx_queues[which].pending = 0
                    count, now = take_in(vm, memif_input, which, now)
                    adapt(vm, which, count)
            elif which < last_queue + streams and me == 0 and vm.streams[which - last_queue].enabled:
                count, now = take_in(vm, pg_input, which - last_queue, now)
            total += count
            now = drain(vm, now)
        vm.state[UNFINISHED] = np.int64(vm.state[PENDING] > 0)
        vm.state[VECTORS] += total
        vm.state[LAST_VECTORS] = total
        if total == 0:
            now = ticks()
        if vm.state[ATTENTION] | vm.state[BARRIER] or now >= vm.state[NEXT_TIMER]:
            return
