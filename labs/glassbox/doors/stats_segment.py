"""The statistics segment as VPP lays it out: a directory of names, and counters anyone may read."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from labs.glassbox.doors.stats_memory import BASE, StatsMemory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

VERSION = 2
SCALAR, SIMPLE, COMBINED, NAMES, EMPTY, SYMLINK, GAUGE = 1, 2, 3, 4, 5, 6, 9  # src/vlib/stats/shared.h
MAX_NAME = 127
"""Bytes of a name in the directory."""

_ENTRY = np.dtype([("type", "<u4"), ("pad", "<u4"), ("value", "<u8"), ("name", "S128")])
_VERSION, _BASE, _EPOCH, _IN_PROGRESS, _DIRECTORY = range(5)  # words of the header
_WORD, _LINE = 8, 64
_TEXT = 64  # bytes of a name in a vector of names, its NUL among them


@dataclass(frozen=True)
class _Rows:
    """The vectors of one counter, one a thread, or of one vector of names."""

    first: int
    stride: int
    count: int
    capacity: int
    pointers: int


class StatsSegment:
    """Counters in memory that any number of readers map, without asking us.

    The arrays it gives out are the shared memory itself, at a fixed place: a data plane writes them
    and does nothing else. How many columns readers see is set by `show`, up to the capacity given at
    the start. Names and lengths are changed inside `changing`, so that no reader is fooled.

    Parameters
    ----------
    size : int
        Bytes of memory in all.
    entries : int
        Names the directory can hold.
    """

    def __init__(self, size: int = 8 << 20, entries: int = 8192) -> None:
        self.memory = StatsMemory(size)
        self._header = self.memory.words
        self._at = self.memory.vector(entries * _ENTRY.itemsize, 0)
        self._directory = self.memory.records(self._at, _ENTRY, entries)
        self._slots: dict[str, int] = {}
        self._free: list[int] = []
        self._rows: dict[str, _Rows] = {}
        self._depth = 0
        self._header[_BASE] = BASE
        self._header[_DIRECTORY] = BASE + self._at
        self._header[_EPOCH] = 1
        self._header[_VERSION] = VERSION

    def close(self) -> None:
        """Hand the memory out no more; arrays in it stay usable. May be called twice."""
        self.memory.close()

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Keep readers from trusting what they read meanwhile. May be nested, to change much at once."""
        self._depth += 1
        self._header[_IN_PROGRESS] = 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._header[_EPOCH] += np.uint64(1)
                self._header[_IN_PROGRESS] = 0

    def scalar(self, name: str) -> NDArray[np.uint64]:
        """Add a single value; return it, shape (1,)."""
        return self._single(name, SCALAR)

    def gauge(self, name: str) -> NDArray[np.uint64]:
        """Add a single value that goes up and down; return it, shape (1,)."""
        return self._single(name, GAUGE)

    def simple(self, name: str, threads: int, columns: int) -> NDArray[np.uint64]:
        """Add a counter of packets.

        Parameters
        ----------
        name : str
        threads, columns : int
            How many there can be. Readers see no column until `show`.

        Returns
        -------
        ndarray of uint64, shape (threads, columns)
            Each row is contiguous and begins a cache line; between rows stand the lengths that readers
            need, so a whole is not. Give each thread its row.
        """
        rows = self._vectors(name, SIMPLE, threads, columns, _WORD)
        return self.memory.array(rows.first, (threads, columns), rows.stride)

    def combined(self, name: str, threads: int, columns: int) -> NDArray[np.uint64]:
        """Add a counter of packets and bytes.

        Returns
        -------
        ndarray of uint64, shape (threads, columns, 2)
            As for `simple`.
        """
        rows = self._vectors(name, COMBINED, threads, columns, 2 * _WORD)
        return self.memory.array(rows.first, (threads, columns, 2), rows.stride)

    def names(self, name: str, capacity: int) -> None:
        """Add a vector of names, to be filled by `set_name`; readers see none until `show`."""
        rows = self._vectors(name, NAMES, capacity, _TEXT, 1)
        self.memory.array(rows.pointers, (capacity,))[:] = 0  # no name
        self.memory.set_length(rows.pointers, 0)

    def set_name(self, name: str, index: int, text: str) -> None:
        """Put a name into a vector of names; it is cut after 63 bytes."""
        rows = self._rows[name]
        raw = text.encode("ascii", errors="replace")[: _TEXT - 1]
        at = rows.first + index * rows.stride
        with self.changing():
            place = self.memory.words[at // _WORD : (at + _TEXT) // _WORD].view(np.uint8)
            place[:] = np.frombuffer(raw.ljust(_TEXT, b"\0"), np.uint8)
            self.memory.set_length(at, len(raw) + 1)
            self.memory.array(rows.pointers, (rows.count,))[index] = BASE + at

    def show(self, name: str, length: int) -> None:
        """Say how many columns of a counter, or names of a vector, readers shall see."""
        rows = self._rows[name]
        is_names = self._directory["type"][self._slots[name]] == NAMES
        if not 0 <= length <= (rows.count if is_names else rows.capacity):
            raise ValueError(f"{name} cannot show {length}")
        with self.changing():
            if is_names:
                self.memory.set_length(rows.pointers, length)
                return
            for number in range(rows.count):
                self.memory.set_length(rows.first + number * rows.stride, length)

    def symlink(self, name: str, target: str, column: int) -> None:
        """Add a name for one column of a counter; a name that is there is turned to it."""
        self._set(name, SYMLINK, self._slots[target] | column << 32)

    def remove(self, name: str) -> None:
        """Take a symlink or single value out of the directory; do nothing if it is not there."""
        slot = self._slots.pop(name, None)
        if slot is not None:
            with self.changing():
                self._directory[slot] = (EMPTY, 0, 0, b"")
            self._free.append(slot)

    def _single(self, name: str, kind: int) -> NDArray[np.uint64]:
        slot = self._set(name, kind, 0)
        return self.memory.array(self._at + slot * _ENTRY.itemsize + _WORD, (1,))

    def _vectors(self, name: str, kind: int, rows: int, capacity: int, width: int) -> _Rows:
        """Make `rows` vectors at equal distances, and the vector of their addresses."""
        stride = -(-(capacity * width + _WORD) // _LINE) * _LINE
        first = self.memory.vector(rows * stride, 0)
        pointers = self.memory.vector(rows * _WORD, rows)
        self.memory.array(pointers, (rows,))[:] = BASE + first + stride * np.arange(rows)
        self._rows[name] = made = _Rows(first, stride, rows, capacity, pointers)
        self._set(name, kind, BASE + pointers)
        return made

    def _set(self, name: str, kind: int, value: int) -> int:
        raw = name.encode("ascii", errors="replace")[:MAX_NAME]
        slot = self._slots.get(name)
        with self.changing():
            if slot is None:
                slot = self._slots[name] = self._free.pop() if self._free else len(self._slots)
                if slot >= len(self._directory):
                    raise ValueError(f"the directory holds no more than {slot} names")
                self.memory.set_length(self._at, max(slot + 1, int(self._header[self._at // _WORD - 1])))
            self._directory[slot] = (kind, 0, value, raw)
        return slot
