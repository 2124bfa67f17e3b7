"""VPP's statistics segment as shared memory: what is where, and how to read it without being fooled."""

from __future__ import annotations

import mmap
import os
import socket
import time
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from vpp_papi.vpp_stats import VPPStats, recv_fd

from labs.errors import LabError, NotAvailable
from labs.vpp.sockets import DoorError, connect, explain, vanished

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import DTypeLike, NDArray

T = TypeVar("T")

DOOR = "statistics"
VERSION = 2
SCALAR, SIMPLE, COMBINED, NAMES, SYMLINK, GAUGE = 1, 2, 3, 4, 6, 9  # src/vlib/stats/shared.h

_ENTRY = np.dtype([("type", "<u4"), ("pad", "<u4"), ("value", "<u8"), ("name", "S128")])
_PAIR = np.dtype([("packets", "<u8"), ("bytes", "<u8")])
_LENGTH_BEFORE = 8  # a vector's length stands so many bytes before its elements (src/vppinfra/vec.h)
_FIRST_NAP, _LONGEST_NAP = 0.00005, 0.005


class Entry(NamedTuple):
    """One entry of the directory: its type, and its value or the address of its vectors."""

    type: int
    value: int


class _TornError(Exception):
    """What was read makes no sense, since VPP is changing it."""


class Segment(VPPStats):  # type: ignore[misc]  # papi is untyped
    """papi's reader, bounded in time and reading whole vectors.

    papi waits for ever if VPP dies in the middle of an update, and decodes the whole directory again
    after each. Here every read has a deadline, and an entry that still bears its name is read where
    it is.

    Parameters
    ----------
    path : Path
        The socket that VPP hands the memory out on.
    timeout : float
        Seconds a read may take.

    Raises
    ------
    DoorError
        The socket does not open.
    NotAvailable
        The segment has another layout than this reader knows.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__(str(path), timeout)
        self._path = path
        self._slots: dict[str, int] = {}
        self._slots_epoch = -1
        self._links: dict[str, tuple[int, dict[str, int]]] = {}
        self._vectors: dict[str, tuple[int, Entry]] = {}
        self._map()

    def _map(self) -> None:
        door = connect(self._path, DOOR, self.timeout, socket.SOCK_SEQPACKET)
        try:
            descriptor = recv_fd(door)
        except OSError as error:
            raise explain(error, self._path, DOOR) from None
        except IndexError:
            raise vanished(self._path, DOOR) from None
        finally:
            door.close()
        try:
            self.size = os.fstat(descriptor).st_size
            self.statseg = mmap.mmap(descriptor, self.size, mmap.MAP_SHARED, mmap.PROT_READ)
        finally:
            os.close(descriptor)
        self.connected = True
        if self.version != VERSION:
            found = self.version
            self.disconnect()
            raise NotAvailable(
                f"VPP's statistics segment has version {found}, and this course reads version {VERSION}.",
                "use VPP 26.06 or a release near it.",
            )

    def read(self, reader: Callable[[], T]) -> T:
        """Return what `reader` returns when VPP changed nothing meanwhile.

        Raises
        ------
        DoorError
            VPP was changing the segment for the whole of the timeout; it has probably died doing so.
        """
        deadline = time.monotonic() + self.timeout
        nap = _FIRST_NAP
        while True:
            epoch = self.epoch
            if not self.in_progress:
                outcome = self._attempt(reader)
                at_rest = not self.in_progress and self.epoch == epoch
                if at_rest and not isinstance(outcome, _TornError):
                    if isinstance(outcome, Exception):
                        raise outcome
                    return outcome
            if time.monotonic() > deadline:
                raise DoorError(
                    f"VPP's statistics were being changed for {self.timeout:g} s without a pause.",
                    "VPP may have died in the middle of a change: look at its log, and start it again.",
                    fault="timeout",
                )
            time.sleep(nap)
            nap = min(2 * nap, _LONGEST_NAP)

    @staticmethod
    def _attempt(reader: Callable[[], T]) -> T | Exception:
        """Return what `reader` returns or raises: an error counts only if the memory was at rest."""
        try:
            return reader()
        except (_TornError, LabError, IndexError, ValueError) as error:
            return error

    # What follows is called inside `read`.

    def names(self) -> dict[str, int]:
        """Return where each entry is in the directory: name -> index."""
        if self._slots_epoch != self.epoch:
            epoch = self.epoch
            entries = self._vector(self.directory_vector, _ENTRY)
            named = ((_text(raw), slot) for slot, raw in enumerate(entries["name"].tolist()))
            self._slots = {name: slot for name, slot in named if name}
            self._slots_epoch = epoch
        return self._slots

    def entry(self, name: str) -> Entry:
        """Return the entry of that name.

        Raises
        ------
        LabError
            There is none.
        """
        epoch, known = self._vectors.get(name, (-1, None))
        if known is not None and epoch == self.epoch:
            return known
        slot = self._slots.get(name)
        if slot is not None:
            epoch = self.epoch
            found = self._vector(self.directory_vector, _ENTRY, first=slot, count=1)
            if len(found) and _text(found["name"][0]) == name:
                entry = Entry(int(found["type"][0]), int(found["value"][0]))
                if entry.type not in (SCALAR, GAUGE):  # their value changes without a new epoch
                    self._vectors[name] = epoch, entry
                return entry
        slots = self.names()
        if name not in slots or slot == slots[name]:
            raise LabError(f"VPP's statistics hold no {name!r}.", "see what there is: stats.names('/if').")
        return self.entry(name)

    def simple(self, entry: Entry) -> NDArray[np.uint64]:
        """Return a counter of packets, shape (threads, columns)."""
        return self._stack([self._vector(at, np.dtype("<u8")) for at in self._pointers(entry.value)])

    def combined(self, entry: Entry) -> NDArray[np.uint64]:
        """Return a counter of packets and bytes, shape (threads, columns, 2)."""
        rows = [self._vector(at, _PAIR) for at in self._pointers(entry.value)]
        return self._stack([row.view("<u8").reshape(-1, 2) for row in rows], (2,))

    def strings(self, entry: Entry) -> list[str]:
        """Return a vector of names; empty where there is none."""
        return [_text(self._vector(at, np.dtype("u1")).tobytes()) for at in self._pointers(entry.value)]

    def links(self, prefix: str) -> dict[str, int]:
        """Return the symlinks whose names begin so: name -> column in the counter they point to."""
        epoch, found = self._links.get(prefix, (-1, {}))
        if epoch != self.epoch:
            epoch = self.epoch
            slots = self.names()
            values = self._vector(self.directory_vector, _ENTRY)
            found = {
                name: int(values["value"][slot]) >> 32
                for name, slot in slots.items()
                if name.startswith(prefix) and values["type"][slot] == SYMLINK
            }
            self._links[prefix] = epoch, found
        return found

    def _pointers(self, address: int) -> list[int]:
        return [int(at) for at in self._vector(address, np.dtype("<u8"))]

    def _vector(
        self, address: int, dtype: DTypeLike, *, first: int = 0, count: int | None = None
    ) -> NDArray[np.void]:
        """Return a copy of a vppinfra vector, or of a part of it; empty for NULL."""
        kind = np.dtype(dtype)
        if not address:
            return np.empty(0, kind)
        start = address - self.base
        if not _LENGTH_BEFORE <= start < self.size:
            raise _TornError
        length = int.from_bytes(self.statseg[start - _LENGTH_BEFORE : start - _LENGTH_BEFORE + 4], "little")
        start += first * kind.itemsize
        count = min(length - first, length if count is None else count)
        end = start + max(count, 0) * kind.itemsize
        if end > self.size:
            raise _TornError
        return np.frombuffer(self.statseg[start:end], kind)

    @staticmethod
    def _stack(rows: list[NDArray[np.void]], inner: tuple[int, ...] = ()) -> NDArray[np.uint64]:
        """Return rows of one length as one array; shorter ones are filled with zeros."""
        longest = max((len(row) for row in rows), default=0)
        stacked = np.zeros((len(rows), longest, *inner), np.uint64)
        for number, row in enumerate(rows):
            stacked[number, : len(row)] = row
        return stacked


def _text(raw: bytes) -> str:
    """Return a C string: what stands behind its NUL is left over from other uses of the memory."""
    return raw.partition(b"\0")[0].decode(errors="replace")
