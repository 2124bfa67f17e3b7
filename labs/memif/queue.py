"""A queue: one ring as one side uses it, with its doorbell, its counters and its lock."""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from labs.memif import control, kernels
from labs.memif.burst import Burst
from labs.memif.errors import BadMemory, Down, MemifError
from labs.memif.ring import FLAGS_AT, HEAD_AT, MASK_INTERRUPT, Ring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from labs.memif.regions import Region

_BURST_ROOM = 1 << 20  # bytes of the packets of one burst


@dataclass(frozen=True)
class Counters:
    """What went through a queue, or through all queues of a direction, since the link came up.

    Attributes
    ----------
    packets, bytes : int
    full : int
        Times that a burst met a ring without room for all of it.
    rung : int
        Doorbells rung.
    dropped : int
        Received packets that were empty, or too large for the burst.
    """

    packets: int = 0
    bytes: int = 0
    full: int = 0
    rung: int = 0
    dropped: int = 0

    def __add__(self, other: Counters) -> Counters:
        return Counters(
            *(one + another for one, another in zip(self._values(), other._values(), strict=True))
        )

    def _values(self) -> tuple[int, ...]:
        return (self.packets, self.bytes, self.full, self.rung, self.dropped)


class Queue:
    """One ring, for one direction.

    Parameters
    ----------
    ring : Ring
    regions : sequence of Region
        Kept mapped as long as the queue lives.
    doorbell : int
        An eventfd; it becomes the queue's, to be closed.
    is_client : bool
    table : ndarray of DESCRIPTOR, optional
        A client's own descriptors.
    lends : int
        Bytes of each packet that a zero-copy client lends, and others put into the slots; 0 for none.
    """

    def __init__(
        self,
        ring: Ring,
        regions: Sequence[Region],
        doorbell: int,
        *,
        is_client: bool,
        table: NDArray[np.void] | None = None,
        lends: int = 0,
    ) -> None:
        self.ring = ring
        self.lock = threading.Lock()
        self.control = control.control_block(
            ring, regions, is_client=is_client, doorbell=doorbell, table=table
        )
        self.kept: NDArray[np.int64] | None = np.zeros(ring.size, np.int64) if lends else None
        self._kept = (tuple(regions), table)
        if self.kept is not None:
            self.control[control.KEPT], self.control[control.LENT] = self.kept.ctypes.data, lends
            self.control[control.OFFER] = 0
        self._flags = ring.memory[FLAGS_AT : FLAGS_AT + 2].view("<u2")
        self._room: Burst | None = None
        self._polls = False
        self.sends = is_client == ring.place.is_s2m
        self.on_fault: Callable[[MemifError], None] = lambda _error: None

    @property
    def counters(self) -> Counters:
        """What went through so far."""
        return Counters(*(int(self.control[each]) for each in range(control.PACKETS, control.DROPPED + 1)))

    @property
    def doorbell(self) -> int:
        """The eventfd; -1 when closed."""
        return int(self.control[control.DOORBELL])

    def send(self, burst: Burst, first: int = 0) -> int:
        """Send a burst from packet `first` on, as far as there is room now, and return how many went.

        Raises
        ------
        BadMemory
            The peer broke the ring.
        MemifError
            A packet has no bytes, or more than the whole ring can take.
        """
        with self.in_use() as block:
            return self.checked(
                kernels.send(block, burst.data, burst.offsets, burst.lengths, first, len(burst))
            )

    def receive(self, most: int) -> Burst:
        """Return what packets there are, `most` of them; the memory is used again by the next call.

        Raises
        ------
        BadMemory
            The peer broke the ring.
        """
        if self._room is None or len(self._room) != most:
            self._room = Burst.empty(most, _BURST_ROOM)
        room = self._room
        with self.in_use() as block:
            count = self.checked(kernels.receive(block, room.data, room.offsets, room.lengths))
        return Burst(room.data, room.offsets[:count], room.lengths[:count])

    def waiting(self) -> int:
        """Return how many slots hold packets for us (or, where we send, how many are free)."""
        with self.in_use() as block:
            return self.checked(kernels.waiting(block))

    def polls(self, *, polls: bool) -> None:
        """Tell the sender whether we poll (no doorbell, please) or sleep."""
        self._polls = polls
        self._flags[0] = MASK_INTERRUPT if polls else 0

    @contextlib.contextmanager
    def unmasked(self) -> Iterator[None]:
        """Have the doorbell rung for a while, whether we poll or not."""
        self._flags[0] = 0
        try:
            yield
        finally:
            self.polls(polls=self._polls)

    def clear_doorbell(self) -> None:
        """Forget the rings so far."""
        with self.lock, contextlib.suppress(OSError):
            os.eventfd_read(self.doorbell)

    def stop(self) -> None:
        """Tell kernels that loop on this queue to return."""
        self.control[control.STOP] = 1

    def close(self) -> None:
        """Close the doorbell; nothing is sent or received any more."""
        self.stop()
        with self.lock:
            if (doorbell := self.doorbell) >= 0:
                self.control[control.DOORBELL] = -1
                os.close(doorbell)

    def offer_all(self) -> None:
        """Offer every slot of a client's receiving ring.

        That is for after the server's CONNECTED: DPDK's sets head and tail to zero just before
        (rte_eth_memif.c, memif_connect).
        """
        if not self.sends and self.kept is None:
            self.ring.memory[HEAD_AT : HEAD_AT + 2].view("<u2")[0] = self.ring.size

    @contextlib.contextmanager
    def in_use(self) -> Iterator[NDArray[np.int64]]:
        """Hold the queue and yield its control block, for a kernel; nothing is closed meanwhile.

        A kernel that runs long has to return soon after ``block[STOP]`` is set.

        Raises
        ------
        Down
            The link is down.
        """
        with self.lock:
            if self.control[control.STOP]:
                raise Down("The link is down.", "wait_up() waits until it is up again.")
            yield self.control

    def checked(self, result: int) -> int:
        """Return a kernel's result, or raise what a negative one means, and end the link if the peer did it.

        Raises
        ------
        BadMemory
            The peer broke the ring.
        MemifError
            A packet cannot be sent.
        """
        if result >= 0:
            return result
        if result == control.BAD_INPUT:
            raise MemifError(
                "A packet has no bytes, or more than the whole ring can take.",
                f"this ring takes {self.ring.size} slots' worth of bytes at most.",
            )
        reason = control.PEER_FAULTS[result]
        error = BadMemory(f"The peer broke a ring: {reason}.", reason=reason)
        self.on_fault(error)
        try:
            raise error
        finally:
            del error  # this call and the error would hold each other, and the peer's memory mapped
