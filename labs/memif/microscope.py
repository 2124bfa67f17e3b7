"""Look into a live link: its handshake, its memory, its rings as they move. It can only look.

`look` shows a link of ours, `labs.memif.peek` that of another process, a running VPP for one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labs.memif.messages import printable
from labs.memif.open_files import mapped_at, rung
from labs.memif.ring import MASK_INTERRUPT, NEXT, Ring

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from labs.memif.link import Link
    from labs.memif.messages import AddRing
    from labs.memif.regions import Region
    from labs.memif.wire import Said


@dataclass(frozen=True)
class Slot:
    """A descriptor. `goes_on` says that the packet continues in the next slot."""

    number: int
    region: int
    offset: int
    length: int
    goes_on: bool


@dataclass(frozen=True)
class RegionView:
    """A region: its bytes, and the seals that keep it from changing size.

    `name` is its maker's for it, `descriptor` its number among the open files of the process looked into;
    empty and -1 where they are not known.
    """

    index: int
    size: int
    seals: tuple[str, ...]
    name: str = ""
    descriptor: int = -1


@dataclass(frozen=True, eq=False)
class RingView:
    """A ring at one moment.

    Attributes
    ----------
    name : str
        ``s2m 0`` where the client sends, ``m2s 0`` where the server does, ``ring 0`` where that is not known.
    size, line : int
        Slots; bytes of a cache line.
    head, tail : int
        The client's index and the server's, from 0 to 65535.
    wants_doorbell : bool
        Whether the receiver sleeps; else it polls.
    rung : int or None
        How often we rang the doorbell, where it is we who send.
    unheard : int or None
        How often it was rung since the receiver last answered it.
    """

    name: str
    region: int
    offset: int
    size: int
    line: int
    head: int
    tail: int
    wants_doorbell: bool
    _descriptors: NDArray[np.void] = field(repr=False)
    rung: int | None = None
    unheard: int | None = None

    @property
    def fill(self) -> int | None:
        """Slots with packets that the receiver has not taken, or None where the direction is not known.

        On an m2s ring, that holds for a client that offers all slots it has emptied, as most do.
        """
        filled = {"s2m": self.head - self.tail, "m2s": self.tail - self.head + self.size}
        between = filled.get(self.name.split()[0])
        return None if between is None else min(between & 0xFFFF, self.size)

    def slots(self, first: int = 0, count: int | None = None) -> list[Slot]:
        """Return descriptors, from slot `first` on."""
        last = self.size if count is None else min(first + count, self.size)
        return [
            Slot(
                number,
                int(each["region"]),
                int(each["offset"]),
                int(each["length"]),
                bool(each["flags"] & NEXT),
            )
            for number, each in enumerate(self._descriptors[first:last], first)
        ]

    def __str__(self) -> str:
        fill = "" if self.fill is None else f", {self.fill} filled"
        wish = "sleeps until the doorbell rings" if self.wants_doorbell else "polls"
        return (
            f"{self.name}: {self.size} slots at {self.offset} in region {self.region}, "
            f"head {self.head}, tail {self.tail}{fill}; the receiver {wish}"
        )


@dataclass(frozen=True, eq=False)
class LinkView:
    """A link at one moment; as text, it is what a learner reads.

    Attributes
    ----------
    at : float
        Seconds of `time.monotonic`.
    title : str
    handshake : tuple of Said
        As it went; empty for another process's link.
    regions, rings : tuple
    """

    at: float
    title: str
    handshake: tuple[Said, ...]
    regions: tuple[RegionView, ...]
    rings: tuple[RingView, ...]

    def __str__(self) -> str:
        lines = [self.title]
        if self.handshake:
            began = self.handshake[0].at
            lines.append("handshake")
            lines += [
                f"  {(each.at - began) * 1000:7.2f} ms {'we  ' if each.by_us else 'peer'} {each.message}"
                + (" + descriptor" if each.descriptors else "")
                for each in self.handshake
            ]
        lines += [
            f"region {each.index}: {each.size} bytes, sealed against: {', '.join(each.seals) or 'nothing'}"
            for each in self.regions
        ]
        return "\n".join([*lines, *map(str, self.rings)])


def look(link: Link) -> LinkView:
    """Return a link of ours as it is now.

    Raises
    ------
    Down
        The link is down.
    """
    connection = link.connection
    ours = {id(each.ring): each for each in connection.queues}
    rings = []
    for ring in connection.rings:
        queue = ours[id(ring)]
        sent = queue.counters.rung if queue.sends else None
        rings.append(view_of(ring, _name(ring.place), sent, rung("self", queue.doorbell)))
    return LinkView(
        at=time.monotonic(),
        title=f"{link.path}, interface {link.settings.id}, "
        f"peer {printable(connection.peer_name)} ({printable(connection.peer_interface)})",
        handshake=tuple(link.handshake),
        regions=tuple(map(_region, connection.regions)),
        rings=tuple(rings),
    )


def _name(place: AddRing) -> str:
    return f"{'s2m' if place.is_s2m else 'm2s'} {place.index}"


def _region(region: Region) -> RegionView:
    memory = mapped_at(region.address)
    name, descriptor = (printable(memory.name), memory.descriptor) if memory else ("", -1)
    return RegionView(region.index, region.size, region.seals, name, descriptor)


def view_of(ring: Ring, name: str, rung: int | None = None, unheard: int | None = None) -> RingView:
    """Return a ring as it is now."""
    # The receiver's index first: the sender is then never seen behind it.
    if name.startswith("s2m"):
        tail, head = ring.tail, ring.head
    else:
        head, tail = ring.head, ring.tail
    return RingView(
        name=name,
        region=ring.place.region,
        offset=ring.place.offset,
        size=ring.size,
        line=ring.line,
        head=head,
        tail=tail,
        wants_doorbell=not ring.flags & MASK_INTERRUPT,
        _descriptors=ring.descriptors.copy(),
        rung=rung,
        unheard=unheard,
    )
