"""show ip fib: VPP's layout in spirit, without the numbers of objects that the glass box does not have."""

from __future__ import annotations

import ipaddress
from collections import Counter
from typing import TYPE_CHECKING

from labs.glassbox.commands.columns import interface_name
from labs.glassbox.commands.command import command
from labs.glassbox.commands.words import address, number, prefix

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words
    from labs.glassbox.route import Prefix, Route

_HEAD = "ipv4-VRF:0, fib_index:0, flow hash:[dst ] epoch:0 flags:none\n"
_ARP = b"\x08\x06"
_IP4 = b"\x08\x00"
_SOURCES = {"default": "default-route", "interface": "interface", "adjacency": "adjacency", "CLI": "CLI"}
_KINDS = {"drop": "special", "local": "receive", "attached": "attached", "via": "attached-nexthop"}


@command("show ip fib", help="show ip fib [summary] [table <table-id>] [<ip4-addr>[/<mask>]] [detail]")
def show_ip_fib(box: Box, words: Words) -> str:
    """Print all routes, or the one that an address takes."""
    wanted: Prefix | None = None
    is_summary = False
    table = 0
    while not words.is_over:
        if words.take("summary"):
            is_summary = True
        elif words.take("detail"):
            pass  # there is no more to tell
        elif (number_ := words.read(number, "table")) is not None:
            table = number_
        elif (host := words.read(address)) is not None:
            wanted = ipaddress.IPv4Network(int(host))
        elif (network := words.read(prefix)) is not None:
            wanted = ipaddress.IPv4Network(network, strict=False)
        else:
            raise words.unknown()
    if table:
        return ""
    if is_summary:
        return _HEAD + _summary(box)
    if wanted is not None:
        return _HEAD + _entry(box, *box.routes.cover(wanted))
    return _HEAD + "".join(
        f"{where}\n  unicast-ip4-chain\n{_forwarding(box, where, route)}"
        for where, route in sorted(box.routes.routes.items())
    )


@command("show ip table", help="show ip table")
def show_ip_table(box: Box, words: Words) -> str:
    """Print the tables of routes: there is one."""
    del box
    words.end()
    return "[0] table_id:0 ipv4-VRF:0\n"


def _summary(box: Box) -> str:
    counts = Counter(where.prefixlen for where in box.routes.routes)
    rows = "".join(f"{length:>20}{count:>16}\n" for length, count in sorted(counts.items()))
    return f"{'Prefix length':>17}{'Count':>14}\n" + rows


def _entry(box: Box, where: Prefix, route: Route) -> str:
    """Return who made a route, which path it has, and what it does with packets."""
    number_ = box.routes.adjacency_of(route)
    flags = {"drop": "drop", "local": "local", "attached": "glean"}.get(route.kind)
    resolved = "" if route.kind == "drop" else " oper-flags:resolved,"
    chosen = f" cfg-flags:{flags}," if flags else ""
    return (
        f"{where} fib:0 index:{number_}\n"
        f"  {_SOURCES[route.source]} src-flags:added,contributing,active,\n"
        f"      path:[{number_}] ip4 weight=1 pref=0 {_KINDS[route.kind]}: {resolved}{chosen}\n"
        f"        {_hop(box, where, route)}\n\n"
        f" forwarding:   unicast-ip4-chain\n{_forwarding(box, where, route)}"
    )


def _hop(box: Box, where: Prefix, route: Route) -> str:
    if route.kind in ("attached", "via"):
        return f"{route.next_hop or ''} {interface_name(box, route.interface)}"
    return _object(box, where, route)


def _forwarding(box: Box, where: Prefix, route: Route) -> str:
    balance = f"[proto:ip4 index:{box.routes.adjacency_of(route)} buckets:1]"
    return f"  [@0]: dpo-load-balance: {balance}\n    [0] {_object(box, where, route)}\n"


def _object(box: Box, where: Prefix, route: Route) -> str:
    """Return the data plane object that packets of a route get to, with the header that they are given."""
    if route.kind == "drop":
        return "[@0]: dpo-drop ip4"
    if route.kind == "local":
        on = f": {route.next_hop} on {interface_name(box, route.interface)}" if route.next_hop else ""
        return f"[@11]: dpo-receive{on}"
    leaves = box.interfaces[route.interface]
    rest = f"{leaves.name}: mtu:{leaves.mtu} next:{route.interface} flags:[]"
    if route.kind == "attached":
        source = f"[src:{where if route.source == 'interface' else '0.0.0.0/0'}]"
        header = (b"\xff" * 6 + leaves.mac + _ARP).hex() if leaves.mac else ""
        return f"[@4]: ipv4-glean: {source} {rest} {header}".rstrip()
    mac = box.routes.neighbours.get((route.interface, route.next_hop)) if route.next_hop else None
    if leaves.mac and mac is None:
        return f"[@3]: arp-ipv4: via {route.next_hop} {leaves.name}"
    header = (mac + leaves.mac + _IP4).hex() if mac else ""
    return f"[@5]: ipv4 via {route.next_hop} {rest} {header}".rstrip()
