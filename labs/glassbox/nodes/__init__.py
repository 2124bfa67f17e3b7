"""The nodes of the glass box: open one and read it.

Importing this package declares all of them to `labs.glassbox.graph`.
"""

from __future__ import annotations

from labs.glassbox.nodes import (
    arp_input,
    drop,
    ethernet_input,
    interface_output,
    ip4_arp,
    ip4_input,
    ip4_local,
    ip4_lookup,
    ip4_rewrite,
    l2,
    memif_input,
    pg_input,
)

__all__ = [
    "arp_input",
    "drop",
    "ethernet_input",
    "interface_output",
    "ip4_arp",
    "ip4_input",
    "ip4_local",
    "ip4_lookup",
    "ip4_rewrite",
    "l2",
    "memif_input",
    "pg_input",
]
