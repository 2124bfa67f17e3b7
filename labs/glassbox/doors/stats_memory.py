"""Memory that others may read, with vectors in it as VPP lays them out."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from typing import TYPE_CHECKING

import numpy as np

from labs.errors import LabError

if TYPE_CHECKING:
    from numpy.typing import NDArray

BASE = 0x1_0000_0000
"""The address at which readers are told that the memory begins. They take it off again: any will do."""

_WORD = 8
_LINE = 64  # bytes of a cache line: what one thread writes shall not share one with another's


class StatsMemory:
    """Shared memory, given out piece by piece and never taken back.

    A vector in it is an array with its length in the eight bytes before (src/vppinfra/vec.h).

    Parameters
    ----------
    size : int
        Bytes. What is not used costs nothing.

    Attributes
    ----------
    shared : int
        A descriptor of the memory that cannot be written through.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        own = os.memfd_create("glass-box stats", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(own, size)
            # Readers may rely on its size.
            fcntl.fcntl(own, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
            self._map = mmap.mmap(own, size)
            self.shared = _read_only(own)
        finally:
            os.close(own)
        self.words: NDArray[np.uint64] = np.frombuffer(self._map, np.uint64)
        self._used = _LINE

    def close(self) -> None:
        """Hand out no more. The memory goes when the last array in it does. May be called twice."""
        shared, self.shared = self.shared, -1
        if shared >= 0:
            os.close(shared)

    def vector(self, size: int, length: int) -> int:
        """Make a vector, zeroed, on cache lines of its own.

        Parameters
        ----------
        size : int
            Bytes it may ever hold.
        length : int
            Elements it has now.

        Returns
        -------
        int
            Where it begins, in bytes from the beginning of the memory.

        Raises
        ------
        LabError
            The memory is used up.
        """
        start = -(-(self._used + _WORD) // _LINE) * _LINE
        end = start + size
        if end + _WORD > self.size:  # VPP's own reader takes a vector at the very end for one beyond
            raise LabError(
                f"The statistics need more than {self.size} bytes.",
                "this is a fault of the glass box: please report it.",
            )
        self._used = end
        self.set_length(start, length)
        return start

    def set_length(self, at: int, length: int) -> None:
        """Say how many elements a vector has."""
        self.words[at // _WORD - 1] = length

    def array(self, at: int, shape: tuple[int, ...], row: int = 0) -> NDArray[np.uint64]:
        """Return the memory from `at` on as an array of 64-bit numbers.

        Parameters
        ----------
        at : int
            Where it begins, in bytes.
        shape : tuple of int
        row : int
            Bytes from one row to the next where that is more than a row's own size.
        """
        strides = [_WORD] * len(shape)
        for axis in range(len(shape) - 2, -1, -1):
            strides[axis] = strides[axis + 1] * shape[axis + 1]
        if row:
            strides[0] = row
        return np.ndarray(shape, np.uint64, self._map, at, tuple(strides))

    def records(self, at: int, dtype: np.dtype[np.void], count: int) -> NDArray[np.void]:
        """Return the memory from `at` on as an array of records."""
        return np.ndarray((count,), dtype, self._map, at)


def _read_only(descriptor: int) -> int:
    with contextlib.suppress(OSError):
        return os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    return os.dup(descriptor)
