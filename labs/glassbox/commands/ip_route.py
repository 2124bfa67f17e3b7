"""ip route: VPP 26.06's src/vnet/ip/lookup.c, with one path a route."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.commands.command import command
from labs.glassbox.commands.words import address, interface, number, prefix
from labs.glassbox.route import Route

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words

_HELP = (
    "ip route [add|del] <dst-ip-addr>/<width> [table <table-id>] "
    "via [next-hop-address] [next-hop-interface] | drop | local"
)
_HOST = 32


@command("ip route", help=_HELP)
def ip_route(box: Box, words: Words) -> str:
    """Add a route, or delete one; as in VPP it is no mistake to delete one that is not there."""
    is_delete = words.take("del")
    if not is_delete:
        words.take("add")
    whole = words.shown
    network = words.read(prefix)
    if network is None:
        if words.is_over:
            raise LabError("expected ip4/ip6 destination address/length.")
        raise LabError(f"parse error `{whole}'")
    if (table := words.read(number, "table")) is not None and table != 0:
        raise LabError(f"Nonexistent table id {table}")
    where = ipaddress.IPv4Network(network, strict=False)
    if is_delete:
        _path(box, words, may_fail=True)
        words.end()
        delete(box, where)
        return ""
    route = _path(box, words)
    words.end()
    add(box, where, route)
    return ""


def add(box: Box, where: ipaddress.IPv4Network, route: Route) -> None:
    """Add a route of a learner's.

    Raises
    ------
    LabError
        There is one with another path.
    """
    there = box.routes.routes.get(where)
    if there and there.source == "interface":
        return  # as in VPP: a connected network goes before what was typed
    if there and there.source == "CLI" and there != route:
        raise LabError(
            f"{where} has a path already, and the glass box takes one a route.",
            f"ip route del {where} comes first.",
        )
    box.routes.add(where, route)


def delete(box: Box, where: ipaddress.IPv4Network) -> None:
    """Delete a learner's route, if it is there; a neighbour's own that it hid shows again."""
    there = box.routes.routes.get(where)
    if there is None or there.source != "CLI":
        return
    box.routes.remove(where)
    if where.prefixlen == _HOST:
        for index, neighbour in list(box.routes.neighbours):
            if neighbour == where.network_address:
                box.routes.add(where, Route("via", index, neighbour, "adjacency"))


def _path(box: Box, words: Words, *, may_fail: bool = False) -> Route:
    """Read what follows ``via``.

    Parameters
    ----------
    may_fail : bool
        The path is not used: the next hop need not be reachable, and all may be missing.
    """
    if words.is_over and may_fail:
        return Route("drop")
    if words.is_over:
        raise LabError("expected paths.")
    before = words.shown
    if not words.take("via"):
        raise LabError(f"parse error `{before}'")
    for kind in ("drop", "local"):
        if words.take(kind):
            return Route(kind)
    hop = words.read(address)
    leaves = words.read(interface(box.interfaces))
    if not words.is_over or (hop is None and leaves is None):
        raise LabError(f"parse error `{before}'")
    if hop is None and leaves is not None:
        return Route("attached", leaves.index)
    if leaves is not None:
        return Route("via", leaves.index, hop)
    return _found(box, hop, may_fail=may_fail)


def _found(box: Box, hop: ipaddress.IPv4Address | None, *, may_fail: bool) -> Route:
    """Return the path by way of a next hop whose interface was not named.

    Raises
    ------
    LabError
        No interface leads there. VPP would take the route all the same, and drop its packets.
    """
    if hop is None or may_fail:
        return Route("drop")
    _, route = box.routes.lookup(hop)
    if route.kind == "attached":
        return Route("via", route.interface, hop)
    if route.kind == "via":
        return Route("via", route.interface, route.next_hop)
    raise LabError(
        f"No interface leads to {hop}, so packets would be dropped.",
        "give an interface an address in that network first, or name the interface.",
    )
