"""The way that the bench's packets take: in at the first node's far end, out of the lab at the last's."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_interface
from itertools import pairwise
from typing import TYPE_CHECKING

from labs import connectivity
from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.node import Node


@dataclass(frozen=True)
class Hop:
    """One link on the way: who sends by which interface, and who receives it by which, at what address."""

    sender: str
    by: str
    source: str
    receiver: str
    at: str
    address: str


@dataclass(frozen=True)
class Way:
    """All links on the way, and the Ethernet addresses of the first link's ends."""

    hops: tuple[Hop, ...]
    macs: tuple[str, str]

    @property
    def first(self) -> Hop:
        """Where the packets are sent."""
        return self.hops[0]

    @property
    def last(self) -> Hop:
        """Where they end."""
        return self.hops[-1]

    def routes(self, prefix: str, *, from_first: bool = False) -> list[tuple[str, str]]:
        """Return each node behind the first with the line that passes packets on, or drops them at last.

        With `from_first` the first has one, too: its packets do not leave by the link at once.
        """
        ways = [(hop.sender, f"via {hop.address} {hop.by}") for hop in self.hops[not from_first :]]
        return [
            (node, f"ip route add {prefix} {way}") for node, way in (*ways, (self.last.receiver, "via drop"))
        ]


def find_way(nodes: Mapping[str, Node]) -> Way:
    """Return the way from the first node of a lab to its last, as its nodes' addresses say.

    Raises
    ------
    LabError
        There is but one node, or no way.
    NodeDied
        A node has ended.
    """
    names = list(nodes)
    if len(names) < 2:  # noqa: PLR2004
        raise LabError(
            "Traffic needs a link, and this lab has one node.", "use a lab of two nodes: two_vpps()."
        )
    has = {name: node.addresses() for name, node in nodes.items()}
    route = connectivity.path(names[0], names[-1], has)
    hops = tuple(_hop(a, has[a], b, has[b]) for a, b in pairwise(route))
    first = hops[0]
    return Way(hops, (_mac(nodes[first.sender], first.by), _mac(nodes[first.receiver], first.at)))


def _hop(a: str, a_has: Mapping[str, list[str]], b: str, b_has: Mapping[str, list[str]]) -> Hop:
    """Return the first link between two nodes that share a network."""
    return next(
        Hop(a, by, str(ip_interface(here).ip), b, at, str(ip_interface(there).ip))
        for by, heres in a_has.items()
        for here in heres
        for at, theres in b_has.items()
        for there in theres
        if ip_interface(here).network == ip_interface(there).network
    )


def _mac(node: Node, interface: str) -> str:
    found = {each.interface_name: each.l2_address for each in node.api.sw_interface_dump()}
    return str(found[interface])
