"""VPP's texts as data: all parsers under one name."""

from __future__ import annotations

from labs.vpp.parse_memif import MemifRegion, MemifRing, MemifSocket, MemifState, MemifTable, parse_memif
from labs.vpp.parse_ping import (
    PingReply,
    PingStatistics,
    parse_ping_failure,
    parse_ping_line,
    parse_ping_statistics,
)
from labs.vpp.parse_runtime import RuntimeNode, RuntimeThread, parse_runtime
from labs.vpp.parse_show import (
    InterfaceRow,
    PluginTable,
    RxQueue,
    ThreadRow,
    parse_addresses,
    parse_interfaces,
    parse_plugins,
    parse_rx_placement,
    parse_threads,
    parse_version,
)

__all__ = [
    "InterfaceRow",
    "MemifRegion",
    "MemifRing",
    "MemifSocket",
    "MemifState",
    "MemifTable",
    "PingReply",
    "PingStatistics",
    "PluginTable",
    "RuntimeNode",
    "RuntimeThread",
    "RxQueue",
    "ThreadRow",
    "parse_addresses",
    "parse_interfaces",
    "parse_memif",
    "parse_ping_failure",
    "parse_ping_line",
    "parse_ping_statistics",
    "parse_plugins",
    "parse_runtime",
    "parse_rx_placement",
    "parse_threads",
    "parse_version",
]
