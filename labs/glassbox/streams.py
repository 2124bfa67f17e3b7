"""The packet generator's streams: what to send, how much and how fast."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from labs.errors import LabError
from labs.glassbox import clock
from labs.glassbox.packet import ROOM
from labs.glassbox.vm import STREAMS, TICKS_PER_MS, VECTOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labs.glassbox.graph import Graph
    from labs.glassbox.interfaces import Interface
    from labs.glassbox.vm import Vm

HEAD = 64
"""Bytes in which the packets of a stream may differ: all headers that a description can have."""


@dataclass
class Stream:
    """One stream.

    Attributes
    ----------
    name : str
    packet : bytes
        What the first packet is.
    limit : int
        Packets to send; 0 for no end.
    rate : float
        Packets a second; 0 for as fast as it goes.
    interface : Interface
        The interface that they seem to come in by.
    node : str
        The node that gets them.
    heads : tuple of bytes
        How each packet begins, in `HEAD` bytes at most, where they are not alike; the first comes again
        after the last.
    most : int
        Packets in one turn.
    """

    name: str
    packet: bytes
    limit: int
    rate: float
    interface: Interface
    node: str
    heads: tuple[bytes, ...] = ()
    most: int = VECTOR
    row: int = 0
    memory: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8), repr=False)


class Streams:
    """All streams.

    Parameters
    ----------
    vm : Vm
        The main thread's: it alone makes packets.
    graph : Graph
    """

    def __init__(self, vm: Vm, graph: Graph) -> None:
        self._vm = vm
        self._graph = graph
        self.by_name: dict[str, Stream] = {}

    def named(self, name: str) -> Stream:
        """Return the stream of that name.

        Raises
        ------
        LabError
            There is none.
        """
        if name not in self.by_name:
            raise LabError(f"No such stream: {name}", "show packet-generator lists them.")
        return self.by_name[name]

    def add(self, stream: Stream) -> None:
        """Add a stream; it is not sent yet. One of the same name makes way.

        Raises
        ------
        LabError
            There are too many, the packet is too long, or there is no such node.
        """
        if not 0 < len(stream.packet) <= ROOM:
            raise LabError(f"A packet of {len(stream.packet)} bytes cannot be sent; {ROOM} is the limit.")
        arc = self._graph.arc_to("pg-input", stream.node)
        if stream.name in self.by_name:
            self.remove(stream.name)
        used = {each.row for each in self.by_name.values()}
        row = next((each for each in range(STREAMS) if each not in used), None)
        if row is None:
            raise LabError(
                f"There are {STREAMS} streams; no more fit.", "packet-generator delete NAME first."
            )
        stream.row = row
        heads = [each.ljust(HEAD, b"\0") for each in stream.heads or (stream.packet[:HEAD],)]
        stream.memory = np.frombuffer(b"".join(heads) + stream.packet, np.uint8).copy()
        first = stream.memory.ctypes.data
        entry = self._vm.streams[row]
        entry["to"], entry["most"] = arc, stream.most
        entry["heads"], entry["kinds"], entry["next"] = first, len(heads), 0
        entry["template"], entry["size"] = first + len(heads) * HEAD, len(stream.packet)
        entry["interface"] = stream.interface.index
        entry["sent"] = 0
        self.by_name[stream.name] = stream
        self.set_rate(stream, stream.rate)

    def remove(self, name: str) -> None:
        """Delete a stream."""
        stream = self.named(name)
        self._vm.streams[stream.row] = 0
        del self.by_name[name]

    def set_rate(self, stream: Stream, rate: float) -> None:
        """Change a stream's rate, in packets a second; 0 is as fast as it goes."""
        stream.rate = rate
        entry = self._vm.streams[stream.row]
        entry["rate"] = rate / (float(self._vm.state[TICKS_PER_MS]) * 1000)
        entry["credit"], entry["last"] = 1.0, clock.now()

    def set_limit(self, stream: Stream, limit: int) -> None:
        """Change how many packets a stream sends; 0 is no end. What it has sent counts."""
        stream.limit = limit
        entry = self._vm.streams[stream.row]
        entry["left"] = max(limit - int(entry["sent"]), 0) if limit else -1
        if entry["left"] == 0:
            entry["enabled"] = 0

    def enable(self, stream: Stream, *, is_on: bool) -> None:
        """Begin to send a stream, from its first packet on, or stop."""
        entry = self._vm.streams[stream.row]
        if bool(entry["enabled"]) == is_on:
            return
        if is_on:
            entry["left"], entry["sent"], entry["next"] = stream.limit or -1, 0, 0
            entry["credit"], entry["last"] = 1.0, clock.now()
        entry["enabled"] = is_on

    def is_enabled(self, stream: Stream) -> bool:
        """Return whether a stream is being sent."""
        return bool(self._vm.streams[stream.row]["enabled"])

    def sent(self, stream: Stream) -> int:
        """Return how many packets of a stream were sent."""
        return int(self._vm.streams[stream.row]["sent"])

    @property
    def rows(self) -> int:
        """How many rows of the data plane's table to look at."""
        return max((each.row + 1 for each in self.by_name.values()), default=0)
