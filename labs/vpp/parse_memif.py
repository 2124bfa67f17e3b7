"""What ``show memif`` and ``show interface rx-placement`` print, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class MemifSocket:
    """A row of the sockets table.

    Attributes
    ----------
    id : int
    listener : bool
        Whether this VPP listens on the file; then `references` interfaces use it. After a vain
        attempt to listen VPP prints ``yes`` and a count below zero: that is False here.
    references : int
    filename : str
    """

    id: int
    listener: bool
    references: int
    filename: str


@dataclass(frozen=True)
class MemifRegion:
    """A piece of shared memory: its number, size in bytes and file descriptor in VPP."""

    index: int
    size: int
    fd: int


@dataclass(frozen=True)
class MemifRing:
    """One ring of descriptors.

    Attributes
    ----------
    direction : str
        ``slave-to-master`` or ``master-to-slave``.
    index : int
        From 0 in each direction.
    region, offset, size, int_fd : int
        Where it lies (region, bytes), how many descriptors it has, and its doorbell's descriptor.
    head, tail : int or None
        Descriptors ever produced and consumed, modulo 65536; None before the ring is mapped.
    flags : int or None
        Bit 0: the receiver asks for no interrupts, since it polls.
    interrupts : int or None
        Doorbells this VPP has received on it.
    """

    direction: str
    index: int
    region: int = 0
    offset: int = 0
    size: int = 0
    int_fd: int = -1
    head: int | None = None
    tail: int | None = None
    flags: int | None = None
    interrupts: int | None = None


@dataclass(frozen=True)
class MemifState:
    """One memif interface.

    Attributes
    ----------
    name : str
    socket_id, id : int
    mode : str
        ``ethernet``, ``ip`` or ``punt-inject``.
    flags : frozenset of str
        As VPP prints them: admin-up, slave, connecting, connected, deleting, zero-copy, error, use_dma.
    listener_fd, conn_fd : int
        0 where there is none.
    remote_name, remote_interface, local_reason, remote_reason : str
        Empty where VPP prints none; the reasons say why the last connection ended.
    s2m_rings, m2s_rings, buffer_size : int
    regions : tuple of MemifRegion
    rings : tuple of MemifRing
    """

    name: str
    socket_id: int = 0
    id: int = 0
    mode: str = ""
    flags: frozenset[str] = frozenset()
    listener_fd: int = 0
    conn_fd: int = 0
    remote_name: str = ""
    remote_interface: str = ""
    local_reason: str = ""
    remote_reason: str = ""
    s2m_rings: int = 0
    m2s_rings: int = 0
    buffer_size: int = 0
    regions: tuple[MemifRegion, ...] = ()
    rings: tuple[MemifRing, ...] = ()

    @property
    def role(self) -> str:
        """The course's word: ``client`` where VPP says slave, else ``server``."""
        return "client" if "slave" in self.flags else "server"

    @property
    def admin_up(self) -> bool:
        """Whether this end is set up."""
        return "admin-up" in self.flags

    @property
    def connected(self) -> bool:
        """Whether the link stands."""
        return "connected" in self.flags

    @property
    def zero_copy(self) -> bool:
        """Whether the client lends its packet buffers instead of copying."""
        return "zero-copy" in self.flags


@dataclass(frozen=True)
class MemifTable:
    """All that ``show memif`` says: the sockets, and the interfaces that use them."""

    sockets: tuple[MemifSocket, ...] = ()
    interfaces: tuple[MemifState, ...] = ()

    def socket_of(self, state: MemifState) -> str:
        """Return the file name of the socket that an interface uses; empty if it is not in the table."""
        return next((row.filename for row in self.sockets if row.id == state.socket_id), "")

    def interface(self, name: str) -> MemifState | None:
        """Return the interface of that name, if there is one."""
        return next((state for state in self.interfaces if state.name == name), None)


_INT = r"(-?\d+)"
_SOCKET = re.compile(r"  (\d+) +(?:yes \((\d+)(\)?)|no) +(\S+)")  # VPP cuts the second column to 11
_INTERFACE = re.compile(r"interface (\S+)")
_IDS = re.compile(r"  socket-id (\d+) id (\d+) mode (.+?)\s*")
_FLAGS = re.compile(r"  flags( .*)?")
_FDS = re.compile(rf"  listener-fd {_INT} conn-fd {_INT}")
_COUNTS = re.compile(r"  num-s2m-rings (\d+) num-m2s-rings (\d+) buffer-size (\d+) num-regions (\d+)")
_QUOTED = re.compile(r'  (remote-name|remote-interface|local-disc-reason|remote-disc-reason) "(.*?)"?')
_REGION = re.compile(rf"  region (\d+) size (\d+) fd {_INT}")
_RING = re.compile(r"\s+(slave-to-master|master-to-slave) ring (\d+):")
_PLACE = re.compile(rf"\s+region (\d+) offset (\d+) ring-size (\d+) int-fd {_INT}")
_POINTERS = re.compile(r"\s+head (\d+) tail (\d+) flags 0x([0-9a-fA-F]+) interrupts (\d+)")
# src/plugins/memif/socket.c and memif.c; VPP prints some of them with garbage behind, for want of a NUL
_REASONS = (
    "cannot connect to slave",
    "unmatched interface id",
    "mode mismatch",
    "already connected",
    "secret required",
    "incorrect secret",
    "incompatible protocol version",
    "unsupported version",
    "missing memory region fd",
    "no memory region fd",
    "unexpected region index",
    "too many regions",
    "missing ring interrupt fd",
    "private headers not supported",
    "unexpected ring index",
    "too many rings",
    "unexpected message received",
    "interface deleted",
    "connection fd error",
    "disconnect received",
)
_QUOTED_FIELDS = {
    "remote-name": "remote_name",
    "remote-interface": "remote_interface",
    "local-disc-reason": "local_reason",
    "remote-disc-reason": "remote_reason",
}


def parse_memif(text: str) -> MemifTable:
    """Return what ``show memif`` prints; lines of other kinds are passed over.

    The formats are those of src/plugins/memif/cli.c.
    """
    sockets: list[MemifSocket] = []
    states: list[MemifState] = []
    for line in text.split("\n"):
        if row := _INTERFACE.fullmatch(line):
            states.append(MemifState(row[1]))
        elif states:
            states[-1] = _with_line(states[-1], line)
        elif row := _SOCKET.fullmatch(line):
            references = int(row[2]) if row[3] else 0
            sockets.append(MemifSocket(int(row[1]), bool(row[3]), references, row[4]))
    return MemifTable(tuple(sockets), tuple(states))


def _with_line(state: MemifState, line: str) -> MemifState:
    """Return `state` with what `line` adds to it."""
    changes: dict[str, Any] = {}
    if row := _IDS.fullmatch(line):
        changes = {"socket_id": int(row[1]), "id": int(row[2]), "mode": row[3]}
    elif row := _FLAGS.fullmatch(line):
        changes = {"flags": frozenset((row[1] or "").split())}
    elif row := _FDS.fullmatch(line):
        changes = {"listener_fd": int(row[1]), "conn_fd": int(row[2])}
    elif row := _COUNTS.fullmatch(line):
        changes = {"s2m_rings": int(row[1]), "m2s_rings": int(row[2]), "buffer_size": int(row[3])}
    elif row := _QUOTED.fullmatch(line):
        changes = {_QUOTED_FIELDS[row[1]]: _reason(row[2]) if "reason" in row[1] else row[2]}
    elif row := _REGION.fullmatch(line):
        changes = {"regions": (*state.regions, MemifRegion(*(int(part) for part in row.groups())))}
    elif row := _RING.fullmatch(line):
        changes = {"rings": (*state.rings, MemifRing(row[1], int(row[2])))}
    elif state.rings:
        changes = {"rings": (*state.rings[:-1], _ring_with_line(state.rings[-1], line))}
    return replace(state, **changes)


def _reason(text: str) -> str:
    return next((known for known in _REASONS if text.startswith(known)), text)


def _ring_with_line(ring: MemifRing, line: str) -> MemifRing:
    if row := _PLACE.fullmatch(line):
        region, offset, size, int_fd = (int(part) for part in row.groups())
        return replace(ring, region=region, offset=offset, size=size, int_fd=int_fd)
    if row := _POINTERS.fullmatch(line):
        return replace(
            ring, head=int(row[1]), tail=int(row[2]), flags=int(row[3], 16), interrupts=int(row[4])
        )
    return ring
