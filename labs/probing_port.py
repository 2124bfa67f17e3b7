"""The memif between a node and a probe: made on first use, kept while the node lives."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

from labs.errors import LabError, LinkDown
from labs.link_lines import hardware_address
from labs.memif import Client, Down
from labs.traffic.probe_plan import BUFFER, RING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from labs.node import Node
    from labs.probing import NodeProbe

_CONNECTS_WITHIN = 5.0


@dataclass(frozen=True)
class Slot:
    """One of the ports that a node may have, each for other packets.

    Attributes
    ----------
    filename : str
        No longer than NODE.stats.sock, which is known to fit.
    first, end : int
        The numbers that it may have.
    step : int
        How many of these a node takes, at a time.
    ring : int
        Descriptors of its rings.
    """

    filename: str
    first: int
    end: int
    step: int
    ring: int = RING


NEAR = Slot("probe-{}.sock", 100, 220, 2)
"""Where requests go in, and replies come out."""
FAR = Slot("far-{}.sock", 101, 220, 2)
"""Where requests come out, of a probe of one way."""
STANDING = Slot("bench-{}.sock", 220, 254, 1)
"""Like `NEAR`, of a probe that goes on: while it measures, no other can use its port."""
GENERATOR = Slot("gen-{}.sock", 100, 220, 2, ring=1024)
"""Where millions of packets go in."""
SINK = Slot("sink-{}.sock", 101, 220, 2, ring=1024)
"""Where they come out."""
WORD = Slot("word-{}.sock", 100, 220, 2)
"""Where a single packet goes in, that nobody else is to see."""


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
            _say_at_the_end(self.node, line)


_ports: WeakKeyDictionary[Node, dict[Slot, Port]] = WeakKeyDictionary()
_routes: WeakKeyDictionary[Node, dict[str, WeakSet[NodeProbe]]] = WeakKeyDictionary()


def at(node: Node, place: Path, slot: Slot, index: int, count: int) -> Port:
    """Return the port to a node, made if there is none.

    Parameters
    ----------
    node : Node
    place : Path
        The lab's run directory.
    slot : Slot
    index, count : int
        Which of how many nodes it is: each has numbers of its own.

    Raises
    ------
    NodeDied
        The node has ended.
    LinkDown
        The port does not connect.
    """
    node.must_run()
    ports = _ports.setdefault(node, {})
    if slot in ports and node.memifs().interface(ports[slot].interface) is None:
        ports.pop(slot).close()  # the learner has deleted it
    if slot not in ports:
        taken = {row.id for row in node.memifs().sockets}
        numbers = range(slot.first + slot.step * index, slot.end, slot.step * count)
        number = next((each for each in numbers if each not in taken), None)
        if number is None:
            raise LabError(
                f"{node.name} has no number left for a probe.", "delete memif sockets from 100 on."
            )
        filename = slot.filename.format(node.name)
        link = Client(place / filename, ring_size=slot.ring, buffer_size=BUFFER, interface="probe")
        port = Port(node, number, link)
        node.at_close.callback(link.close)
        try:
            port.make(filename)
        except BaseException:
            port.close()
            raise
        ports[slot] = port
    return ports[slot]


def close(node: Node, slot: Slot) -> None:
    """Take the port at a node away, if there is one."""
    if port := _ports.get(node, {}).pop(slot, None):
        port.close()


def add_route(node: Node, line: str, probe: NodeProbe) -> None:
    """Give a node a route that a probe needs, if it has not got it: it may have gone with a link."""
    if line.split()[3] not in node.cli("show ip fib"):  # ip route add NETWORK via ...
        node.cli(line)
    _routes.setdefault(node, {}).setdefault(line, WeakSet()).add(probe)


def forget_routes(nodes: Iterable[Node], probe: NodeProbe) -> None:
    """Delete the routes that nodes were given for a probe, and that no other needs."""
    for node in nodes:
        routes = _routes.get(node, {})
        for line in [line for line, probes in routes.items() if probes <= {probe}]:
            del routes[line]
            _say_at_the_end(node, line.replace("route add", "route del"))
        for probes in routes.values():
            probes.discard(probe)


def _say_at_the_end(node: Node, line: str) -> None:
    """Tell a node to take something away, unless it is gone, or stands still: then nobody waits for it."""
    with contextlib.suppress(LabError):  # also where the learner has taken it away
        if not node.stats.stopped():
            node.cli(line)
