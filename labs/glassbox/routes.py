"""Routes and neighbours: what ip4-lookup finds."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox import adjacencies
from labs.glassbox.adjacencies import Adjacencies
from labs.glassbox.route import BITS, Address, Prefix, Route, connected, key_of
from labs.glassbox.tree import Tree

if TYPE_CHECKING:
    import ipaddress

    from numpy.typing import NDArray

    from labs.glassbox.interfaces import Interface, Interfaces

_RANKS = ("default", "adjacency", "CLI", "interface")
_DROPPED = ("0.0.0.0/0", "0.0.0.0/32", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32")
"""Routes that are always there, as in VPP (fib/ip4_fib.c)."""

MOST_LEARNED = 1024
"""Neighbours that are learned at most: who sends ARP from many addresses cannot fill the tables."""


class Routes:
    """The table of routes and the neighbours.

    Parameters
    ----------
    tables : dict of ndarray
        The data plane's; see `labs.glassbox.vm.make_tables`.
    interfaces : Interfaces

    Attributes
    ----------
    routes : dict
        The route that counts, of each prefix. Read it only.
    neighbours : dict
        Their hardware addresses, by interface and address. Read it only.
    """

    def __init__(self, tables: dict[str, NDArray[Any]], interfaces: Interfaces) -> None:
        self._interfaces = interfaces
        self.routes: dict[Prefix, Route] = {}
        self._hidden: dict[Prefix, list[Route]] = {}
        self._lengths: Counter[int] = Counter()
        self.neighbours: dict[tuple[int, Address], bytes] = {}
        self.learned_at: dict[tuple[int, Address], float] = {}
        self.static: set[tuple[int, Address]] = set()
        self._adjacencies = Adjacencies(
            tables["adjacencies"], interfaces, self.neighbours, lambda: map(key_of, self.routes.values())
        )
        self._tree = Tree(
            tables["root"],
            tables["plies"],
            lambda: ((prefix, self.adjacency_of(route)) for prefix, route in self.routes.items()),
        )
        for each in _DROPPED:
            self.add(Prefix(each), Route("drop", source="default"))

    def add(self, prefix: Prefix, route: Route) -> None:
        """Add a route, or put it in the place of the one from the same source.

        Raises
        ------
        LabError
            There is no room for it; nothing has changed then.
        """
        self._settle(prefix, [route, *(each for each in self._all(prefix) if each.source != route.source)])

    def remove(self, prefix: Prefix, source: str | None = None) -> None:
        """Take a route away, by default the one that counts; what is behind it shows again.

        Raises
        ------
        LabError
            There is no such route.
        """
        there = self._all(prefix)
        source = source or (there[0].source if there else "CLI")
        if source == "default" or all(each.source != source for each in there):
            raise LabError(f"There is no route {prefix}.", "show ip fib lists them.")
        self._settle(prefix, [each for each in there if each.source != source])

    def cover(self, prefix: Prefix) -> tuple[Prefix, Route]:
        """Return the longest route around a prefix."""
        address = int(prefix.network_address)
        for length in sorted(self._lengths, reverse=True):
            if length <= prefix.prefixlen:
                around = Prefix((address >> (BITS - length) << (BITS - length), length))
                if around in self.routes:
                    return around, self.routes[around]
        raise AssertionError("the default route is always there")

    def lookup(self, address: Address) -> tuple[Prefix, Route]:
        """Return the route that an address takes, by search of the list: the data plane's must agree."""
        return self.cover(Prefix(int(address)))

    def adjacency_of(self, route: Route) -> int:
        """Return the number of the adjacency behind a route; make it if it is not there."""
        return self._adjacencies.number(key_of(route))

    def learn(self, interface: int, address: Address, mac: bytes, *, static: bool = False) -> None:
        """Note a neighbour's hardware address, and send to it from now on.

        Raises
        ------
        LabError
            There is no room for another one.
        """
        key = (interface, address)
        if static:
            self.static.add(key)
        elif key in self.static:
            return
        elif key not in self.neighbours and len(self.neighbours) - len(self.static) >= MOST_LEARNED:
            raise LabError(f"{MOST_LEARNED} neighbours are known; no more are learned.")
        self.learned_at[key] = time.monotonic()
        if self.neighbours.get(key) != mac:
            self.neighbours[key] = mac
            self._adjacencies.fill(adjacencies.towards(interface, address))
        host = Prefix(int(address))
        if any(each.source == "adjacency" for each in self._all(host)):
            return
        _, around = self.cover(host.supernet())
        if around.kind == "attached" and around.interface == interface:
            try:
                self.add(host, Route("via", interface, address, "adjacency"))
            except LabError:
                self.forget(interface, address)
                raise

    def forget(self, interface: int, address: Address) -> None:
        """Forget a neighbour.

        Raises
        ------
        LabError
            There is none.
        """
        key = (interface, address)
        if key not in self.neighbours:
            raise LabError(f"There is no neighbour {address}.", "show ip neighbors lists them.")
        del self.neighbours[key], self.learned_at[key]
        self.static.discard(key)
        host = Prefix(int(address))
        if any(each.source == "adjacency" and each.interface == interface for each in self._all(host)):
            self.remove(host, "adjacency")
        self._adjacencies.fill(adjacencies.towards(interface, address))

    def add_address(self, interface: Interface, address: ipaddress.IPv4Interface) -> None:
        """Give an interface an address: the address is local, its subnet is attached.

        Raises
        ------
        LabError
            The address is on an interface already, or there is no room for its routes.
        """
        for other in self._interfaces:
            if any(each.ip == address.ip for each in other.addresses):
                raise LabError(f"the address {address.ip} is on {other.name} already.")
        interface.addresses.append(address)
        try:
            for prefix, route in connected(interface, address).items():
                self.add(prefix, route)
        except LabError:
            self.remove_address(interface, address)
            raise
        self._interfaces.write(interface)

    def remove_address(self, interface: Interface, address: ipaddress.IPv4Interface) -> None:
        """Take an address from an interface, with the routes and neighbours that no other address keeps.

        Raises
        ------
        LabError
            It has no such address.
        """
        if address not in interface.addresses:
            raise LabError(f"{interface.name} does not have the address {address}.")
        interface.addresses.remove(address)
        self._interfaces.write(interface)
        for where, neighbour in list(self.neighbours):
            is_kept = any(neighbour in each.network for each in interface.addresses)
            if where == interface.index and neighbour in address.network and not is_kept:
                self.forget(where, neighbour)
        left = {prefix for each in interface.addresses for prefix in connected(interface, each)}
        for prefix in connected(interface, address):
            if prefix not in left and any(each.source == "interface" for each in self._all(prefix)):
                self.remove(prefix, "interface")

    def drop_interface(self, interface: Interface) -> None:
        """Take away all that leads to an interface which is being deleted."""
        for address in list(interface.addresses):
            self.remove_address(interface, address)
        for where, neighbour in list(self.neighbours):
            if where == interface.index:
                self.forget(where, neighbour)
        for prefix in list(self.routes):
            for route in self._all(prefix):
                if route.kind in ("attached", "via", "local") and route.interface == interface.index:
                    self.remove(prefix, route.source)

    def refresh(self, interface: Interface) -> None:
        """Write an interface's adjacencies anew: its hardware address or MTU has changed."""
        self._adjacencies.refresh(interface)

    def _all(self, prefix: Prefix) -> list[Route]:
        """Return the routes of a prefix, the one that counts first."""
        return [self.routes[prefix], *self._hidden.get(prefix, ())] if prefix in self.routes else []

    def _settle(self, prefix: Prefix, routes: list[Route]) -> None:
        """Let a prefix have these routes and no others."""
        ranked = sorted(routes, key=lambda each: -_RANKS.index(each.source))
        if ranked:
            self._tree.put(prefix, self.adjacency_of(ranked[0]))
            self._lengths[prefix.prefixlen] += prefix not in self.routes
            self.routes[prefix] = ranked[0]
        else:
            del self.routes[prefix]
            self._lengths -= Counter([prefix.prefixlen])
            around, route = self.cover(prefix)
            self._tree.take(prefix, around, self.adjacency_of(route))
        self._hidden.pop(prefix, None)
        if ranked[1:]:
            self._hidden[prefix] = ranked[1:]
