"""Why packets are dropped, and what else nodes count: the names are VPP's own.

A node refers to an entry by its number. ``show errors`` and the stats segment list them by name.
"""

from __future__ import annotations

COUNTED: tuple[tuple[str, str], ...] = (
    ("null-node", "blackholed packets"),
    ("ethernet-input", "unknown ethernet type"),
    ("ethernet-input", "l3 mac mismatch"),
    ("ethernet-input", "too short"),
    ("ip4-input", "ip4 length < 20 bytes"),
    ("ip4-input", "ip4 length > l2 length"),
    ("ip4-input", "bad ip4 header checksum"),
    ("ip4-input", "ip4 version != 4"),
    ("ip4-input", "ip4 ttl <= 1"),
    ("ip4-input", "interface is not enabled for ip4"),
    ("ip4-rewrite", "ip4 MTU exceeded and DF set"),
    ("ip4-local", "unknown ip protocol"),
    ("ip4-icmp-input", "unknown type"),
    ("ip4-icmp-echo-request", "echo replies sent"),
    ("ip4-icmp-echo-reply", "echo replies received"),
    ("ip4-arp", "ARP requests sent"),
    ("ip4-arp", "ARP requests throttled"),
    ("arp-reply", "ARP replies sent"),
    ("arp-reply", "ARP replies received"),
    ("arp-reply", "IP4 destination address not local to subnet"),
    ("arp-reply", "not an ARP packet for IPv4 over Ethernet"),
    ("interface-output", "interface is down"),
    ("memif-tx", "no free tx slots"),
    ("memif-tx", "memif is not connected"),
    ("memif-input", "packet too large"),
    ("l2-fwd", "no such bridge or peer"),
    ("l2-flood", "no buffer for a copy"),
    ("ip4-input", "ip4 destination is not for a router"),
    ("loaded-node", "no valid next node was chosen"),
    ("ip4-local", "fragments are not put together"),
    ("arp-reply", "ARP hw addr does not match L2 frame src addr"),
)
"""Each counter's node and text, in the order of their numbers; new ones go to the end."""


def number_of(node: str, text: str) -> int:
    """Return the number of a counter."""
    return COUNTED.index((node, text))


BLACKHOLED = number_of("null-node", "blackholed packets")
UNKNOWN_TYPE = number_of("ethernet-input", "unknown ethernet type")
NOT_FOR_US = number_of("ethernet-input", "l3 mac mismatch")
RUNT = number_of("ethernet-input", "too short")
TOO_SHORT = number_of("ip4-input", "ip4 length < 20 bytes")
BAD_LENGTH = number_of("ip4-input", "ip4 length > l2 length")
BAD_CHECKSUM = number_of("ip4-input", "bad ip4 header checksum")
BAD_VERSION = number_of("ip4-input", "ip4 version != 4")
TTL_EXPIRED = number_of("ip4-input", "ip4 ttl <= 1")
NOT_ENABLED = number_of("ip4-input", "interface is not enabled for ip4")
TOO_BIG = number_of("ip4-rewrite", "ip4 MTU exceeded and DF set")
UNKNOWN_PROTOCOL = number_of("ip4-local", "unknown ip protocol")
UNKNOWN_ICMP = number_of("ip4-icmp-input", "unknown type")
ECHO_REPLIES_SENT = number_of("ip4-icmp-echo-request", "echo replies sent")
ECHO_REPLIES_RECEIVED = number_of("ip4-icmp-echo-reply", "echo replies received")
ARP_REQUESTS_SENT = number_of("ip4-arp", "ARP requests sent")
ARP_THROTTLED = number_of("ip4-arp", "ARP requests throttled")
ARP_REPLIES_SENT = number_of("arp-reply", "ARP replies sent")
ARP_REPLIES_RECEIVED = number_of("arp-reply", "ARP replies received")
ARP_NOT_LOCAL = number_of("arp-reply", "IP4 destination address not local to subnet")
ARP_UNKNOWN = number_of("arp-reply", "not an ARP packet for IPv4 over Ethernet")
INTERFACE_DOWN = number_of("interface-output", "interface is down")
NO_SLOTS = number_of("memif-tx", "no free tx slots")
NOT_CONNECTED = number_of("memif-tx", "memif is not connected")
TOO_LARGE = number_of("memif-input", "packet too large")
NO_L2_PEER = number_of("l2-fwd", "no such bridge or peer")
NO_COPY = number_of("l2-flood", "no buffer for a copy")
MULTICAST = number_of("ip4-input", "ip4 destination is not for a router")
NO_NEXT = number_of("loaded-node", "no valid next node was chosen")
FRAGMENTED = number_of("ip4-local", "fragments are not put together")
ARP_LIES = number_of("arp-reply", "ARP hw addr does not match L2 frame src addr")
