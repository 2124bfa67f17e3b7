"""memif interfaces: links of `labs.memif` whose queues the data plane works on."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.memif_ends import ClientEnd, ServerEnd, why_not
from labs.glassbox.memif_queues import Memif, RxQueues
from labs.memif import MemifError

if TYPE_CHECKING:
    from labs.glassbox.interfaces import Interface, Interfaces
    from labs.glassbox.pool import Pool
    from labs.glassbox.vm import Vm

_NO_MAC = b""


class Memifs:
    """All memif interfaces and their sockets.

    Parameters
    ----------
    vms : list of Vm
        Each thread's view; receive queues are spread over the workers, if there are any.
    interfaces : Interfaces
    folder : Path
        Where relative socket names go, and socket 0 is.
    pool : Pool
        What clients lend, if they are to.
    """

    def __init__(self, vms: list[Vm], interfaces: Interfaces, folder: Path, pool: Pool) -> None:
        self.queues = RxQueues(vms, pool)
        self._interfaces = interfaces
        self._folder = folder
        self.sockets: dict[int, str] = {0: str(folder / "memif.sock")}
        self.by_index: dict[int, Memif] = {}
        self.wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._is_closed = False
        self._pool = pool

    @property
    def last_row(self) -> int:
        """How many rows of the data plane's table of receive queues to look at."""
        return max((row + 1 for memif in self.by_index.values() for row in memif.rows), default=0)

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
        zero_copy: bool = True,
    ) -> Memif:
        """Make a memif interface; a server listens at once, a client dials when it is set up.

        Parameters
        ----------
        number : int
            Its id.
        role : {"master", "slave"}
        zero_copy : bool
            Let the server work on our packets where they are; for a client to say.

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
            link: ClientEnd | ServerEnd
            if role == "slave":
                link = ClientEnd(
                    path, number, retry=1.0, lends=self._pool.lent if zero_copy else None, **settings, **made
                )
            else:
                link = ServerEnd(path, number, **settings)
            link.notice = self._notice
            if role == "master":
                link.start()
        except MemifError as error:
            raise LabError(*why_not(path, error)) from None
        try:
            interface = self._interfaces.add(name, "memif", _NO_MAC if is_ip else mac)
        except LabError:
            link.close()
            raise
        memif = Memif(interface, socket_id, number, role, link, made, is_ip, role == "slave" and zero_copy)
        self.by_index[interface.index] = memif
        return memif

    def delete(self, memif: Memif) -> None:
        """End the link and forget it; the interface is the caller's to remove."""
        connection = memif.link._connection  # noqa: SLF001 - as in `settle`
        self.queues.detach(memif)
        del self.by_index[memif.interface.index]
        if connection:
            connection.stop()
        memif.link.close()
        self._pool.take_back()

    def set_up(self, interface: Interface) -> None:
        """Follow the interface's administrative state: a client dials when it is up."""
        memif = self.by_index[interface.index]
        if interface.is_up and memif.role == "slave":
            memif.link.start()
        self.queues.detach(memif)
        self.settle()

    def close(self) -> None:
        """End all links."""
        for memif in list(self.by_index.values()):
            self.delete(memif)
        self._is_closed = True
        os.close(self.wake)
        self.queues.close()

    def settle(self) -> None:
        """Let the data plane work on the links that are up, and on no others; called when one changes."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.wake)
        self._pool.take_back()
        for memif in self.by_index.values():
            current = memif.link._connection  # noqa: SLF001 - it may be gone at any moment, and that is no error
            if current is not None and current.has_ended:
                current = None  # its own thread waits for us to let go of it
            if current is not memif.connection:
                self.queues.detach(memif)
            if memif.connection is None and current is not None and memif.interface.is_up:
                self.queues.attach(memif, current)

    def break_off(self, block: int, code: int) -> None:
        """End the link whose peer broke a ring, known by the address of its control block."""
        for memif in self.by_index.values():
            for ring in memif.connection.queues if memif.connection else ():
                if ring.control.ctypes.data == block:
                    self.queues.detach(memif)
                    with contextlib.suppress(MemifError):  # the link has noted it, and its peer is told
                        ring.checked(code)
                    break

    def _notice(self) -> None:
        if not self._is_closed:
            os.eventfd_write(self.wake, 1)
