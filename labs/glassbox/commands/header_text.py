"""Headers as VPP prints them in a trace: bytes in, lines out.

After format_ethernet_header, format_ip4_header and so on in VPP's src/vnet.
"""

from __future__ import annotations

import ipaddress
import struct

from labs.glassbox.commands.columns import mac_text
from labs.glassbox.commands.packet_headers import ETHERNET_TYPES, ICMP_TYPES, PROTOCOLS, TCP_FLAGS
from labs.glassbox.pinging import checksum

_TYPES = {number: name for name, number in ETHERNET_TYPES.items()}
_PROTOCOLS = {number: name for name, number in PROTOCOLS.items()}
_ICMP_TYPES = {number: name for name, number in ICMP_TYPES.items()}
_ARP_OPERATIONS = {1: "request", 2: "reply"}
_ECN = ("NON_ECN", "ECT_1", "ECT_0", "CE")
_AF_CLASSES = range(1, 5)
_FLAGS = ((0x8000, "CONGESTION"), (0x2000, "MORE_FRAGMENTS"), (0x4000, "DONT_FRAGMENT"))

_ETHERNET, _ARP, _IP4, _UDP, _TCP, _ICMP = 14, 28, 20, 8, 20, 8
_PLAIN = 5  # words of an IPv4 or TCP header without options


def ethernet_lines(raw: bytes, *, deep: bool = False) -> list[str]:
    """Return an Ethernet header; `deep`: with those behind it."""
    if len(raw) < _ETHERNET:
        return ["ethernet header truncated"]
    kind = int.from_bytes(raw[12:14])
    head = f"{_TYPES.get(kind, f'0x{kind:04x}')}: {mac_text(raw[6:12])} -> {mac_text(raw[:6])}"
    follows = {0x0800: ip4_lines, 0x0806: arp_lines}.get(kind)
    return [head, *(follows(raw[_ETHERNET:]) if deep and follows else [])]


def arp_lines(raw: bytes) -> list[str]:
    """Return an ARP packet for IPv4 over Ethernet."""
    if len(raw) < _ARP:
        return ["ARP header truncated"]
    hardware, protocol, long, short, operation = struct.unpack("!HHBBH", raw[:8])
    kinds = (
        f"{'ethernet' if hardware == 1 else f'0x{hardware:x}'}/{_TYPES.get(protocol, f'0x{protocol:04x}')}"
    )
    ends = (f"{mac_text(raw[at : at + 6])}/{_address(raw[at + 6 : at + 10])}" for at in (8, 18))
    name = _ARP_OPERATIONS.get(operation, f"unknown {operation}")
    return [f"{name}, type {kinds}, address size {long}/{short}", " -> ".join(ends)]


def ip4_lines(raw: bytes) -> list[str]:
    """Return an IPv4 header and the one behind it."""
    if len(raw) < _IP4:
        return ["IP header truncated"]
    first, tos, length, number, where, ttl, protocol, sum_, source, target = struct.unpack(
        "!BBHHHBBH4s4s", raw[:_IP4]
    )
    words = first & 15
    lines = [f"{_protocol(protocol)}: {_address(source)} -> {_address(target)}"]
    if first != 0x45:  # noqa: PLR2004 - version 4, five words
        lines.append(f"  version {first >> 4}, header length {words * 4}")
    right = checksum(raw[:10] + b"\0\0" + raw[12 : max(words, _PLAIN) * 4])
    wrong = "" if right == sum_ else f" (should be 0x{right:04x})"
    lines.append(
        f"  tos 0x{tos:02x}, ttl {ttl}, length {length}, checksum 0x{sum_:04x}{wrong}"
        f" dscp {_dscp(tos >> 2)} ecn {_ECN[tos & 3]}"
    )
    offset = 8 * (where & 0x1FFF)
    flags = "".join(name for bit, name in _FLAGS if where & bit)
    fragment = f"  fragment id 0x{number:04x}{f' offset {offset}' if offset else ''}"
    lines.append(fragment + (f", flags {flags}" if flags else ""))
    follows = {1: _icmp_lines, 6: _tcp_lines, 17: _udp_lines}.get(protocol)
    return lines + (follows(raw[words * 4 :]) if follows and not offset and words >= _PLAIN else [])


def hex_lines(raw: bytes, width: int = 32) -> list[str]:
    """Return bytes in lines that begin with their offset."""
    return [f"{at:08x}: {raw[at : at + width].hex()}" for at in range(0, len(raw), width)]


def _udp_lines(raw: bytes) -> list[str]:
    if len(raw) < _UDP:
        return ["UDP header truncated"]
    source, target, length, sum_ = struct.unpack("!HHHH", raw[:_UDP])
    return [f"UDP: {source} -> {target}", f"  length {length}, checksum 0x{sum_:04x}"]


def _tcp_lines(raw: bytes) -> list[str]:
    if len(raw) < _TCP:
        return ["TCP header truncated"]
    source, target, sequence, answer, words, flags, window, sum_ = struct.unpack("!HHIIBBHH", raw[:18])
    names = " ".join(name for bit, name in enumerate(TCP_FLAGS) if flags >> bit & 1)
    return [
        f"TCP: {source} -> {target}",
        f"  seq. 0x{sequence:08x} ack 0x{answer:08x}",
        f"  flags {names}, tcp header: {(words >> 4) * 4} bytes",
        f"  window {window}, checksum 0x{sum_:04x}",
    ]


def _icmp_lines(raw: bytes) -> list[str]:
    if len(raw) < _ICMP:
        return ["ICMP header truncated"]
    kind, _, sum_, number = struct.unpack("!BBHH", raw[:6])
    name = _ICMP_TYPES.get(kind, f"unknown {kind}")
    return [f"ICMP {name} checksum 0x{sum_:x}" + (f" id {number}" if name.startswith("echo") else "")]


def _address(raw: bytes) -> str:
    return str(ipaddress.IPv4Address(raw))


def _protocol(number: int) -> str:
    return _PROTOCOLS.get(number, f"unknown {number}")


def _dscp(number: int) -> str:
    """Return the name of a DSCP (RFC 2474, 2597, 3246)."""
    if number % 8 == 0:
        return f"CS{number // 8}"
    if number // 8 in _AF_CLASSES and number % 8 in (2, 4, 6):
        return f"AF{number // 8}{number % 8 // 2}"
    return "EF" if number == 0x2E else str(number)  # noqa: PLR2004 - expedited forwarding
