"""Regions: shared memory that a client makes and a server maps.

A file descriptor from a peer is not to be trusted. Whoever may write the file may also shrink it, and
touching a page that is gone kills the process with SIGBUS. So a region is mapped only when nothing can
shrink it:

* VPP and DPDK put the seal F_SEAL_SHRINK on every memfd they make for memif (VPP: vppinfra/linux/mem.c,
  clib_mem_vm_create_fd; DPDK: rte_eth_memif.c, memif_region_init_shm). So does VPP's buffer pool on 4 KiB
  pages, which a zero-copy client lends us. Those are mapped as they are.
* A memfd that can still be sealed, we seal ourselves. The peer cannot take that back.
* What no seal can hold (a plain file, a memfd made without MFD_ALLOW_SEALING, huge pages, whose pool can run
  dry) is refused, unless the caller trusts the peer (``trust=True``). DPDK's zero-copy client and VPP's
  zero-copy client on huge pages are such peers.

The size is read after the seal is on, so it cannot change between the check and the mapping. Holes punched
into a sealed memfd read as zeros and do no harm.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from labs.memif.errors import BadMemory, MemifError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_SIZE = 1 << 32
"""Bytes; a descriptor's offset has 32 bits, so what lies beyond cannot be named."""

_SEALS = {
    fcntl.F_SEAL_SEAL: "seal",
    fcntl.F_SEAL_SHRINK: "shrink",
    fcntl.F_SEAL_GROW: "grow",
    fcntl.F_SEAL_WRITE: "write",
}


@dataclass(frozen=True, eq=False)
class Region:
    """A mapped region.

    Attributes
    ----------
    index : int
    memory : ndarray of uint8, shape (size,)
        Holds the mapping; it goes when the last view of it goes.
    seals : tuple of str
        The seals on the file when it was mapped.
    is_ours : bool
        Whether this process made it.
    """

    index: int
    memory: NDArray[np.uint8]
    seals: tuple[str, ...]
    is_ours: bool

    @property
    def size(self) -> int:
        """Bytes."""
        return self.memory.size

    @property
    def address(self) -> int:
        """Where the first byte is mapped in this process."""
        return int(self.memory.ctypes.data)


@dataclass(frozen=True, eq=False)
class Lent:
    """Memory of a client's own that it lends to its servers, as region 1 of each link.

    Attributes
    ----------
    region : Region
    descriptor : int
        Its file, for the links to send; the owner's to close.
    """

    region: Region
    descriptor: int


def make_region(index: int, size: int, name: str) -> tuple[Region, int]:
    """Make a region of zeros, sealed against shrinking and growing.

    Parameters
    ----------
    index, size : int
        Place in the link's list of regions; bytes.
    name : str
        Shown in ``/proc/PID/fd``.

    Returns
    -------
    (Region, int)
        The region, and its file descriptor, for the caller to send and to close.
    """
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        memory = _map(descriptor, size)
    except OSError as error:
        os.close(descriptor)
        raise MemifError(
            f"There is no room for {size} bytes of shared memory: {error.strerror}.",
            "use fewer queues, smaller rings or smaller buffers.",
        ) from None
    return Region(index, memory, seals_of(descriptor) or (), is_ours=True), descriptor


def map_region(index: int, size: int, descriptor: int, *, trust: bool = False) -> Region:
    """Check and map a region that a peer sent.

    Parameters
    ----------
    index, size : int
        As the peer's ADD_REGION says.
    descriptor : int
        The peer's; it stays the caller's to close.
    trust : bool
        Map memory even if the peer could take it away again.

    Raises
    ------
    BadMemory
        The file is not what the message says, or cannot be mapped safely.
    """
    if not 0 < size <= MAX_SIZE:
        raise BadMemory(
            f"The peer's region {index} is to have {size} bytes.",
            "at most 4 GiB can be named.",
            reason="bad region size",
        )
    if not trust:
        _hold(index, descriptor)
    actual = os.fstat(descriptor)
    if not stat.S_ISREG(actual.st_mode) or actual.st_size < size:
        raise BadMemory(
            f"The peer's region {index} has {actual.st_size} bytes, not the {size} it said.",
            reason="region is smaller than it says",
        )
    try:
        memory = _map(descriptor, size)
    except OSError as error:
        raise BadMemory(
            f"The peer's region {index} cannot be mapped: {error.strerror}.", reason="cannot map region"
        ) from None
    return Region(index, memory, seals_of(descriptor) or (), is_ours=False)


def seals_of(descriptor: int) -> tuple[str, ...] | None:
    """Return the names of a file's seals; None where there can be none."""
    try:
        seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
    except OSError:
        return None
    return tuple(name for bit, name in _SEALS.items() if seals & bit)


def _hold(index: int, descriptor: int) -> None:
    """See to it that the file cannot shrink."""
    with contextlib.suppress(OSError):
        if "shrink" not in (seals_of(descriptor) or ()):
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    seals = seals_of(descriptor)
    is_huge = seals is not None and os.fstatvfs(descriptor).f_bsize > mmap.PAGESIZE
    if is_huge or "shrink" not in (seals or ()):
        raise BadMemory(
            f"The peer could take region {index} away while we use it: "
            + ("it lies on huge pages." if is_huge else "it is not sealed against shrinking."),
            "if you trust the peer, say trust=True; or turn its zero-copy off.",
            reason="region is not sealed",
        )


def _map(descriptor: int, size: int) -> NDArray[np.uint8]:
    mapping = mmap.mmap(descriptor, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    return np.frombuffer(mapping, np.uint8)
