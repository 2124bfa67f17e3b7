"""ip4-local and the ICMP nodes: packets for one of our own addresses."""
# ruff: noqa: ANN001, ANN201, ARG001 - numba infers the types; every node has the same arguments
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import numpy as np

from labs.glassbox.drops import (
    ECHO_REPLIES_RECEIVED,
    ECHO_REPLIES_SENT,
    FRAGMENTED,
    UNKNOWN_ICMP,
    UNKNOWN_PROTOCOL,
)
from labs.glassbox.graph import DROP, node
from labs.glassbox.headers import (
    CHECKSUM,
    DESTINATION,
    ECHO,
    ECHO_REPLY,
    FRAGMENT,
    ICMP_CHECKSUM,
    ICMP_ID,
    ICMP_SEQUENCE,
    ICMP_TYPE,
    IS_FRAGMENT,
    IS_ICMP,
    PROTOCOL,
    SOURCE,
    TTL,
    fold,
    header_length,
    sum_of,
)
from labs.glassbox.memory import get8, get32, net16, set8, set16, set32, ticks
from labs.glassbox.news import tell
from labs.glassbox.packet import because, length, set_came_by, start
from labs.glassbox.vm import ECHO_REPLY as ECHO_CAME

ICMP, REQUEST, REPLY, LOOKUP = 1, 1, 2, 1
_TTL = 64
_FULL = 0xFFFF


@node("ip4-local", to=("ip4-drop", "ip4-icmp-input"))
def ip4_local(vm, me, frame, nexts, count):
    """Hand each packet to the protocol that it is for."""
    for each in range(count):
        ip = start(frame[each])
        nexts[each] = DROP
        if net16(ip + FRAGMENT) & IS_FRAGMENT:
            because(frame[each], FRAGMENTED)
        elif get8(ip + PROTOCOL) == IS_ICMP:
            nexts[each] = ICMP
        else:
            because(frame[each], UNKNOWN_PROTOCOL)


@node("ip4-icmp-input", to=("ip4-drop", "ip4-icmp-echo-request", "ip4-icmp-echo-reply"))
def ip4_icmp_input(vm, me, frame, nexts, count):
    """Tell questions from answers; a message with a wrong checksum is neither."""
    for each in range(count):
        packet = frame[each]
        ip = start(packet)
        icmp = ip + header_length(ip)
        size = length(packet) - header_length(ip)
        kind = get8(icmp + ICMP_TYPE)
        if size < 8 or (kind not in (ECHO, ECHO_REPLY)) or fold(sum_of(icmp, size)) != _FULL:  # noqa: PLR2004 - an ICMP header
            because(packet, UNKNOWN_ICMP)
            nexts[each] = DROP
        else:
            nexts[each] = REQUEST if kind == ECHO else REPLY


@node("ip4-icmp-echo-request", to=("ip4-drop", "ip4-lookup"))
def ip4_icmp_echo_request(vm, me, frame, nexts, count):
    """Turn the question into its answer, in place, and send it back."""
    for each in range(count):
        packet = frame[each]
        ip = start(packet)
        icmp = ip + header_length(ip)
        set8(icmp + ICMP_TYPE, ECHO_REPLY)
        set16(icmp + ICMP_CHECKSUM, 0)
        set16(icmp + ICMP_CHECKSUM, ~fold(sum_of(icmp, length(packet) - header_length(ip))))
        asker = get32(ip + SOURCE)
        set32(ip + SOURCE, get32(ip + DESTINATION))
        set32(ip + DESTINATION, asker)
        set8(ip + TTL, _TTL)
        set16(ip + CHECKSUM, 0)
        set16(ip + CHECKSUM, ~fold(sum_of(ip, header_length(ip))))
        set_came_by(packet, 0)
        nexts[each] = LOOKUP
        vm.errors[ECHO_REPLIES_SENT] += np.uint64(1)


@node("ip4-icmp-echo-reply", to=("ip4-drop",))
def ip4_icmp_echo_reply(vm, me, frame, nexts, count):
    """Note the time at which an answer came, for the ping that waits for it."""
    for each in range(count):
        packet = frame[each]
        ip = start(packet)
        icmp = ip + header_length(ip)
        tell(
            vm,
            ECHO_CAME,
            (net16(icmp + ICMP_ID) << 16) | net16(icmp + ICMP_SEQUENCE),
            ticks(),
            (get8(ip + TTL) << 16) | (length(packet) - header_length(ip)),
        )
        because(packet, ECHO_REPLIES_RECEIVED)
        nexts[each] = DROP
