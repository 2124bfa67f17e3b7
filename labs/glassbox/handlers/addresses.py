"""Messages about addresses, routes and neighbours."""
# ruff: noqa: ANN401, FBT001 - the messages' fields are as VPP defines them

from __future__ import annotations

import ipaddress
import time
from typing import TYPE_CHECKING, Any

from labs.glassbox.doors import ApiRefusal
from labs.glassbox.handlers.asking import ALL, BAD_FAMILY, NO_SUCH_FIB, UNIMPLEMENTED, Handlers

if TYPE_CHECKING:
    from labs.glassbox.route import Route

_NORMAL, _LOCAL, _DROP = 0, 1, 2  # fib_path_type
_STATIC = 1  # ip_neighbor_flags
_NOWHERE = ipaddress.IPv4Address(0)


class AddressHandlers(Handlers):
    """What an interface is called in IP, and what lies behind it."""

    def ip_address_dump(self, sw_if_index: int, is_ipv6: bool) -> list[dict[str, Any]]:
        """List the addresses of an interface."""
        if is_ipv6:
            return []
        return [
            {"sw_if_index": each.index, "prefix": address}
            for each in self._chosen(sw_if_index)
            for address in each.addresses
        ]

    def ip_route_add_del(self, is_add: bool, is_multipath: bool, route: Any) -> dict[str, Any]:
        """Add a route with one path, or delete one."""
        if route.prefix.version != 4:  # noqa: PLR2004 - IPv4
            raise ApiRefusal(BAD_FAMILY, "The glass box knows IPv4 only.")
        if route.table_id:
            raise ApiRefusal(NO_SUCH_FIB, f"There is no table {route.table_id}.")
        if not is_add:
            self._do(f"ip route del {route.prefix}")
        else:
            if is_multipath or len(route.paths) != 1:
                raise ApiRefusal(UNIMPLEMENTED, "A route of the glass box has one path.")
            self._do(f"ip route add {route.prefix} via {self._path(route.paths[0])}")
        return {"stats_index": ALL}

    def ip_route_dump(self, table: Any) -> list[dict[str, Any]]:
        """List the routes."""
        if table.table_id or table.is_ip6:
            return []
        return [
            {"route": {"stats_index": ALL, "prefix": prefix, "paths": [_path(route)]}}
            for prefix, route in self._box.routes.routes.items()
        ]

    def ip_neighbor_add_del(self, is_add: bool, neighbor: Any) -> dict[str, Any]:
        """Say what a neighbour's Ethernet address is, or forget it."""
        if neighbor.ip_address.version != 4:  # noqa: PLR2004 - IPv4
            raise ApiRefusal(BAD_FAMILY, "The glass box knows IPv4 only.")
        static = " static" if int(neighbor.flags) & _STATIC else ""
        self._do(
            f"set ip neighbor {'' if is_add else 'del '}{self._named(neighbor.sw_if_index)} "
            f"{neighbor.ip_address} {neighbor.mac_address}{static if is_add else ''}"
        )
        return {"stats_index": ALL}

    def ip_neighbor_dump(self, sw_if_index: int, af: int) -> list[dict[str, Any]]:
        """List the neighbours, and since how many seconds they are known."""
        if af:
            return []
        routes = self._box.routes
        now = time.monotonic()
        return [
            {
                "age": now - routes.learned_at[index, address],
                "neighbor": {
                    "sw_if_index": index,
                    "flags": _STATIC if (index, address) in routes.static else 0,
                    "mac_address": mac,
                    "ip_address": address,
                },
            }
            for (index, address), mac in routes.neighbours.items()
            if sw_if_index in (ALL, index)
        ]

    def _path(self, path: Any) -> str:
        """Return a path as ``ip route add ... via`` takes it."""
        if int(path.type) == _DROP:
            return "drop"
        if int(path.type) == _LOCAL:
            return "local"
        if int(path.type) != _NORMAL or path.n_labels:
            raise ApiRefusal(UNIMPLEMENTED, "The glass box knows no such path.")
        hop = path.nh.address.ip4
        words = [] if hop == _NOWHERE else [str(hop)]
        if path.sw_if_index != ALL:
            words.append(self._named(path.sw_if_index))
        return " ".join(words)


def _path(route: Route) -> dict[str, Any]:
    """Return the path of a route as the API has it."""
    kinds = {"drop": _DROP, "local": _LOCAL}
    return {
        "sw_if_index": ALL if route.kind == "drop" else route.interface,
        "weight": 1,
        "type": kinds.get(route.kind, _NORMAL),
        "nh": {"address": {"ip4": route.next_hop or _NOWHERE}},
    }
