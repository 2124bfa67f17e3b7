"""ip4-input: check each IPv4 header before anyone trusts it (RFC 1812, 5.2.2)."""
# ruff: noqa: ANN001, ANN201, ARG001 - numba infers the types; every node has the same arguments
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from labs.glassbox.drops import (
    BAD_CHECKSUM,
    BAD_LENGTH,
    BAD_VERSION,
    MULTICAST,
    NOT_ENABLED,
    TOO_SHORT,
)
from labs.glassbox.graph import DROP, node
from labs.glassbox.headers import (
    DESTINATION,
    IP4,
    PLAIN,
    TOTAL_LENGTH,
    VERSION_AND_LENGTH,
    fold,
    header_length,
    is_sound,
    sum_of,
)
from labs.glassbox.memory import get8, net16
from labs.glassbox.packet import because, came_by, length, set_length, start
from labs.memif.hints import apart, usual
from labs.memif.jit import seldom, step

LOOKUP = 1
_MULTICAST = 224


@node("ip4-input", to=("ip4-drop", "ip4-lookup"))
def ip4_input(vm, me, frame, nexts, count):
    """Throw away what no router may forward; cut off what Ethernet has filled up to its least length."""
    for each in range(count):
        packet = frame[each]
        ip = start(packet)
        total = net16(ip + TOTAL_LENGTH)
        may_come = vm.interfaces[came_by(packet)].ip4
        if usual(may_come and is_plain(ip, total, length(packet))):
            set_length(packet, total)
            nexts[each] = LOOKUP
        else:
            nexts[each] = other_than_that(packet, ip, total, may_come)


@step
def is_plain(ip, total, size):
    """Return whether an IPv4 header is what most are: sound, without options, towards one host."""
    return (
        get8(ip + VERSION_AND_LENGTH) == PLAIN
        and IP4 <= total <= size
        and get8(ip + DESTINATION) < _MULTICAST
        and is_sound(ip)
    )


@seldom
def other_than_that(packet, ip, total, may_come):
    """Return where any packet goes on."""
    apart()
    size = length(packet)
    if size < IP4:
        because(packet, TOO_SHORT)
    elif get8(ip + VERSION_AND_LENGTH) >> 4 != 4:  # noqa: PLR2004 - the version
        because(packet, BAD_VERSION)
    elif total > size or total < header_length(ip) or header_length(ip) < IP4:
        because(packet, BAD_LENGTH)
    elif fold(sum_of(ip, header_length(ip))) != 0xFFFF:  # noqa: PLR2004 - see is_sound
        because(packet, BAD_CHECKSUM)
    elif not may_come:
        because(packet, NOT_ENABLED)
    elif get8(ip + DESTINATION) >= _MULTICAST:
        because(packet, MULTICAST)
    else:
        set_length(packet, total)
        return LOOKUP
    return DROP
