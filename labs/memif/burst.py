"""A burst: many packets in one array, so that none of them has to be an object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from labs.memif.errors import MemifError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

ALIGNMENT = 64
"""Bytes; each packet of a burst that we make begins at a multiple of it."""
MAX_BYTES = 1 << 31


@dataclass(frozen=True, eq=False)
class Burst:
    """Packets, end to end in one array.

    Attributes
    ----------
    data : ndarray of uint8
        All bytes.
    offsets, lengths : ndarray of uint32, shape (packets,)
        Where each packet begins in `data`, and its bytes.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.uint32]
    lengths: NDArray[np.uint32]

    def __len__(self) -> int:
        return self.lengths.size

    def __getitem__(self, number: int) -> NDArray[np.uint8]:
        """Return a view of one packet."""
        begin = int(self.offsets[number])
        return self.data[begin : begin + int(self.lengths[number])]

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        return (self[number] for number in range(len(self)))

    def packets(self) -> list[bytes]:
        """Return every packet as bytes of its own."""
        return [each.tobytes() for each in self]

    def copy(self) -> Burst:
        """Return a burst that does not share memory with this one."""
        return Burst(self.data.copy(), self.offsets.copy(), self.lengths.copy())

    @classmethod
    def empty(cls, packets: int, size: int) -> Burst:
        """Return room for so many packets of so many bytes altogether."""
        counts = np.zeros(packets, np.uint32)
        return cls(np.zeros(size, np.uint8), counts, counts.copy())

    @classmethod
    def of(cls, packets: Burst | ArrayLike | Sequence[bytes]) -> Burst:
        """Return packets as a burst.

        Parameters
        ----------
        packets : Burst, sequence of bytes-like, or ndarray of uint8 with two dimensions
            Of an array, each row is a packet; it is not copied when its rows lie end to end.

        Raises
        ------
        MemifError
            A packet is empty, or it is no packets at all.
        """
        if isinstance(packets, Burst):
            return packets
        if isinstance(packets, np.ndarray):
            return cls._of_rows(packets)
        try:
            parts = [np.frombuffer(each, np.uint8) for each in packets]  # type: ignore[union-attr, arg-type] # TypeError otherwise
        except (TypeError, ValueError):
            raise MemifError(
                f"A {type(packets).__name__} is not a list of packets.",
                "give a list of bytes, or an array of uint8 with one packet in each row.",
            ) from None
        lengths = np.array([each.size for each in parts], np.uint64)
        steps = (lengths + (ALIGNMENT - 1)) // ALIGNMENT * ALIGNMENT
        if not lengths.all() or steps.sum() > MAX_BYTES:
            raise MemifError("A packet has no bytes, or all together have too many.", "send fewer at a time.")
        offsets = np.concatenate((np.zeros(1, np.uint64), np.cumsum(steps)[:-1])) if parts else steps
        burst = cls(
            np.zeros(int(steps.sum()), np.uint8), offsets.astype(np.uint32), lengths.astype(np.uint32)
        )
        for number, part in enumerate(parts):
            burst[number][:] = part
        return burst

    @classmethod
    def _of_rows(cls, rows: NDArray[np.uint8]) -> Burst:
        if rows.ndim != 2 or rows.dtype != np.uint8 or rows.shape[1] == 0 or rows.size > MAX_BYTES:  # noqa: PLR2004 - packets and bytes
            raise MemifError(
                f"An array of {rows.dtype} with shape {rows.shape} is not an array of packets.",
                "use uint8, with one packet in each row.",
            )
        count, width = rows.shape
        offsets = np.arange(count, dtype=np.uint32) * np.uint32(width)
        return cls(np.ascontiguousarray(rows).reshape(-1), offsets, np.full(count, width, np.uint32))


def listed(packets: Any) -> Any:  # noqa: ANN401 - scapy need not be there
    """Return scapy packets, and a single packet, as a list of bytes."""
    if isinstance(packets, bytes | bytearray | memoryview):
        return [packets]
    if hasattr(packets, "__bytes__"):
        return [bytes(packets)]
    if isinstance(packets, list | tuple):
        return [bytes(each) if hasattr(each, "__bytes__") else each for each in packets]
    return packets
