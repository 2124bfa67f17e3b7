"""Bridges and cross-connects: which interfaces are wired to which, and who was seen where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.vm import BRIDGE, CROSS_CONNECT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from labs.glassbox.interfaces import Interface, Interfaces

MOST = 1 << 24
"""Bridge domains have numbers below this one, as in VPP."""

_NOBODY = -1  # not 0: those who were put behind this row must still be found


@dataclass(frozen=True)
class Station:
    """An Ethernet address that a bridge has learned."""

    mac: bytes
    bridge: int
    interface: int


class Bridges:
    """The bridge domains, their ports and what they have learned.

    Parameters
    ----------
    macs : ndarray of int64, shape (rows, 4)
        The data plane's table: address, bridge, interface.
    interfaces : Interfaces

    Attributes
    ----------
    numbers : set of int
        Those that there are.
    """

    def __init__(self, macs: NDArray[np.int64], interfaces: Interfaces) -> None:
        self._macs = macs
        self._interfaces = interfaces
        self.numbers: set[int] = set()

    def add(self, number: int) -> None:
        """Make a bridge domain.

        Raises
        ------
        LabError
            In VPP's words.
        """
        if number in self.numbers:
            raise LabError("bd_add_del returned -119")
        self._check(number)
        self.numbers.add(number)

    def remove(self, number: int) -> None:
        """Delete a bridge domain that has no ports.

        Raises
        ------
        LabError
            In VPP's words.
        """
        if number == 0:
            raise LabError("bridge domain 0 can not be modified")
        if number not in self.numbers:
            raise LabError("bridge domain ID does not exist")
        if self.ports(number):
            raise LabError("bridge domain in use - remove members")
        self.numbers.discard(number)

    def join(self, interface: Interface, number: int) -> None:
        """Make an interface a port of a bridge domain, which is made if it is not there."""
        self._check(number)
        self.forget(interface)
        self.numbers.add(number)
        self._interfaces.bridge(interface, number)

    def connect(self, interface: Interface, peer: Interface) -> None:
        """Let all that comes in by `interface` leave by `peer`."""
        self.forget(interface)
        self._interfaces.connect(interface, peer)

    def route(self, interface: Interface) -> None:
        """Let an interface take part in routing again."""
        self.forget(interface)
        self._interfaces.route(interface)

    def leave(self, interface: Interface) -> None:
        """Undo all of the above for an interface that is being deleted, also where it is another's peer."""
        self.route(interface)
        for other in self._interfaces:
            if other.mode == CROSS_CONNECT and other.peer == interface.index:
                self.route(other)

    def ports(self, number: int) -> list[Interface]:
        """Return the interfaces of a bridge domain."""
        return [each for each in self._interfaces if each.mode == BRIDGE and each.peer == number]

    def stations(self) -> list[Station]:
        """Return all that was learned."""
        return [
            Station(mac.to_bytes(6, "little"), bridge, interface)
            for mac, bridge, interface, _ in self._macs[self._macs[:, 0] > 0].tolist()
        ]

    def forget(self, interface: Interface) -> None:
        """Forget who was seen behind an interface."""
        self._macs[(self._macs[:, 0] > 0) & (self._macs[:, 2] == interface.index)] = (_NOBODY, 0, 0, 0)

    def forget_all(self) -> None:
        """Forget whom any bridge has seen."""
        self._macs[:] = 0

    def _check(self, number: int) -> None:
        if number == 0:
            raise LabError("bridge domain 0 can not be modified")
        if number >= MOST:
            raise LabError("bridge domain ID exceed 16M limit")
