"""Interfaces: what they are called, what they are set to, and their rows in the tables of the data plane."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.graph import KINDS, Graph
from labs.glassbox.vm import BRIDGE, CROSS_CONNECT, INTERFACES, LAYER3

if TYPE_CHECKING:
    import ipaddress
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from labs.glassbox.counters import Counters

MTU = 9000


@dataclass
class Interface:
    """One interface.

    Attributes
    ----------
    index : int
        VPP's ``sw_if_index``.
    name : str
    kind : {"local", "memif", "pg", "loop"}
        Which tx node it has.
    mac : bytes
        Empty where packets have no Ethernet header.
    is_up : bool
        Its administrative state.
    addresses : list of IPv4Interface
    mode : int
        `LAYER3`, `CROSS_CONNECT` or `BRIDGE`.
    peer : int
        The other interface of a cross-connect, or the bridge's number.
    """

    index: int
    name: str
    kind: str
    mac: bytes
    is_up: bool = False
    is_linked: bool = False
    mtu: int = MTU
    mode: int = LAYER3
    peer: int = 0
    addresses: list[ipaddress.IPv4Interface] = field(default_factory=list)


class Interfaces:
    """All interfaces, by index and by name.

    Parameters
    ----------
    table : ndarray of INTERFACE
        The data plane's.
    graph : Graph
    counters : Counters
    """

    def __init__(self, table: NDArray[np.void], graph: Graph, counters: Counters) -> None:
        self._table = table
        self._graph = graph
        self._counters = counters
        self._by_index: dict[int, Interface] = {}
        self.add("local0", "local", b"")

    def __iter__(self) -> Iterator[Interface]:
        return iter([self._by_index[index] for index in sorted(self._by_index)])

    def __getitem__(self, index: int) -> Interface:
        if index not in self._by_index:
            raise LabError(f"There is no interface with index {index}.")
        return self._by_index[index]

    def named(self, name: str) -> Interface:
        """Return the interface of that name.

        Raises
        ------
        LabError
            There is none.
        """
        for interface in self:
            if interface.name == name:
                return interface
        raise LabError(f"unknown interface `{name}'")

    def has(self, name: str) -> bool:
        """Return whether there is an interface of that name."""
        return any(each.name == name for each in self)

    def add(self, name: str, kind: str, mac: bytes | None = None) -> Interface:
        """Make an interface with its two nodes, down as yet.

        Parameters
        ----------
        name : str
        kind : {"local", "memif", "pg", "loop"}
        mac : bytes, optional
            Six bytes; a random address without it; empty for none.
        """
        if self.has(name):
            raise LabError(f"interface already exists: {name}")
        index = next(each for each in range(INTERFACES + 1) if each not in self._by_index)
        if index == INTERFACES:
            raise LabError(f"There are {INTERFACES} interfaces; no more fit.")
        interface = Interface(index, name, kind, mac if mac is not None else random_mac())
        output_node = self._nodes(interface) if kind != "local" else self._graph.number("error-drop")
        self._by_index[index] = interface
        row = self._table[index]
        row["output_node"] = output_node
        row["tx_queues"] = 0
        self.write(interface)
        self._counters.name_interface(index, name)
        return interface

    def _nodes(self, interface: Interface) -> int:
        """Add the interface's two nodes to the graph, and return the first."""
        sends = self._graph.add(
            KINDS[f"interface-{interface.kind}-tx"], f"{interface.name}-tx", interface.index
        )
        puts_out = self._graph.add(KINDS["interface-output"], f"{interface.name}-output", interface.index)
        self._graph.lead(puts_out, 1, sends)
        self._graph.connect()
        return puts_out

    def remove(self, interface: Interface) -> None:
        """Delete an interface; its nodes stay, and lead to a drop, until one of that name comes back."""
        del self._by_index[interface.index]
        self._table[interface.index] = 0
        self._table[interface.index]["output_node"] = self._graph.number("error-drop")
        self._counters.forget_interface(interface.index)

    def write(self, interface: Interface) -> None:
        """Bring the data plane's row up to date."""
        row = self._table[interface.index]
        row["up"], row["mode"], row["peer"] = interface.is_up, interface.mode, interface.peer
        row["mac"] = int.from_bytes(interface.mac, "little")
        row["mtu"] = interface.mtu
        row["ip4"] = bool(interface.addresses)
        row["address"] = int(interface.addresses[0].ip) if interface.addresses else 0
        row["input_next"] = 0 if interface.mac else 1

    def connect(self, one: Interface, other: Interface) -> None:
        """Cross-connect: what comes in by `one` leaves by `other`."""
        one.mode, one.peer = CROSS_CONNECT, other.index
        self.write(one)

    def bridge(self, interface: Interface, number: int) -> None:
        """Make an interface a port of a bridge."""
        interface.mode, interface.peer = BRIDGE, number
        self.write(interface)

    def route(self, interface: Interface) -> None:
        """Let an interface take part in routing (layer 3) again."""
        interface.mode, interface.peer = LAYER3, 0
        self.write(interface)


def random_mac() -> bytes:
    """Return a random, locally administered Ethernet address; VPP's memifs begin with 02:fe, too."""
    return b"\x02\xfe" + secrets.token_bytes(4)
