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

LOOKUP = 1
_MULTICAST = 224


@node("ip4-input", to=("ip4-drop", "ip4-lookup"))
def ip4_input(vm, me, frame, nexts, count):
    """Throw away what no router may forward; cut off what Ethernet has filled up to its least length."""
    for each in range(count):
        packet = frame[each]
        ip = start(packet)
        size = length(packet)
        total = net16(ip + TOTAL_LENGTH)
        version = get8(ip + VERSION_AND_LENGTH)
        group = get8(ip + DESTINATION)
        nexts[each] = DROP
        if size < IP4:
            because(packet, TOO_SHORT)
        elif version >> 4 != 4:  # noqa: PLR2004 - the version
            because(packet, BAD_VERSION)
        elif total > size or total < header_length(ip) or header_length(ip) < IP4:
            because(packet, BAD_LENGTH)
        elif not (is_sound(ip) if version == PLAIN else fold(sum_of(ip, header_length(ip))) == 0xFFFF):  # noqa: PLR2004 - see is_sound
            because(packet, BAD_CHECKSUM)
        elif not vm.interfaces[came_by(packet)].ip4:
            because(packet, NOT_ENABLED)
        elif group >= _MULTICAST:
            because(packet, MULTICAST)
        else:
            set_length(packet, total)
            nexts[each] = LOOKUP
