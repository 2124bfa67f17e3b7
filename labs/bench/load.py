"""The bench's traffic: packets that the first node's packet generator makes, and the last node drops.

The packets leave by the first link at once (``node memif0/0``); nodes between forward them, and the last has
a route to drop, so that nothing answers. All figures are in the statistics segment, on VPP and the glass box:

============  ======================================================================================
offered       ``/if/tx`` of the first link's interface at its sender: VPP counts a packet as sent
              before it looks for a slot in the ring (`InterfaceCounters.tx_packets`)
received      ``/if/rx`` of the last link's interface at its receiver (`rx_packets`, `rx_bytes`)
lost          offered less received; but for what is under way that is exactly
              ``/err/memif0/0-tx/no_free_slots`` of the sender's node (glass box: ``/err/memif-tx/no free tx
              slots``, of all its memifs), see `refused`; ``rollback`` beside it counts some of the same.
              ``/if/tx-error`` stays 0: memif does not count there
dropped       ``/if/drops`` of the last interface: all that was received, since it ends there
============  ======================================================================================
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from labs.bench import stream_lines as lines_for
from labs.bench.seen import streams_of
from labs.bench.stream_lines import IMIX, PREFIX, Size, parts
from labs.bench.way import Way, find_way
from labs.errors import CliError, LabError

if TYPE_CHECKING:
    from labs.lab import Lab
    from labs.node import Node

__all__ = ["IMIX", "SIZES", "Load", "refused"]

SIZES: tuple[Size, ...] = (64, 128, 256, 512, 1024, 1500, 4096, 9000, IMIX)
MOST_FLOWS = 1000
_REFUSED_BY_GLASS = "/err/memif-tx/no free tx slots"
_SMALLEST, _LARGEST = 64, 9000
_TOO_FAST = 1e9
SAME = "same"
"""The rate that is not changed."""


class Load:
    """Traffic through a lab, from its first node to its last.

    Parameters
    ----------
    lab : Lab
        Started.
    backwards : bool
        From its last node to its first.
    routed : bool
        The first node looks up where its packets go (``node ip4-lookup``), as if it had received them. Its
        route goes again when the traffic does.

    Attributes
    ----------
    size : int or "imix"
        Bytes of a frame.
    rate : float or None
        Packets a second; None for as many as the generator can make.
    flows : int
    running : bool
        Whether traffic is wanted: at a rate of 0 nothing is sent all the same.
    """

    def __init__(self, lab: Lab, *, backwards: bool = False, routed: bool = False) -> None:
        self._lab, self._backwards, self._routed = lab, backwards, routed
        self.size: Size = 64
        self.rate: float | None = 1e6
        self.flows = 1
        self.running = False
        self._way: Way | None = None
        self._way_of: list[int] = []
        self._made: tuple[str, ...] = ()
        self._own_routes: list[tuple[str, str]] = []

    def start(self) -> list[str]:
        """Begin to send; return the equal shell lines.

        Raises
        ------
        LabError
            The lab has no way for packets, or a node has ended.
        """
        self._way = None
        self._made = tuple(stream.name for stream in streams_of(self._sender()))  # another bench's, perhaps
        lines = self._send()
        self.running = True
        return lines

    def stop(self) -> list[str]:
        """Send no more; return the equal shell lines. A sender that has ended sends nothing anyway."""
        self.running = False
        return self._take_away() + self._leave_way()

    def set(
        self, *, size: Size | None = None, rate: float | str | None = SAME, flows: int | None = None
    ) -> list[str]:
        """Change what is sent, while it is sent or for the next start; return the equal shell lines.

        Parameters
        ----------
        size : int or "imix", optional
            Bytes of a frame, 64 to 9000.
        rate : float or None, optional
            Packets a second; 0 sends nothing, None as many as can be made. It changes under way; the rest
            needs new streams.
        flows : int, optional
            1 to 1000; they differ in their source port.

        Raises
        ------
        LabError
            There is no such size, rate or number of flows, or a node refuses; it stays as it was.
        """
        before = self.size, self.rate, self.flows
        wanted = (
            self.size if size is None else _checked_size(size),
            self.rate if rate == SAME else _checked_rate(rate),
            self.flows if flows is None else _checked_flows(flows),
        )
        if wanted == before:
            return []
        self.size, self.rate, self.flows = wanted
        is_rate_alone = (wanted[0], wanted[2]) == (before[0], before[2])
        try:
            return self._change(is_rate_alone=is_rate_alone) if self.running else []
        except LabError:
            self.size, self.rate, self.flows = before
            raise

    def suspend(self) -> list[str]:
        """Take the streams away, because what they lead to goes away; `resume` brings them back."""
        self._way = None
        return self._take_away() + self._leave_way()

    def resume(self) -> list[str]:
        """Send again if traffic is wanted: a node or a link was made anew."""
        return self._send() if self.running else []

    def _change(self, *, is_rate_alone: bool) -> list[str]:
        if is_rate_alone and self._made and self.rate != 0:
            with contextlib.suppress(CliError):  # the streams are gone: somebody has reset the lab
                return self._sender().say([lines_for.configure(part, self.rate) for part in parts(self.size)])
        return self._send()

    def _send(self) -> list[str]:
        """Make routes and streams as they are to be, and send them."""
        said = self._take_away()
        if self.rate == 0:
            return said
        nodes = self._nodes()
        processes = [node.handle.pid for node in nodes.values()]
        way = self._way
        if way is None or processes != self._way_of:
            way = find_way(nodes)
            routes = way.routes(PREFIX, from_first=self._routed)
            said += [line for node, route in routes for line in nodes[node].say([route])]
            self._way, self._way_of = way, processes
            # the usual ones stay: a route to drop harms nobody, until another way leads through it
            self._own_routes = routes if self._routed or self._backwards else []
        made = parts(self.size)
        node, macs = ("ip4-lookup", None) if self._routed else (way.first.by, way.macs)
        new = [lines_for.new(part, node, macs, way.first.source, self.rate, self.flows) for part in made]
        self._made = tuple(part.name for part in made)
        return said + self._sender().say([*new, *map(lines_for.enable, self._made)])

    def _take_away(self) -> list[str]:
        """Stop and delete the streams; a node that was restarted knows nothing of them."""
        said: list[str] = []
        made, self._made = self._made, ()
        for name in made:
            with contextlib.suppress(LabError):
                said += self._sender().say([lines_for.disable(name), lines_for.delete(name)])
        return said

    def _leave_way(self) -> list[str]:
        """Delete the routes that lead other traffic astray."""
        said: list[str] = []
        for node, route in self._own_routes:
            with contextlib.suppress(LabError):
                said += self._lab.nodes[node].say([route.replace("route add", "route del")])
        self._own_routes = []
        return said

    def _sender(self) -> Node:
        return next(iter(self._nodes().values()))

    def _nodes(self) -> dict[str, Node]:
        """Return the nodes in the order in which packets meet them."""
        nodes = list(self._lab.nodes.items())
        return dict(nodes[::-1] if self._backwards else nodes)


def refused(node: Node, interface: str) -> int:
    """Return how many packets found no room in the ring behind an interface, since the node started.

    The glass box counts them for all its memifs together.
    """
    # one counter, and not all: the bench asks twenty times a second
    return sum(node.stats.error(name) for name in (f"/err/{interface}-tx/no_free_slots", _REFUSED_BY_GLASS))


def _checked_size(size: Size) -> Size:
    if size == IMIX or (
        isinstance(size, int) and not isinstance(size, bool) and _SMALLEST <= size <= _LARGEST
    ):
        return size
    raise LabError(f"A frame cannot have {size!r} bytes.", f"choose {_SMALLEST} to {_LARGEST}, or 'imix'.")


def _checked_flows(flows: int) -> int:
    if isinstance(flows, bool) or not isinstance(flows, int) or not 1 <= flows <= MOST_FLOWS:
        raise LabError(f"There cannot be {flows!r} flows.", f"choose 1 to {MOST_FLOWS}.")
    return flows


def _checked_rate(rate: float | str | None) -> float | None:
    if rate is None or (isinstance(rate, int | float) and 0 <= rate < _TOO_FAST):
        return rate
    raise LabError(f"{rate!r} is no rate.", "give packets a second, 0 for none, or None for flat out.")
