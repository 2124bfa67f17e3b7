"""memif interfaces: links of `labs.memif` whose queues the data plane works on."""

from __future__ import annotations

import contextlib
import os
import select
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.vm import ADAPTIVE, INTERRUPT, POLLING, QUEUES
from labs.memif import Client, Down, MemifError, Refused, Server
from labs.memif.control import STOP

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.glassbox.interfaces import Interface, Interfaces
    from labs.glassbox.vm import Vm
    from labs.memif.connection import Connection
    from labs.memif.link import Link
    from labs.memif.queue import Queue

MODES = {"polling": POLLING, "interrupt": INTERRUPT, "adaptive": ADAPTIVE}
_NO_MAC = b""
_NO_ROW = MemifError(
    f"The glass box has {QUEUES} receive queues, and all are in use.",
    "use fewer queues.",
    reason="no receive queue left",
)


class _Noticed:
    """What a link tells the main loop, from its own thread: that it went up, or is about to go down."""

    notice: Callable[[], None]
    reasons = ("", "")
    """Why the last connection ended, in VPP's words: as we saw it, and as the peer said."""

    def _up(self, connection: Connection) -> None:
        super()._up(connection)  # type: ignore[misc]  # Link has it
        self.reasons = ("", "")
        self.notice()

    def _down(self, error: MemifError) -> None:
        connection = self._connection  # type: ignore[attr-defined]  # Link has it
        self.reasons = _reasons(self._fault or error, self.reasons, was_up=connection is not None)  # type: ignore[attr-defined]  # Link has it
        if connection:
            connection.stop()
        self.notice()  # the main loop must let go of the queues, else closing them waits for ever
        super()._down(error)  # type: ignore[misc]  # Link has it
        self.notice()


def _reasons(error: MemifError, before: tuple[str, str], *, was_up: bool) -> tuple[str, str]:
    """Return why a link ended, in VPP's words (memif/socket.c); a server that is not there is no news."""
    if isinstance(error, Refused):
        said = error.message.removeprefix("The peer ended the link: ").removesuffix(".")
        return ("disconnect received", said)
    if isinstance(error, Down):
        return ("connection fd error", "") if was_up else before
    return (error.reason, "")


class _ClientEnd(_Noticed, Client):
    """The end that dials."""


class _ServerEnd(_Noticed, Server):
    """The end that listens."""


def _why_not(path: str, error: MemifError) -> tuple[str, str]:
    """Return why an end cannot be made, in VPP's words where it is the socket that cannot be listened at."""
    _, listens, why = error.message.partition(f"Nothing can listen at {path}: ")
    if not listens:
        return error.message, error.hint
    if "in use" in why:
        return f"Active listener on '{path}'", ""
    return f"bind (fd -1, '{path}'): {why.removesuffix('.')}", ""


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
    link: Link
    settings: dict[str, Any]
    is_ip: bool = False
    connection: Connection | None = None
    rows: list[int] = field(default_factory=list)

    @property
    def queues(self) -> list[Queue]:
        """The receive queues in use, in order."""
        return self.connection.rx if self.connection else []


class Memifs:
    """All memif interfaces and their sockets.

    Parameters
    ----------
    vms : list of Vm
        Each thread's view; receive queues are spread over the workers, if there are any.
    interfaces : Interfaces
    folder : Path
        Where relative socket names go, and socket 0 is.
    """

    def __init__(self, vms: list[Vm], interfaces: Interfaces, folder: Path) -> None:
        self._vms = vms
        self._interfaces = interfaces
        self._folder = folder
        self.sockets: dict[int, str] = {0: str(folder / "memif.sock")}
        self.by_index: dict[int, Memif] = {}
        self.wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._bells = [select.epoll() for _ in vms]
        self._next_thread = 0
        self._is_closed = False

    @property
    def last_row(self) -> int:
        """How many rows of the data plane's table of receive queues to look at."""
        return max((row + 1 for memif in self.by_index.values() for row in memif.rows), default=0)

    def bells(self, thread: int) -> select.epoll:
        """Return the epoll of the doorbells that a thread sleeps on."""
        return self._bells[thread]

    def add_socket(self, number: int, name: str) -> None:
        """Name a socket; a relative name is a file in the run directory.

        Raises
        ------
        LabError
            The number has another name already, or is 0.
        """
        path = name if name.startswith(("/", "abstract:")) else str(self._folder / name)
        if number == 0:
            raise LabError("Invalid socket id")
        if self.sockets.get(number, path) != path:
            raise LabError("Entry already exists (entry already exists)")
        if path not in (name, self.sockets.get(number)):
            Path(path).parent.mkdir(parents=True, exist_ok=True)  # as VPP does below its own directory
        self.sockets[number] = path

    def remove_socket(self, number: int) -> None:
        """Forget a socket that no interface uses.

        Raises
        ------
        LabError
            There is none, or it is in use.
        """
        if number == 0 or number not in self.sockets:
            raise LabError(f"Invalid argument (socket file with id {number} does not exist)")
        if any(each.socket_id == number for each in self.by_index.values()):
            raise LabError(f"Unexpected interface state (socket file '{self.sockets[number]}' is in use)")
        del self.sockets[number]

    def create(
        self,
        number: int,
        *,
        role: str,
        socket_id: int = 0,
        secret: str = "",
        ring_size: int = 1024,
        buffer_size: int = 2048,
        rx_queues: int = 1,
        tx_queues: int = 1,
        is_ip: bool = False,
        mac: bytes | None = None,
    ) -> Memif:
        """Make a memif interface; a server listens at once, a client dials when it is set up.

        Parameters
        ----------
        number : int
            Its id.
        role : {"master", "slave"}

        Raises
        ------
        LabError
            As VPP would refuse it.
        """
        if socket_id not in self.sockets:
            raise LabError("Invalid argument (unknown socket id)")
        for other in self.by_index.values():
            if other.socket_id == socket_id and other.role != role:
                raise LabError(
                    "Subinterface already exists (socket file cannot be used by both master and slave)"
                )
            if other.socket_id == socket_id and other.id == number:
                raise LabError("Subinterface already exists (interface already exists)")
        name = f"memif{socket_id}/{number}"
        path = self.sockets[socket_id]
        if role == "slave" and (rx_queues > 255 or tx_queues > 255 or min(rx_queues, tx_queues) < 1):  # noqa: PLR2004 - VPP's limit
            raise LabError("rx queue must be between 1 - 255")
        settings: dict[str, Any] = {
            "secret": secret or None,
            "mode": "ip" if is_ip else "ethernet",
            "name": "glass-box",
            "interface": name,
        }
        made: dict[str, Any] = {
            "ring_size": ring_size,
            "buffer_size": buffer_size,
            "queues": max(rx_queues, tx_queues),
        }
        try:
            link: _ClientEnd | _ServerEnd
            if role == "slave":
                link = _ClientEnd(path, number, retry=1.0, **settings, **made)
            else:
                link = _ServerEnd(path, number, **settings)
            link.notice = self._notice
            if role == "master":
                link.start()
        except MemifError as error:
            raise LabError(*_why_not(path, error)) from None
        try:
            interface = self._interfaces.add(name, "memif", _NO_MAC if is_ip else mac)
        except LabError:
            link.close()
            raise
        memif = Memif(interface, socket_id, number, role, link, made, is_ip)
        self.by_index[interface.index] = memif
        return memif

    def delete(self, memif: Memif) -> None:
        """End the link and forget it; the interface is the caller's to remove."""
        self._detach(memif)
        del self.by_index[memif.interface.index]
        memif.link.close()

    def set_up(self, interface: Interface) -> None:
        """Follow the interface's administrative state: a client dials when it is up."""
        memif = self.by_index[interface.index]
        if interface.is_up and memif.role == "slave":
            memif.link.start()
        self._detach(memif)
        self.settle()

    def close(self) -> None:
        """End all links."""
        for memif in list(self.by_index.values()):
            self.delete(memif)
        self._is_closed = True
        os.close(self.wake)
        for each in self._bells:
            each.close()

    def settle(self) -> None:
        """Let the data plane work on the links that are up, and on no others; called when one changes."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.wake)
        for memif in self.by_index.values():
            current = memif.link._connection  # noqa: SLF001 - it may be gone at any moment, and that is no error
            if current is not None and _has_ended(current):
                current = None  # its own thread waits for us to let go of it
            if current is not memif.connection:
                self._detach(memif)
            if memif.connection is None and current is not None and memif.interface.is_up:
                self._attach(memif, current)

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

    def break_off(self, block: int, code: int) -> None:
        """End the link whose peer broke a ring, known by the address of its control block."""
        for memif in self.by_index.values():
            for ring in memif.connection.queues if memif.connection else ():
                if ring.control.ctypes.data == block:
                    self._detach(memif)
                    with contextlib.suppress(MemifError):  # the link has noted it, and its peer is told
                        ring.checked(code)
                    break

    def _notice(self) -> None:
        if not self._is_closed:
            os.eventfd_write(self.wake, 1)

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

    def _attach(self, memif: Memif, connection: Connection) -> None:
        """Let the data plane work on a connection: its locks are ours from here on."""
        vm = self._vms[0]
        free = [row for row in range(QUEUES) if not vm.rx_queues[row]["block"]][: len(connection.rx)]
        if len(free) < len(connection.rx):
            connection.rx[0].on_fault(_NO_ROW)
            return
        for queue in connection.queues:
            queue.lock.acquire()
        if _has_ended(connection):  # while we waited for the locks: its doorbells are closed
            _release(connection)
            return
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

    def _detach(self, memif: Memif) -> None:
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
        _release(connection)


def _has_ended(connection: Connection) -> bool:
    """Return whether a connection is about to be closed."""
    return any(queue.control[STOP] for queue in connection.queues)


def _release(connection: Connection) -> None:
    """Let the link close its queues."""
    for queue in connection.queues:
        queue.lock.release()
