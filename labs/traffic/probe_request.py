"""The packet a probe sends, and finding out where it goes: ICMP echo, and ARP (RFC 792, RFC 826)."""

from __future__ import annotations

import ipaddress
import re
import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from labs.errors import LabError
from labs.memif.errors import MemifError
from labs.traffic.stamp import Stamp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labs.memif.link import Link

SMALLEST, LARGEST = 64, 2048
"""Bytes of a frame: the stamp has to fit, and one slot of a ring."""
_ETHERNET = 14
_HEADERS = 28  # bytes of IPv4 and ICMP
_BROADCAST = "ff:ff:ff:ff:ff:ff"
_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_ARP = struct.Struct("!HHBBH6s4s6s4s")


@dataclass(frozen=True)
class Request:
    """An ICMP echo request that carries a stamp.

    Parameters
    ----------
    source, target : str
        IPv4 addresses.
    source_mac, target_mac : str
        Ethernet addresses; not used on a link without Ethernet.
    size : int
        Bytes of the frame with its Ethernet header, 64 to 2048.
    ethernet : bool
        False on a link in mode ip.

    Raises
    ------
    LabError
        An address or a size that cannot be.
    """

    source: str
    target: str
    source_mac: str
    target_mac: str
    size: int = SMALLEST
    ethernet: bool = True

    def __post_init__(self) -> None:
        for each in (self.source, self.target):
            address(each)
        if self.ethernet:
            for each in (self.source_mac, self.target_mac):
                mac(each)
        if not isinstance(self.size, int) or not SMALLEST <= self.size <= LARGEST:
            raise LabError(
                f"A probe cannot send frames of {self.size!r} bytes.",
                f"choose a whole number from {SMALLEST} to {LARGEST}.",
            )

    @property
    def stamp_at(self) -> int:
        """Where the stamp begins, in bytes."""
        return _HEADERS + (_ETHERNET if self.ethernet else 0)

    def frame(self, stream: int) -> NDArray[np.uint8]:
        """Return request number 0, with its checksums.

        Parameters
        ----------
        stream : int
            Tells our packets from others, 0 to 65535; it is the ICMP identifier, too.
        """
        payload = bytes(Stamp(stream, 0, 0)).ljust(self.size - _ETHERNET - _HEADERS, b"\0")
        head = struct.pack("!BBHHH", 8, 0, 0, stream, 0)
        icmp = head[:2] + struct.pack("!H", checksum(head + payload)) + head[4:] + payload
        ends = address(self.source) + address(self.target)
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(icmp), 0, 0x4000, 64, 1, 0) + ends
        ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
        ethernet = mac(self.target_mac) + mac(self.source_mac) + b"\x08\0" if self.ethernet else b""
        return np.frombuffer(ethernet + ip + icmp, np.uint8).copy()

    def sum_of(self, frame: NDArray[np.uint8]) -> int:
        """Return the sum of the ICMP message's 16-bit words, low byte first, without its checksum."""
        icmp = frame[self.stamp_at - 8 :].tobytes()
        return _words(icmp[:2] + b"\0\0" + icmp[4:])


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071) as a number to be written high byte first."""
    return int.from_bytes((~_words(data) & 0xFFFF).to_bytes(2, "little"))


def _words(data: bytes) -> int:
    total = int(np.frombuffer(data + b"\0" * (len(data) % 2), "<u2").sum(dtype=np.int64))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def address(text: str) -> bytes:
    """Return an IPv4 address as 4 bytes.

    Raises
    ------
    LabError
        It is none.
    """
    try:
        return ipaddress.IPv4Address(text).packed
    except ValueError:
        raise LabError(f"{text!r} is no IPv4 address.", "write it as 198.18.200.1.") from None


def mac(text: str) -> bytes:
    """Return an Ethernet address as 6 bytes.

    Raises
    ------
    LabError
        It is none.
    """
    if not isinstance(text, str) or not _MAC.fullmatch(text):
        raise LabError(f"{text!r} is no Ethernet address.", "write it as 02:fe:00:00:00:01.")
    return bytes.fromhex(text.replace(":", ""))


def resolve(link: Link, source: str, source_mac: str, target: str, timeout: float = 2.0) -> str:
    """Ask the other end for its Ethernet address by ARP; it knows ours from then on.

    Raises
    ------
    MemifError
        Nobody answers, or the link is down.
    """
    question = _ARP.pack(1, 0x0800, 6, 4, 1, mac(source_mac), address(source), b"\0" * 6, address(target))
    frame = mac(_BROADCAST) + mac(source_mac) + b"\x08\x06" + question
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        link.send(frame)
        for packet in link.receive(min(0.1, timeout)):
            if found := _answer(packet, target):
                return found
    raise MemifError(
        f"Nobody at {link.path} answers ARP for {target}.",
        "see that the other end has this address and is up, or give target_mac.",
    )


def _answer(packet: bytes, target: str) -> str:
    """Return the Ethernet address that an ARP reply gives for `target`; empty if it is none."""
    if len(packet) < _ETHERNET + _ARP.size or packet[12:14] != b"\x08\x06":
        return ""
    *_, operation, sender_mac, sender, _, _ = _ARP.unpack_from(packet, _ETHERNET)
    return sender_mac.hex(":") if operation == 2 and sender == address(target) else ""  # noqa: PLR2004 - a reply
