"""A connection: what one handshake has brought about, until the link ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labs.memif.control import STOP
from labs.memif.doorbell import take_doorbell
from labs.memif.errors import BadMessage
from labs.memif.queue import Queue
from labs.memif.regions import map_region
from labs.memif.ring import MAX_LOG2_SIZE, map_rings
from labs.memif.wire import Channel, close_all

if TYPE_CHECKING:
    from labs.memif.messages import AddRegion, AddRing
    from labs.memif.regions import Region
    from labs.memif.ring import Ring
    from labs.memif.settings import Settings

MAX_REGIONS = 256


@dataclass(eq=False)
class Connection:
    """Everything of a link that is up.

    Attributes
    ----------
    channel : Channel
        The control socket.
    regions, rings : list
        In the client's order.
    tx, rx : list of Queue
        What we send and receive on.
    peer_name, peer_interface : str
        What the peer says of itself.
    """

    channel: Channel
    regions: list[Region]
    rings: list[Ring]
    tx: list[Queue]
    rx: list[Queue]
    peer_name: str = ""
    peer_interface: str = ""

    @property
    def queues(self) -> list[Queue]:
        """All queues."""
        return [*self.tx, *self.rx]

    @property
    def has_ended(self) -> bool:
        """Whether it is about to be closed."""
        return any(queue.control[STOP] for queue in self.queues)

    def stop(self) -> None:
        """Make every call on the queues return at once."""
        for queue in self.queues:
            queue.stop()

    def close(self) -> None:
        """Close every descriptor. The memory goes when the last who holds a queue lets go of it."""
        for queue in self.queues:
            queue.close()
        self.channel.close()


@dataclass
class Offered:
    """What a client has sent a server so far; the server's until it is made into a connection.

    Parameters
    ----------
    settings : Settings
        The server's.
    """

    settings: Settings
    regions: list[Region] = field(default_factory=list)
    places: list[AddRing] = field(default_factory=list)
    doorbells: list[int] = field(default_factory=list)

    def add_region(self, message: AddRegion, descriptors: list[int]) -> None:
        """Map a region."""
        try:
            if message.index != len(self.regions) or message.index >= MAX_REGIONS:
                raise BadMessage(
                    f"The peer sent region {message.index} when {len(self.regions)} was next.",
                    reason="unexpected region index",
                )
            self.regions.append(
                map_region(message.index, message.size, descriptors[0], trust=self.settings.trust)
            )
        finally:
            close_all(descriptors)

    def add_ring(self, message: AddRing, descriptors: list[int]) -> None:
        """Note a ring and its doorbell."""
        self.doorbells += descriptors  # ours from here on, whatever follows
        direction = "s2m" if message.is_s2m else "m2s"
        number = sum(each.is_s2m == message.is_s2m for each in self.places)
        if message.index != number or number >= self.settings.queues:
            raise BadMessage(
                f"The peer sent {direction} ring {message.index}; "
                f"{number} was next, and {self.settings.queues} may be.",
                reason="unexpected ring index",
            )
        if message.log2_size > min(MAX_LOG2_SIZE, self.settings.log2_size):
            raise BadMessage(
                f"The peer sent a ring of 2^{message.log2_size} slots; "
                f"{self.settings.ring_size} is the limit here.",
                reason="ring is too large",
            )
        if message.private_header:
            raise BadMessage("The peer wants private headers.", reason="private headers not supported")
        take_doorbell(descriptors[0])
        self.places.append(message)

    def connect(self, channel: Channel) -> Connection:
        """Check all of it together and return the connection."""
        if {each.is_s2m for each in self.places} != {True, False}:
            raise BadMessage("The peer sent no ring for one direction.", reason="missing ring")
        rings = map_rings(self.places, self.regions, self.settings.line_size)
        queues = []
        for ring, doorbell in zip(rings, self.doorbells, strict=True):
            queues.append(Queue(ring, self.regions, doorbell, is_client=False))
        self.doorbells.clear()
        return Connection(
            channel,
            self.regions,
            rings,
            tx=[each for each in queues if each.sends],
            rx=[each for each in queues if not each.sends],
        )

    def drop(self) -> None:
        """Close what was not made into a connection."""
        close_all(self.doorbells)
        self.doorbells.clear()
