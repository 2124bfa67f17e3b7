"""The control block: all that a kernel knows of a ring, in one array of int64.

One array for every role and direction means that each kernel is compiled once. The four cases differ only in
numbers. With `size` slots and indexes that count modulo 65536:

========================  ==========  ==========  ======================  =================
ring, as used by          we move     peer moves  slots for us            we publish
========================  ==========  ==========  ======================  =================
s2m, client sends         head        tail        size + tail - position  position
m2s, server sends         tail        head        head - position         position
s2m, server receives      tail        head        head - position         position
m2s, client receives      head        tail        tail - position         position + size
========================  ==========  ==========  ======================  =================

so that ``BIAS`` is size in the first case and ``OFFER`` in the last, and both are zero elsewhere.

Our own position is kept here and never read back from shared memory. A client takes the place of its buffers
from a table of its own (``TABLE``), so a server that writes over the shared descriptors moves nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from labs.memif.ring import FLAGS_AT, HEAD_AT, Ring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from labs.memif.regions import Region

# what does not change while the link is up
SIZE, MASK = 0, 1
MINE, THEIRS, FLAGS, SLOTS, TABLE = 2, 3, 4, 5, 6  # addresses
BIAS, OFFER = 7, 8
REGIONS, DOORBELL = 9, 10
# what kernels keep; a cache line of its own
POSITION, LAST, STOP = 16, 17, 18
PACKETS, BYTES, FULL, RUNG, DROPPED = 19, 20, 21, 22, 23
SCRATCH = 24  # 3 words for system calls
# where a client lends memory of its own (see `labs.glassbox.lending`): the address of the list of what its
# slots name, how long each may be, how far slots name anything, and those that are part of a later one's
KEPT, LENT, EDGE, PARTS = 27, 28, 29, 30
REGION_TABLE = 32  # base and size of each region

# what a kernel returns instead of a count
INDEX_JUMPED = -1
BAD_REGION = -2
OUTSIDE_REGION = -3
BAD_LENGTH = -4
ENDLESS_CHAIN = -5
BAD_INPUT = -6

PEER_FAULTS = {
    INDEX_JUMPED: "index jumped",
    BAD_REGION: "descriptor names no region",
    OUTSIDE_REGION: "descriptor points outside its region",
    BAD_LENGTH: "descriptor has a bad length",
    ENDLESS_CHAIN: "chain does not end",
}
"""What the peer is told."""


def control_block(
    ring: Ring,
    regions: Sequence[Region],
    *,
    is_client: bool,
    doorbell: int,
    table: NDArray[np.void] | None = None,
) -> NDArray[np.int64]:
    """Return the control block of a ring.

    Parameters
    ----------
    doorbell : int
        The eventfd to ring, or to be woken by.
    table : ndarray of DESCRIPTOR, optional
        A client's own descriptors; it must live as long as the block.

    Returns
    -------
    ndarray of int64, shape (32 + 2 * regions,)
    """
    block = np.zeros(REGION_TABLE + 2 * len(regions), np.int64)
    head, tail = ring.address + HEAD_AT, ring.address + ring.line
    block[SIZE], block[MASK] = ring.size, ring.size - 1
    block[MINE], block[THEIRS] = (head, tail) if is_client else (tail, head)
    block[FLAGS] = ring.address + FLAGS_AT
    block[SLOTS] = ring.address + 2 * ring.line
    block[TABLE] = block[SLOTS] if table is None else table.ctypes.data
    if is_client:
        block[BIAS if ring.place.is_s2m else OFFER] = ring.size
    block[REGIONS], block[DOORBELL] = len(regions), doorbell
    for region in regions:
        block[REGION_TABLE + 2 * region.index] = region.address
        block[REGION_TABLE + 2 * region.index + 1] = region.size
    return block
