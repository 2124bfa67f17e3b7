"""The memif between a node and a probe: made on first use, kept while the node lives."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from labs.errors import LabError, LinkDown
from labs.launch import hardware_address
from labs.memif import Client, Down
from labs.traffic.probe_plan import BUFFER, RING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from labs.node import Node

_FIRST, _LAST = 100, 254
_CONNECTS_WITHIN = 5.0
_FILES = ("probe-{}.sock", "far-{}.sock")  # no longer than NODE.stats.sock, which is known to fit


@dataclass(eq=False)
class Port:
    """Our end of a memif to a node.

    Attributes
    ----------
    node : Node
    number : int
        VPP's socket id, and the third byte of the addresses: 198.18.NUMBER.1 is the node's, .2 ours. RFC 2544
        keeps 198.18.0.0/15 for measuring, so no network of a lab lies there.
    link : Client
    lines : list of str
        What the node was told.
    """

    node: Node
    number: int
    link: Client
    lines: list[str] = field(default_factory=list)

    @property
    def interface(self) -> str:
        """The node's name for it."""
        return f"memif{self.number}/0"

    @property
    def network(self) -> str:
        """The network between the node and us."""
        return f"198.18.{self.number}.0/30"

    def address(self, host: int) -> str:
        """Return the node's (1) or our (2) address."""
        return f"198.18.{self.number}.{host}"

    def mac(self, host: int) -> str:
        """Return the node's (1) or our (2) Ethernet address."""
        return hardware_address(self.address(host))

    def make(self, filename: str) -> None:
        """Make the node's end, and connect.

        Raises
        ------
        LinkDown
            It does not connect.
        """
        self._tell(
            f"create memif socket id {self.number} filename {filename}",
            f"create interface memif id 0 socket-id {self.number} hw-addr {self.mac(1)} master",
            f"set interface state {self.interface} up",
            f"set interface ip address {self.interface} {self.address(1)}/30",
            f"set ip neighbor {self.interface} {self.address(2)} {self.mac(2)} static",
        )
        self.link.start()
        self._connect()

    def must_be_up(self) -> None:
        """Do nothing while packets can flow.

        Raises
        ------
        LinkDown
            They cannot; the message says why.
        """
        state = self.node.memifs().interface(self.interface)
        if state and not state.admin_up:
            raise LinkDown(
                f"{self.node.name}'s {self.interface}, which the probe uses, is down.",
                f"on {self.node.name}: set interface state {self.interface} up",
            )
        self._connect()

    def _connect(self) -> None:
        try:
            self.link.wait_up(_CONNECTS_WITHIN)
        except Down as error:
            raise LinkDown(
                f"The probe's memif to {self.node.name} is down. {error.message}",
                f"see `show memif {self.interface}` on {self.node.name}; close() the probe and make it anew.",
            ) from None
        self._follow()

    def _follow(self) -> None:
        """Wait for packets as the node's other memifs do now: one polling queue keeps the whole node awake.

        The learner may have set those since; and VPP forgets the mode of a memif that connects anew.
        """
        modes = self.node.rx_modes()
        ours = {self.interface, *(port.interface for port in _ports.get(self.node, {}).values())}
        others = {mode for name, mode in modes.items() if name not in ours}
        if len(others) == 1 and others != {modes.get(self.interface)}:
            self.lines = [line for line in self.lines if "rx-mode" not in line]
            self._tell(f"set interface rx-mode {self.interface} {others.pop()}")

    def _tell(self, *lines: str) -> None:
        for line in lines:
            self.node.cli(line)
            if line not in self.lines:
                self.lines.append(line)

    def close(self) -> None:
        """End our side, and delete the node's while it runs."""
        self.link.close()
        for line in (f"delete interface memif {self.interface}", f"delete memif socket id {self.number}"):
            with contextlib.suppress(LabError):  # the learner may have deleted it, or the node may be gone
                self.node.cli(line)


_ports: WeakKeyDictionary[Node, dict[int, Port]] = WeakKeyDictionary()
_routes: WeakKeyDictionary[Node, list[str]] = WeakKeyDictionary()


def at(node: Node, place: Path, first: int, step: int) -> Port:
    """Return the port to a node, made if there is none.

    Parameters
    ----------
    node : Node
    place : Path
        The lab's run directory.
    first, step : int
        Which numbers are this port's; odd ones are for packets that come out.

    Raises
    ------
    NodeDied
        The node has ended.
    LinkDown
        The port does not connect.
    """
    node.must_run()
    ports = _ports.setdefault(node, {})
    slot = first % 2
    if slot in ports and node.memifs().interface(ports[slot].interface) is None:
        ports.pop(slot).close()  # the learner has deleted it
    if slot not in ports:
        taken = {row.id for row in node.memifs().sockets}
        number = next((each for each in range(_FIRST + first, _LAST, step) if each not in taken), None)
        if number is None:
            raise LabError(
                f"{node.name} has no number left for a probe.", "delete memif sockets from 100 on."
            )
        filename = _FILES[slot].format(node.name)
        link = Client(place / filename, ring_size=RING, buffer_size=BUFFER, interface="probe")
        port = Port(node, number, link)
        node.at_close.callback(link.close)
        try:
            port.make(filename)
        except BaseException:
            port.close()
            raise
        ports[slot] = port
    return ports[slot]


def close(node: Node, slot: int) -> None:
    """Take the port at a node away, if there is one."""
    if port := _ports.get(node, {}).pop(slot, None):
        port.close()


def add_route(node: Node, line: str) -> None:
    """Give a node a route, once."""
    lines = _routes.setdefault(node, [])
    if line not in lines:
        node.cli(line)
        lines.append(line)


def forget_routes(nodes: Iterable[Node]) -> None:
    """Delete the routes that probes have given to nodes."""
    for node in nodes:
        for line in _routes.pop(node, []):
            with contextlib.suppress(LabError):
                node.cli(line.replace("route add", "route del"))
