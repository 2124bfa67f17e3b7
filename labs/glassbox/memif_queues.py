"""Receive queues: which thread looks into them, how they wait, and whose memory they are."""

from __future__ import annotations

import select
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.vm import ADAPTIVE, INTERRUPT, POLLING, QUEUES
from labs.memif import MemifError

if TYPE_CHECKING:
    from labs.glassbox.interfaces import Interface
    from labs.glassbox.memif_ends import ClientEnd, ServerEnd
    from labs.glassbox.pool import Pool
    from labs.glassbox.vm import Vm
    from labs.memif.connection import Connection
    from labs.memif.queue import Queue

MODES = {"polling": POLLING, "interrupt": INTERRUPT, "adaptive": ADAPTIVE}
_NO_ROW = MemifError(
    f"The glass box has {QUEUES} receive queues, and all are in use.",
    "use fewer queues.",
    reason="no receive queue left",
)


@dataclass
class Memif:
    """A memif interface.

    Attributes
    ----------
    interface : Interface
    socket_id, id : int
    role : {"master", "slave"}
        VPP's words for server and client.
    link : Link
    is_ip : bool
        Packets have no Ethernet header.
    is_zero_copy : bool
        The server works on our packets where they are.
    connection : Connection, optional
        What the data plane works on now.
    rows : list of int
        Its rows in the data plane's table of receive queues.
    why_down : str
        What ended the last connection, as we tell it.
    """

    interface: Interface
    socket_id: int
    id: int
    role: str
    link: ClientEnd | ServerEnd
    settings: dict[str, Any]
    is_ip: bool = False
    is_zero_copy: bool = False
    connection: Connection | None = None
    rows: list[int] = field(default_factory=list)

    @property
    def queues(self) -> list[Queue]:
        """The receive queues in use, in order."""
        return self.connection.rx if self.connection else []


class RxQueues:
    """The data plane's table of receive queues.

    Parameters
    ----------
    vms : list of Vm
        Each thread's view; queues are spread over the workers, if there are any.
    pool : Pool
        Told of connections whose rings name its packets.
    """

    def __init__(self, vms: list[Vm], pool: Pool) -> None:
        self._vms, self._pool = vms, pool
        self._bells = [select.epoll() for _ in vms]
        self._next_thread = 0

    def bells(self, thread: int) -> select.epoll:
        """Return the epoll of the doorbells that a thread sleeps on."""
        return self._bells[thread]

    def close(self) -> None:
        """Sleep on no doorbell any more."""
        for each in self._bells:
            each.close()

    def set_mode(self, memif: Memif, mode: str, queue: int | None = None) -> None:
        """Choose how queues wait for packets; it is forgotten when the link goes down, as in VPP.

        Raises
        ------
        LabError
            There is no such queue.
        """
        rows = memif.rows if queue is None else memif.rows[queue : queue + 1]
        if queue is not None and not rows:
            raise LabError(f"unknown queue {queue} on interface {memif.interface.name}")
        for row, ring in zip(memif.rows, memif.queues, strict=True):
            if row in rows:
                self._set_mode(row, ring, mode)

    def place(self, memif: Memif, queue: int, thread: int) -> None:
        """Let another thread look into a receive queue."""
        entry, ring = self._vms[0].rx_queues[memif.rows[queue]], memif.queues[queue]
        if entry["mode"] != POLLING:
            self._bells[int(entry["thread"])].unregister(ring.doorbell)
            self._bells[thread].register(ring.doorbell, select.EPOLLIN)
        entry["thread"], entry["pending"] = thread, 1

    def _set_mode(self, row: int, ring: Queue, mode: str) -> None:
        entry = self._vms[0].rx_queues[row]
        bells = self._bells[int(entry["thread"])]
        was, wanted = int(entry["mode"]), MODES[mode]
        if was == POLLING and wanted != POLLING:
            bells.register(ring.doorbell, select.EPOLLIN)
        elif was != POLLING and wanted == POLLING:
            bells.unregister(ring.doorbell)
        entry["mode"], entry["polls"], entry["pending"] = wanted, wanted == POLLING, 1
        ring.polls(polls=wanted == POLLING)

    def attach(self, memif: Memif, connection: Connection) -> None:
        """Let the data plane work on a connection: its locks are ours from here on."""
        vm = self._vms[0]
        free = [row for row in range(QUEUES) if not vm.rx_queues[row]["block"]][: len(connection.rx)]
        if len(free) < len(connection.rx):
            connection.rx[0].on_fault(_NO_ROW)
            return
        for queue in connection.queues:
            queue.lock.acquire()
        if connection.has_ended:  # while we waited for the locks: its doorbells are closed
            release(connection)
            return
        self._pool.lend(connection)
        memif.connection, memif.rows = connection, free
        index = memif.interface.index
        for number, queue in enumerate(connection.tx):
            vm.tx_blocks[index, number] = queue.control.ctypes.data
        vm.interfaces[index]["tx_queues"] = len(connection.tx)
        for row, queue in zip(free, connection.rx, strict=True):
            entry = vm.rx_queues[row]
            entry["interface"], entry["mode"], entry["polls"], entry["pending"] = index, POLLING, 1, 1
            entry["thread"], entry["doorbell"] = self._choose_thread(), queue.doorbell
            queue.polls(polls=True)
            entry["block"] = queue.control.ctypes.data
        memif.interface.is_linked = True

    def _choose_thread(self) -> int:
        """Return the worker that gets the next queue: each in turn; the main thread if there is none."""
        workers = len(self._vms) - 1
        if not workers:
            return 0
        self._next_thread = self._next_thread % workers + 1
        return self._next_thread

    def detach(self, memif: Memif) -> None:
        """Take a connection away from the data plane, and give its locks back."""
        connection, memif.connection = memif.connection, None
        if connection is None:
            return
        vm = self._vms[0]
        for row, queue in zip(memif.rows, connection.rx, strict=True):
            entry = vm.rx_queues[row]
            if entry["mode"] != POLLING:
                self._bells[int(entry["thread"])].unregister(queue.doorbell)
            vm.rx_queues[row] = 0
        memif.rows = []
        vm.interfaces[memif.interface.index]["tx_queues"] = 0
        memif.interface.is_linked = False
        release(connection)


def release(connection: Connection) -> None:
    """Let the link close its queues."""
    for queue in connection.queues:
        queue.lock.release()
