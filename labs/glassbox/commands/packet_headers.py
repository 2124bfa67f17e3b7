"""Headers with their fields, and the packets that are made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from labs.glassbox.pinging import checksum

ETHERNET_TYPES = {"IP4": 0x0800, "ARP": 0x0806, "IP6": 0x86DD}
PROTOCOLS = {"ICMP": 1, "TCP": 6, "UDP": 17, "GRE": 47, "IPSEC_ESP": 50, "OSPF": 89, "SCTP": 132}
ICMP_TYPES = {"echo_reply": 0, "destination_unreachable": 3, "echo_request": 8, "time_exceeded": 11}
TCP_FLAGS = ("FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR")

ETHERNET = (("destination", 48), ("source", 48), ("type", 16))
IP4 = (
    *(("version", 4), ("header-length", 4), ("tos", 8), ("length", 16), ("id", 16), ("ce", 1), ("df", 1)),
    *(("mf", 1), ("offset", 13), ("ttl", 8), ("protocol", 8), ("checksum", 16)),
    *(("source", 32), ("destination", 32)),
)
UDP = (("source", 16), ("destination", 16), ("length", 16), ("checksum", 16))
TCP = (
    *(("source", 16), ("destination", 16), ("seqnum", 32), ("acknum", 32), ("header-length", 4), ("none", 4)),
    *((name, 1) for name in reversed(TCP_FLAGS)),
    *(("window", 16), ("checksum", 16), ("urgent", 16)),
)
ICMP = (("type", 8), ("code", 8), ("checksum", 16))


@dataclass(frozen=True)
class Range:
    """The values of a field, from the first packet's on."""

    low: int
    high: int

    def at(self, number: int) -> int:
        """Return the value in the packet of that number."""
        return self.low + number % (self.high - self.low + 1)


@dataclass
class Header:
    """A header: its fields with their widths in bits, and their values.

    ``length`` and ``checksum`` are made right where they are not given.
    """

    kind: str
    shape: tuple[tuple[str, int], ...]
    values: dict[str, Range] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return sum(width for _, width in self.shape) // 8

    def fields(self, number: int) -> dict[str, int]:
        """Return the fields that are given, for the packet of that number."""
        return {name: values.at(number) for name, values in self.values.items()}

    def pack(self, fields: dict[str, int]) -> bytes:
        """Return its bytes; fields that are not given are zero."""
        whole = 0
        for name, width in self.shape:
            whole = whole << width | fields.get(name, 0) & ((1 << width) - 1)
        return whole.to_bytes(self.size)


@dataclass
class Description:
    """What a stream's packets are.

    Attributes
    ----------
    headers : list of Header
        The outermost first.
    payload : bytes
    """

    headers: list[Header]
    payload: bytes

    @property
    def header_size(self) -> int:
        """The bytes of all headers."""
        return sum(header.size for header in self.headers)

    @property
    def count(self) -> int:
        """How many packets there are until the first comes again."""
        return math.lcm(*(v.high - v.low + 1 for each in self.headers for v in each.values.values()))

    def packet(self, size: int, number: int = 0) -> bytes:
        """Return one packet: the payload is cut, or filled up with zeros, to make it `size` bytes.

        Parameters
        ----------
        size : int
            At least `header_size`.
        number : int
            From 0.
        """
        room = size - self.header_size
        made = self.payload[:room].ljust(room, b"\0")
        for place in range(len(self.headers) - 1, -1, -1):
            header = self.headers[place]
            fields = header.fields(number)
            fields.setdefault("length", header.size + len(made))
            if "checksum" not in fields:
                raw = header.pack(fields)
                above = self.headers[place - 1].fields(number) if place else {}
                fields["checksum"] = _checksum(header, raw, made, above)
            made = header.pack(fields) + made
        return made


def _checksum(header: Header, raw: bytes, behind: bytes, above: dict[str, int]) -> int:
    """Return the right checksum of a header that has a field for it; 0 for Ethernet."""
    if header.kind == "IPv4":
        return checksum(raw)
    if header.kind == "ICMP":
        return checksum(raw + behind)
    if header.kind in ("UDP", "TCP"):
        size = len(raw) + len(behind)
        pseudo = above["source"].to_bytes(4) + above["destination"].to_bytes(4)
        pseudo += above["protocol"].to_bytes(2) + size.to_bytes(2)
        right = checksum(pseudo + raw + behind)
        return right or (0xFFFF if header.kind == "UDP" else 0)  # 0 would mean: not computed
    return 0
