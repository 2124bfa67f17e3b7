"""A route, what lies behind it, and the routes that an address brings."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.glassbox import adjacencies

if TYPE_CHECKING:
    from labs.glassbox.adjacencies import Key
    from labs.glassbox.interfaces import Interface

Address = ipaddress.IPv4Address
Prefix = ipaddress.IPv4Network

BITS = 32
"""Of an address."""


@dataclass(frozen=True)
class Route:
    """What lies behind a prefix.

    Attributes
    ----------
    kind : {"drop", "local", "attached", "via"}
        Drop; one of our addresses; a subnet of ours; a next hop.
    interface : int
        By which interface.
    next_hop : IPv4Address, optional
    source : {"default", "adjacency", "CLI", "interface"}
        Who made it; a neighbour makes a route of its own ("adjacency"). Of several for one prefix the last
        named here counts, as in VPP.
    """

    kind: str
    interface: int = 0
    next_hop: Address | None = None
    source: str = "CLI"


def key_of(route: Route) -> Key:
    """Return the key of the adjacency behind a route."""
    if route.kind == "drop":
        return adjacencies.DROP
    if route.kind == "local":
        return adjacencies.LOCAL
    return adjacencies.towards(route.interface, route.next_hop if route.kind == "via" else None)


def connected(interface: Interface, address: ipaddress.IPv4Interface) -> dict[Prefix, Route]:
    """Return the routes that an address brings; nothing goes to all hosts of its subnet, as in VPP."""
    network = address.network
    routes = {}
    if network.prefixlen < BITS:
        routes[network] = Route("attached", interface.index, source="interface")
    if network.prefixlen < BITS - 1:
        for each in (network.network_address, network.broadcast_address):
            routes[Prefix(int(each))] = Route("drop", source="interface")
    routes[Prefix(int(address.ip))] = Route("local", interface.index, address.ip, "interface")
    return routes
