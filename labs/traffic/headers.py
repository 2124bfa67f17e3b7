"""Ethernet, IPv4 and UDP headers for many flows at once."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from labs.errors import LabError

if TYPE_CHECKING:
    from numpy.typing import NDArray

ETHERNET, IPV4, UDP = 14, 20, 8
"""Bytes of the headers."""
FIELDS = {"src": (12, 1 << 32), "dst": (16, 1 << 32), "sport": (20, 1 << 16), "dport": (22, 1 << 16)}
"""What can vary: where it is, from the IPv4 header on, and how many values it has."""
_CHECKSUM_AT = 10
_PROTOCOL = 17


@dataclass(frozen=True)
class Udp:
    """The headers of UDP packets.

    Attributes
    ----------
    link_header : bytes
        The Ethernet header, or nothing.
    first : dict
        Addresses and ports of the first flow, as numbers, by their names in `FIELDS`.
    ttl : int
    """

    link_header: bytes
    first: dict[str, int]
    ttl: int

    @property
    def length(self) -> int:
        """Bytes of all headers."""
        return len(self.link_header) + IPV4 + UDP

    def rows(self, size: int, flows: int, vary: str) -> NDArray[np.uint8]:
        """Return packets of `size` bytes, one for each flow: ndarray of uint8, shape (flows, bytes).

        Of many flows, only the first 64 bytes. The payload counts from 0 to 255 and on from 0.
        """
        begin = len(self.link_header)
        whole = np.arange(size, dtype=np.int64) - self.length
        row = np.frombuffer(self.link_header + self._ip(size - begin), np.uint8)
        packet = whole.astype(np.uint8)
        packet[: row.size] = row
        if flows == 1:
            return packet[np.newaxis]
        rows = np.tile(packet[:64], (flows, 1))
        at, values = FIELDS[vary]
        value = self.first[vary] + np.arange(flows, dtype=np.int64)
        wide = ">u4" if values == 1 << 32 else ">u2"
        field = value.astype(wide).view(np.uint8).reshape(flows, -1)
        rows[:, begin + at : begin + at + field.shape[1]] = field
        total = checksums(rows[:, begin : begin + IPV4])
        rows[:, begin + _CHECKSUM_AT : begin + _CHECKSUM_AT + 2] = (
            total.astype(">u2").view(np.uint8).reshape(-1, 2)
        )
        return rows

    def _ip(self, size: int) -> bytes:
        """Return the IPv4 and UDP headers of the first flow, in a packet of `size` bytes."""
        first = self.first
        ip = struct.pack(
            ">BBHHHBBHII", 0x45, 0, size, 0, 0, self.ttl, _PROTOCOL, 0, first["src"], first["dst"]
        )
        total = int(checksums(np.frombuffer(ip, np.uint8)[np.newaxis])[0])
        ip = ip[:_CHECKSUM_AT] + struct.pack(">H", total) + ip[_CHECKSUM_AT + 2 :]
        return ip + struct.pack(">HHHH", first["sport"], first["dport"], size - IPV4, 0)


def checksums(headers: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the Internet checksum (RFC 1071) of each row, leaving out what IPv4 has at its place."""
    words = np.ascontiguousarray(headers).view(">u2").astype(np.int64)
    words[:, _CHECKSUM_AT // 2] = 0
    total: NDArray[np.int64] = words.sum(axis=1)
    for _ in range(2):
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def address(name: str, text: str) -> int:
    """Return an IPv4 address as a number.

    Raises
    ------
    LabError
        It is none.
    """
    try:
        return int(ipaddress.IPv4Address(text))
    except ValueError:
        raise LabError(f"{name} cannot be {text!r}.", "use an IPv4 address, as 10.10.1.1.") from None


def mac(name: str, text: str) -> bytes:
    """Return an Ethernet address as 6 bytes.

    Raises
    ------
    LabError
        It is none.
    """
    try:
        parts = bytes(int(each, 16) for each in text.split(":"))
    except ValueError:
        parts = b""
    if len(parts) != 6:  # noqa: PLR2004 - as many as an address has
        raise LabError(f"{name} cannot be {text!r}.", "use an Ethernet address, as 02:fe:00:00:00:0a.")
    return parts


def within(name: str, value: int, low: int, high: int) -> None:
    """Check a whole number.

    Raises
    ------
    LabError
        It is none, or out of range.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise LabError(f"{name} cannot be {value!r}.", f"use a whole number from {low} to {high}.")


def one_of(name: str, value: str, choices: tuple[str, ...]) -> str:
    """Check a choice and return it.

    Raises
    ------
    LabError
        It is none of them.
    """
    if value not in choices:
        raise LabError(f"{name} cannot be {value!r}.", f"use {' or '.join(map(repr, choices))}.")
    return value
