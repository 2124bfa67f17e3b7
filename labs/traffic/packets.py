"""What a generator sends: packets made once, many flows of them, and where their stamps go.

Sizes are those of the frame as it lies in memory: with its Ethernet header, without the 4 bytes of checksum
(FCS) that a wire would add. So the smallest frame here, 64 bytes, would be 68 on a wire.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from labs.errors import LabError
from labs.traffic import blocks, stamp
from labs.traffic.headers import ETHERNET, FIELDS, Udp, address, mac, one_of, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MAX_FRAME = 9216
MAX_FLOWS = 1 << 20
MAX_BYTES = 1 << 30
IMIX = (64, 590, 64, 64, 590, 64, 1514, 64, 590, 64, 590, 64)
"""The simple IMIX: of 12 packets 7 small, 4 medium, 1 large, in an order that mixes them.

Testers (Agilent's, Spirent's) know it as IP packets of 40, 576 and 1500 bytes, 7:4:1. Here these are frames
of 64, 590 and 1514 bytes; the smallest has 10 bytes more than it should, for the stamp. FD.io's CSIT takes
64, 570 and 1518.
"""
_LINE = 64


@dataclass(frozen=True, eq=False)
class Packets:
    """Packets ready to be sent: as many kinds as there are sizes or templates, each for every flow.

    The first bytes of a packet, its head, are its flow's own; the rest, its body, all flows share. Round by
    round each flow sends one packet. The kinds follow one another as `pattern` says, one place on in each
    round, so that every flow gets every kind.

    Attributes
    ----------
    heads : ndarray of uint8, shape (kinds, flows, head bytes)
    bodies : ndarray of uint8, shape (kinds, bytes)
        Whole packets, of which the part behind the head is used.
    lengths : ndarray of int64, shape (kinds,)
        Bytes of each kind.
    pattern : ndarray of int64
        Kinds in the order they are sent.
    at : int
        Where the stamp begins; -1 for packets that are sent as they are.
    mode : {"ethernet", "ip"}
        What a packet begins with; the link has to be of the same mode.
    """

    heads: NDArray[np.uint8]
    bodies: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    pattern: NDArray[np.int64]
    at: int
    mode: str = "ethernet"

    @classmethod
    def of(cls, templates: Any, stamp_at: int | None = None, mode: str = "ethernet") -> Packets:  # noqa: ANN401 - scapy need not be there
        """Return packets made from templates; the templates are sent one after the other, as one flow.

        Parameters
        ----------
        templates : bytes, scapy Packet, or a sequence of these
        stamp_at : int, optional
            Byte at which the stamp is to begin; -1 to send the packets as they are. Without it the stamp
            begins the payload of the last UDP header, where scapy made the packets and each has room for it
            at the same byte; else there is none. Under a stamp scapy's UDP checksums are set to 0, which in
            IPv4 says that there is none.
        mode : {"ethernet", "ip"}
            What the packets begin with.

        Raises
        ------
        LabError
            A template that cannot be sent, or has no room for the stamp.
        """
        from labs.traffic.templates import from_templates  # noqa: PLC0415 - it is built on this module

        return from_templates(templates, stamp_at, mode)

    @property
    def flows(self) -> int:
        """How many flows."""
        return int(self.heads.shape[1])

    @property
    def mean_size(self) -> float:
        """Bytes of a packet, on average."""
        return float(self.lengths[self.pattern].mean())

    def plan(self, stream: int) -> NDArray[np.int64]:
        """Return the block that tells a kernel of these packets, which have to live as long as it."""
        plan = np.zeros(blocks.PLAN_SIZE, np.int64)
        plan[blocks.HEADS], plan[blocks.BODIES] = self.heads.ctypes.data, self.bodies.ctypes.data
        plan[blocks.HEAD_BYTES], plan[blocks.BODY_BYTES] = self.heads.shape[2], self.bodies.shape[1]
        plan[blocks.FLOWS], plan[blocks.AT], plan[blocks.STREAM] = self.flows, self.at, stream
        return plan

    def packet(self, kind: int = 0, flow: int = 0) -> bytes:
        """Return a packet as it is before it has a number and a time; its stamp says which flow it is."""
        body = self.bodies[kind, : self.lengths[kind]].copy()
        head = self.heads[kind, flow, : body.size]
        body[: head.size] = head
        return body.tobytes()

    def __str__(self) -> str:
        sizes = ", ".join(str(size) for size in sorted(set(self.lengths.tolist())))
        return f"{self.flows} flow{'s' * (self.flows != 1)} of frames of {sizes} bytes"


def udp(
    src: str = "10.10.1.1",
    dst: str = "10.10.2.2",
    size: int | list[int] | tuple[int, ...] | range = 64,
    flows: int = 1,
    *,
    vary: str = "sport",
    sport: int = 1024,
    dport: int = 9,
    src_mac: str = "02:fe:00:00:00:0a",
    dst_mac: str = "02:fe:00:00:00:0b",
    ttl: int = 64,
    mode: str = "ethernet",
) -> Packets:
    """Return UDP packets over IPv4, with room for a stamp.

    Parameters
    ----------
    src, dst : str
        Addresses of the first flow.
    size : int, or list of int
        Bytes of a frame, without FCS: 64 to 9216 (without an Ethernet header 50 to 9202). Of several sizes,
        one after the other is sent; see also `IMIX`.
    flows : int
        How many flows, from 1 to 1,048,576.
    vary : {"sport", "dport", "src", "dst"}
        What tells one flow from the next: a port or an address that counts up.
    sport, dport : int
        Ports of the first flow. Port 9 is there to discard what it gets (RFC 863).
    src_mac, dst_mac : str
    ttl : int
    mode : {"ethernet", "ip"}
        Whether a packet has an Ethernet header.

    Notes
    -----
    The IPv4 checksum is right for each flow. The UDP checksum is 0, which in IPv4 says that there is none
    (RFC 768): a right one would have to follow the stamp.

    Raises
    ------
    LabError
        A value that cannot be.
    """
    first = {"src": address("src", src), "dst": address("dst", dst), "sport": sport, "dport": dport}
    one_of("vary", vary, tuple(FIELDS))
    one_of("mode", mode, ("ethernet", "ip"))
    for name, value, most in (("sport", sport, 65535), ("dport", dport, 65535), ("ttl", ttl, 255)):
        within(name, value, 0, most)
    within("flows", flows, 1, MAX_FLOWS)
    if flows > (room := FIELDS[vary][1] - first[vary]):
        raise LabError(
            f"There are no {flows} flows to be had by counting {vary} up: there is room for {room}.",
            "begin lower, or vary an address.",
        )
    link_header = b"" if mode == "ip" else mac("dst_mac", dst_mac) + mac("src_mac", src_mac) + b"\x08\x00"
    header = Udp(link_header, first, ttl)
    sizes = list(size) if isinstance(size, list | tuple | range) else [size]
    for each in sizes or [0]:
        most = MAX_FRAME - ETHERNET + len(link_header)
        within("size", each, header.length + stamp.SIZE, most)
    kinds = sorted(set(sizes))
    heads = np.stack([header.rows(each, flows, vary)[:, :_LINE] for each in kinds])
    bodies = [header.rows(each, 1, vary)[0] for each in kinds]
    return assemble(heads, bodies, [kinds.index(each) for each in sizes], header.length, mode)


def imix(src: str = "10.10.1.1", dst: str = "10.10.2.2", flows: int = 1, **options: Any) -> Packets:  # noqa: ANN401 - those of `udp`
    """Return UDP packets in the sizes of `IMIX`. The options are those of `udp`."""
    return udp(src, dst, IMIX, flows, **options)


def heading_of(at: int) -> int:
    """Return the bytes of a head: all cache lines up to the end of a stamp that begins at `at`."""
    return _LINE if at < 0 else -(-(at + stamp.SIZE) // _LINE) * _LINE


def assemble(
    heads: NDArray[np.uint8], frames: Sequence[NDArray[np.uint8]], pattern: Sequence[int], at: int, mode: str
) -> Packets:
    """Return packets, their heads and bodies laid out as the kernel wants them.

    Parameters
    ----------
    heads : ndarray of uint8, shape (kinds, flows, bytes)
        Padded here to whole cache lines.
    frames : sequence of ndarray of uint8
        A whole packet of each kind.
    """
    longest = max(each.size for each in frames)
    heading = heading_of(at)
    if heads.shape[1] * heads.shape[0] * heading + longest * len(frames) > MAX_BYTES:
        raise LabError("So many packets take more than 1 GiB.", "use fewer flows, or fewer sizes.")
    padded = np.zeros((*heads.shape[:2], heading), np.uint8)
    padded[:, :, : heads.shape[2]] = heads[:, :, :heading]
    if at >= 0:  # what of a stamp does not change
        padded[:, :, at : at + stamp.STEADY] = stamp.beginnings(heads.shape[1])
    bodies = np.zeros((len(frames), -(-longest // _LINE) * _LINE), np.uint8)
    for body, frame in zip(bodies, frames, strict=True):
        body[: frame.size] = frame
    lengths = np.array([each.size for each in frames], np.int64)
    return Packets(padded, bodies, lengths, np.array(pattern, np.int64), at, mode)
