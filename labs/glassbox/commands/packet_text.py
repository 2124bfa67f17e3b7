"""The language in which VPP's packet generator is told what a packet is, as bytes.

``IP4: MAC -> MAC  UDP: ADDRESS -> ADDRESS  UDP: PORT -> PORT  length 22 checksum 0  incrementing 14``: an
Ethernet, an IPv4 and a UDP header, some of their fields, and the payload; each header may be the first.
Fields and their names are those of VPP (src/vnet/ethernet/pg.c, ip/ip4_pg.c, udp/udp_pg.c, tcp/tcp_pg.c,
ip/icmp4.c). A value may be a range, ``10.0.0.2 - 10.0.0.9``: each packet has the next one.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.commands.packet_headers import (
    ETHERNET,
    ETHERNET_TYPES,
    ICMP,
    ICMP_TYPES,
    IP4,
    PROTOCOLS,
    TCP,
    TCP_FLAGS,
    UDP,
    Description,
    Header,
    Range,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_SHOWN = 30  # characters of the text that a refusal quotes, as VPP's do


def describe(text: str, first: str = "") -> Description:
    """Read a description.

    Parameters
    ----------
    text : str
        What stands in ``data { ... }``.
    first : {"ethernet", "ip4", ""}
        Which header the node that gets the packets wants to see first; either if empty.

    Raises
    ------
    LabError
        It cannot be read; the part from which on is quoted.
    """
    reader = _Reader(text)
    headers: list[Header] = []
    if not reader.sees("hex|incrementing"):
        if first != "ip4" and (ethernet := _ethernet(reader)):
            headers.append(ethernet)
        follows = ETHERNET_TYPES["IP4"] if not headers else headers[0].values["type"].low
        if follows == ETHERNET_TYPES["IP4"] and (headers or first != "ethernet") and (ip4 := _ip4(reader)):
            headers.append(ip4)
            transport = _TRANSPORTS.get(ip4.values["protocol"].low)
            if transport and (header := transport(reader)):
                headers.append(header)
    payload = _payload(reader)
    if payload is None or reader.rest:
        raise reader.failed()
    return Description(headers, payload)


class _Reader:
    """A text and how far it has been read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    @property
    def rest(self) -> str:
        """What was not read yet."""
        return self._text[self.at :].strip()

    def sees(self, pattern: str) -> bool:
        """Return whether this comes next."""
        return bool(re.match(rf"\s*(?:{pattern})", self._text[self.at :]))

    def take(self, pattern: str) -> str | None:
        """Read this, if it comes next."""
        found = re.match(rf"\s*({pattern})", self._text[self.at :])
        if not found:
            return None
        self.at += found.end()
        return found[1]

    def failed(self) -> LabError:
        """Return the refusal of what comes next."""
        shown = self.rest if len(self.rest) <= _SHOWN else f"{self.rest[:_SHOWN]}..."
        return LabError(f"failed to parse packet data from `{shown}'")

    def values(self, kind: Callable[[_Reader], int | None], width: int) -> Range:
        """Read a value, or two with a ``-`` between: the first of a range, and its last."""
        start = self.at
        low = kind(self)
        high = kind(self) if low is not None and self.take(r"-(?!>)") else low
        if low is None or high is None or self.sees(r"\+") or not low <= high < 1 << width:
            self.at = start
            raise self.failed()
        return Range(low, high)

    def pair(self, kind: Callable[[_Reader], int | None], width: int) -> dict[str, Range]:
        """Read a source, an arrow and a destination."""
        source = self.values(kind, width)
        if not self.take("->"):
            raise self.failed()
        return {"source": source, "destination": self.values(kind, width)}


def _number(reader: _Reader) -> int | None:
    text = reader.take(r"0x[0-9a-fA-F]+\b|[0-9]+\b")
    return int(text, 16 if "x" in text else 10) if text else None


def _mac(reader: _Reader) -> int | None:
    text = reader.take(r"[0-9a-fA-F]{1,2}(?::[0-9a-fA-F]{1,2}){5}\b")
    return int.from_bytes(bytes(int(each, 16) for each in text.split(":"))) if text else None


def _address(reader: _Reader) -> int | None:
    text = reader.take(r"[0-9]+(?:\.[0-9]+){3}\b")
    try:
        return int(ipaddress.IPv4Address(text)) if text else None
    except ValueError:
        return None


def _named(reader: _Reader, names: dict[str, int], width: int) -> Range | None:
    """Read a name, or a number, and a colon."""
    start = reader.at
    text = reader.take(r"\w+(?=\s*:)")
    number = names.get(text, _number(_Reader(text))) if text else None
    if number is None or number >= 1 << width:
        reader.at = start
        return None
    reader.take(":")
    return Range(number, number)


def _options(reader: _Reader, header: Header, names: tuple[str, ...]) -> None:
    """Read fields by their names, in any order."""
    widths = dict(header.shape)
    while name := reader.take(rf"(?:{'|'.join(names)})\b"):
        header.values[name] = reader.values(_number, widths[name])


def _ethernet(reader: _Reader) -> Header | None:
    if not reader.sees(r"\w+\s*:\s*[0-9a-fA-F]{1,2}:"):
        return None
    header = Header("Ethernet", ETHERNET)
    kind = _named(reader, ETHERNET_TYPES, 16)
    if kind is None:
        raise reader.failed()
    header.values = {"type": kind, **reader.pair(_mac, 48)}
    return header


def _ip4(reader: _Reader) -> Header | None:
    protocol = _named(reader, PROTOCOLS, 8)
    if protocol is None:
        return None
    header = Header("IPv4", IP4)
    header.values = {
        name: Range(value, value) for name, value in (("version", 4), ("header-length", 5), ("ttl", 64))
    }
    header.values |= {"protocol": protocol, **reader.pair(_address, 32)}
    while True:
        before = reader.rest
        _options(reader, header, ("version", "header-length", "tos", "length", "checksum", "ttl"))
        if flag := reader.take(r"(?:mf|MF|df|DF|ce|CE)\b"):
            header.values[flag.lower()] = Range(1, 1)
        if reader.take(r"fragment\s+id\b"):
            header.values["id"] = reader.values(_number, 16)
            offset = reader.values(_number, 16) if reader.take("offset") else Range(0, 0)
            header.values["offset"] = Range(offset.low // 8, offset.high // 8)
        if reader.rest == before:
            return header


def _udp(reader: _Reader) -> Header | None:
    if not reader.take(r"UDP\s*:"):
        return None
    header = Header("UDP", UDP, reader.pair(_number, 16))
    _options(reader, header, ("length", "checksum"))
    return header


def _tcp(reader: _Reader) -> Header | None:
    if not reader.take(r"TCP\s*:"):
        return None
    header = Header("TCP", TCP, {"header-length": Range(5, 5), "window": Range(4096, 4096)})
    header.values |= reader.pair(_number, 16)
    while True:
        before = reader.rest
        _options(reader, header, ("window", "checksum", "seqnum", "acknum"))
        if flag := reader.take(rf"(?:{'|'.join(TCP_FLAGS)})\b"):
            header.values[flag] = Range(1, 1)
        if reader.rest == before:
            return header


def _icmp(reader: _Reader) -> Header | None:
    if not reader.take(r"ICMP\b"):
        return None
    header = Header("ICMP", ICMP)
    name = reader.take(rf"(?:{'|'.join(ICMP_TYPES)})\b")
    kind = Range(ICMP_TYPES[name], ICMP_TYPES[name]) if name else reader.values(_number, 8)
    header.values = {"type": kind}
    _options(reader, header, ("checksum",))
    return header


_TRANSPORTS = {1: _icmp, 6: _tcp, 17: _udp}


def _payload(reader: _Reader) -> bytes | None:
    if reader.take(r"incrementing\b"):
        count = _number(reader)
        return bytes(each & 255 for each in range(count)) if count is not None else None
    digits = reader.take(r"hex\s+0x(?:[0-9a-fA-F]{2})+\b")
    return bytes.fromhex(digits.split("x")[-1]) if digits else None
