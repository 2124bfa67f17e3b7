"""Where things stand in Ethernet, ARP, IPv4 and ICMP headers, and their checksum.

Offsets in bytes, from RFC 894, RFC 826, RFC 791 and RFC 792.
"""
# ruff: noqa: ANN001, ANN201 - numba infers the types
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.memory import get8, get16, get32, set32
from labs.memif.jit import step

ETHERNET = 14
DESTINATION_MAC, SOURCE_MAC, ETHERTYPE = 0, 6, 12
IS_IP4, IS_ARP = 0x0800, 0x0806
BROADCAST_MAC = 0xFFFFFFFFFFFF
GROUP = 1
"""In the first byte of an Ethernet address: it means several."""

ARP = 28
ARP_KIND, ARP_OPERATION = 0, 6
ARP_SENDER_MAC, ARP_SENDER, ARP_TARGET_MAC, ARP_TARGET = 8, 14, 18, 24
ARP_REQUEST, ARP_REPLY = 1, 2
ETHERNET_IP4 = (1 << 48) | (0x0800 << 32) | (6 << 24) | (4 << 16)
"""The first 6 bytes of an ARP packet: Ethernet and IPv4, addresses of 6 and 4 bytes."""

IP4 = 20
VERSION_AND_LENGTH, TOTAL_LENGTH, FRAGMENT, TTL, PROTOCOL, CHECKSUM, SOURCE, DESTINATION = (
    0,
    2,
    6,
    8,
    9,
    10,
    12,
    16,
)
PLAIN = 0x45
"""Version 4, five words: a header without options."""
DONT_FRAGMENT = 0x4000
IS_FRAGMENT = 0x3FFF
"""Of the 16 bits at `FRAGMENT`: there is more behind this one, or before it."""
IS_ICMP, IS_UDP = 1, 17

ICMP_TYPE, ICMP_CHECKSUM, ICMP_ID, ICMP_SEQUENCE = 0, 2, 4, 6
ECHO, ECHO_REPLY = 8, 0


@step
def header_length(ip):
    """Return the bytes of an IPv4 header, with its options."""
    return (get8(ip) & 15) * 4


@step
def fold(total):
    """Return a sum of 16-bit words in ones' complement."""
    total = (total & 0xFFFFFFFF) + (total >> 32)
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return (total & 0xFFFF) + (total >> 16)


@step
def sum_of(address, count):
    """Return the ones' complement sum of `count` bytes, in the machine's byte order (RFC 1071, 2 (B))."""
    total = 0
    done = 0
    while done + 4 <= count:
        total += get32(address + done)
        done += 4
    if done + 2 <= count:
        total += get16(address + done)
        done += 2
    if done < count:
        total += get8(address + done)
    return fold(total)


@step
def is_sound(ip):
    """Return whether the checksum of an IPv4 header without options is right.

    A sum of 16-bit words with its own complement among them is all ones, in ones' complement: a multiple of
    0xFFFF, however many words at a time were added.
    """
    total = get32(ip) + get32(ip + 4) + get32(ip + 8) + get32(ip + 12) + get32(ip + 16)
    return total != 0 and np.uint64(total) % np.uint64(0xFFFF) == 0


@step
def age(ip):
    """Take one from an IPv4 header's time to live, and mend its checksum.

    Both lie in the same 4 bytes: time to live, protocol, checksum. In the machine's byte order (RFC 1071,
    2 (B)) the sum of the header falls by one, so its complement, the checksum, rises by one. It is zero where
    the sum of the rest is, as RFC 1624 wants it: 0xFFFF means the same, and never comes out of a sum that is
    made anew.
    """
    word = get32(ip + TTL)
    total = (word >> 16) + 1
    checksum = (total + (total >= 0xFFFF)) & 0xFFFF  # noqa: PLR2004 - all ones
    set32(ip + TTL, (checksum << 16) | ((word & 0xFFFF) - 1))
