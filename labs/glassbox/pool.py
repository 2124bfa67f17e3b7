"""The pool: the memory of all packets, which zero-copy links share with their servers.

What a packet holds lies in one memfd, the same for all threads, so that any packet may leave by any link.
What we know about it lies in memory of our own: a server may write anything anywhere in the memfd, at any
time, and must not move a packet's bounds by that.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from labs.glassbox.lending import POOL, collect
from labs.glassbox.packet import BASE, FACTS, HEADROOM, OFFSET, STRIDE
from labs.glassbox.vm import FREE, PACKETS, POLLING
from labs.memif.control import EDGE, KEPT, POSITION, SIZE
from labs.memif.regions import Lent, make_region

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from labs.glassbox.vm import Vm
    from labs.memif.connection import Connection
    from labs.memif.queue import Queue

_SLACK = 4096
"""Bytes behind the last packet: nodes that a server confuses read up to a header too far."""


class Pool:
    """All packets of a box.

    Parameters
    ----------
    threads : int
        Each has `PACKETS` of its own, and gets them back if another thread has freed them.
    """

    def __init__(self, threads: int) -> None:
        count = threads * PACKETS
        region, descriptor = make_region(POOL, count * STRIDE + _SLACK, "glass box packets")
        self.lent = Lent(region, descriptor)
        memory = np.zeros(count * FACTS + 64, np.uint8)
        first = -memory.ctypes.data % 64
        self.facts: NDArray[np.int64] = (
            memory[first : first + count * FACTS].view(np.int64).reshape(count, -1)
        )
        self.facts[:, OFFSET // 8] = np.arange(count) * STRIDE + HEADROOM
        self.facts[:, BASE // 8] = self.facts[:, OFFSET // 8] + region.address
        self._vms: Sequence[Vm] = ()
        self._lenders: list[Connection] = []

    def addresses(self, thread: int) -> NDArray[np.int64]:
        """Return a thread's packets, by address."""
        first = int(self.facts.ctypes.data) + thread * PACKETS * FACTS
        return first + np.arange(PACKETS, dtype=np.int64) * FACTS

    def serve(self, vms: Sequence[Vm]) -> None:
        """Take on the threads that use the pool."""
        self._vms = vms

    def lend(self, connection: Connection) -> None:
        """Note a connection whose rings name packets; from now on they come back when it ends."""
        if connection not in self._lenders and connection.queues[0].kept is not None:
            self._lenders.append(connection)

    def lent_packets(self) -> NDArray[np.int64]:
        """Return the packets that rings name."""
        named = [_named(queue) for connection in self._lenders for queue in connection.queues]
        return np.concatenate([np.zeros(0, np.int64), *named])

    def take_back(self) -> None:
        """Free what is lent to servers that are gone. All threads stand still."""
        for connection in [each for each in self._lenders if each.has_ended]:
            self._lenders.remove(connection)
            for queue in connection.queues:
                self._free(_named(queue))
                queue.control[EDGE] = queue.control[POSITION]

    def settle(self) -> None:
        """Put right what threads leave undone, from time to time. All threads stand still.

        A link that sends nothing more does not ask what the server has read; one that waits for a doorbell
        waits in vain if the server has nothing to fill; and a packet may be freed by another thread than its
        own.
        """
        for connection in self._lenders:
            for queue in connection.tx:
                if not connection.has_ended:
                    collect(self._vms[0], int(queue.control.ctypes.data))
        rows = self._vms[0].rx_queues
        waiting = {
            int(queue.control.ctypes.data)
            for connection in self._lenders
            for queue in connection.rx
            if len(_named(queue)) < queue.control[SIZE]
        }
        for row in np.flatnonzero(rows["block"]):
            if rows[row]["mode"] != POLLING and int(rows[row]["block"]) in waiting:
                rows[row]["pending"] = 1
        if len(self._vms) > 1:
            self._sort()

    def close(self) -> None:
        """Close the memfd; the memory stays as long as somebody uses it."""
        os.close(self.lent.descriptor)

    def _sort(self) -> None:
        """Give every thread its own packets."""
        strays = []
        for thread, vm in enumerate(self._vms):
            free = vm.free[: vm.state[FREE]].copy()
            is_own = self._owners(free) == thread
            if not is_own.all():
                strays.append(free[~is_own])
                vm.state[FREE] = is_own.sum()
                vm.free[: vm.state[FREE]] = free[is_own]
        for each in strays:
            self._free(each)

    def _free(self, packets: NDArray[np.int64]) -> None:
        owners = self._owners(packets)
        for thread, vm in enumerate(self._vms):
            own = packets[owners == thread]
            free = int(vm.state[FREE])
            vm.free[free : free + own.size] = own
            vm.state[FREE] = free + own.size

    def _owners(self, packets: NDArray[np.int64]) -> NDArray[np.int64]:
        owners: NDArray[np.int64] = (packets - int(self.facts.ctypes.data)) // (FACTS * PACKETS)
        return owners


def _named(queue: Queue) -> NDArray[np.int64]:
    """Return the packets that a ring names."""
    if queue.kept is None or not queue.control[KEPT]:
        return np.zeros(0, np.int64)
    first, end = int(queue.control[EDGE]), int(queue.control[POSITION])
    if not queue.sends:
        first, end = end, first
    slots = (first + np.arange((end - first) & 0xFFFF)) & (queue.kept.size - 1)
    packets: NDArray[np.int64] = queue.kept[slots]
    return np.compress(packets != 0, packets)
