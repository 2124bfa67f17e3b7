"""The devices that DPDK's testpmd makes of a link's ends, with rings of a size that is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path


def memif(socket: Path, role: str, ring: int = 1024, *, zero_copy: bool = False) -> str:
    """Return the device of a memif's end: ``role`` is ``server`` or ``client``, the ring a power of two."""
    copy = ",zero-copy=yes" if zero_copy else ""
    return f"net_memif0,role={role},id=0,socket={socket},socket-abstract=no,rsize={_log2(ring)}{copy}"


def virtio_user(socket: Path, ring: int = 1024, mac: str = "02:fe:00:00:00:21") -> str:
    """Return the device of the front end of a vhost-user link, which connects and lends its memory.

    The ring is said, for virtio-user's own is 256: links are compared with rings of one size.
    """
    return f"net_virtio_user0,path={socket},queues=1,queue_size={_power(ring)},mac={mac}"


def af_packet(interface: str) -> str:
    """Return the device of a network interface of the kernel's, over a packet socket."""
    return f"net_af_packet0,iface={interface}"


def tap(interface: str) -> str:
    """Return the device of the program's end of a tap that the kernel has already."""
    return f"net_tap0,iface={interface}"


def vhost(socket: Path) -> str:
    """Return the device of the back end of a vhost-user link, which listens and maps the other's memory."""
    return f"net_vhost0,iface={socket},queues=1,client=0"


def _log2(ring: int) -> int:
    return _power(ring).bit_length() - 1


def _power(ring: int) -> int:
    """Return the ring if it is one.

    Raises
    ------
    LabError
        It is no power of two, or larger than memif and virtio both take.
    """
    if isinstance(ring, bool) or not isinstance(ring, int) or not 2 <= ring <= 16384 or ring & (ring - 1):  # noqa: PLR2004 - said in the hint
        raise LabError(f"A ring cannot have {ring!r} descriptors.", "choose a power of two from 2 to 16384.")
    return ring
