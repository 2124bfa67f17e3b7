"""Messages as VPP 26.06 and DPDK 22.11's testpmd sent them, captured on the wire, in hexadecimal."""

from __future__ import annotations

GOLDEN = {
    ("vpp", "Hello"): (
        "02005650502032362e30362d72656c65617365000000000000000000000000000000000200020001000100010e"
    ),
    ("vpp", "Ack"): ("01"),
    ("vpp", "Connected"): ("07006d656d6966302f30"),
    ("vpp", "Disconnect"): ("080000000000756e6b6e6f776e206d657373616765207479706520283078363329"),
    ("vpp", "Init"): (
        "0300000205000000017073737400000000000000000000000000000000000000005650502032362e30362d72656c65617365"
    ),
    ("vpp", "AddRegion"): ("040000000081"),
    ("vpp", "AddRing"): ("0500010000000000000000000a"),
    ("vpp", "Connect"): ("06006d656d6966372f35"),
    ("testpmd", "Hello"): (
        "02004450444b2032322e31312e31310000000000000000000000000000000000000000020002ff00ff00ff000e"
    ),
    ("testpmd", "Ack"): ("01"),
    ("testpmd", "Connected"): ("07006e65745f6d656d696630"),
    ("testpmd", "Disconnect"): ("080000000000556e6b6e6f776e206d6573736167652074797065"),
    ("testpmd", "Init"): (
        "0300000203000000007073737400000000000000000000000000000000000000004450444b2032322e31312e3131"
    ),
    ("testpmd", "AddRegion"): ("04000000008140"),
    ("testpmd", "AddRing"): ("0500010000000000000000000a"),
    ("testpmd", "Connect"): ("06006e65745f6d656d696630"),
}


def golden(peer, kind):
    """Return the 128 bytes."""
    return bytes.fromhex(GOLDEN[peer, kind]).ljust(128, b"\0")
