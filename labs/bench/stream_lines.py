"""The packet generator's lines for a load: one stream of frames of one size, or three that make the IMIX."""

from __future__ import annotations

from dataclasses import dataclass

IMIX = "imix"
"""Of 12 frames 7 of 64 bytes, 4 of 590 and 1 of 1514: the simple IMIX of testers, as frames."""

PREFIX = "198.18.0.0/15"
"""Where the packets go: addresses set aside for measuring networks (RFC 2544, RFC 6815)."""

TARGET = "198.18.0.1"
VECTOR = 256
_PARTS = ((64, 7), (590, 4), (1514, 1))
_OF = 12
_FIRST_PORT = 5000
_ETHERNET, _IP_UDP = 14, 28

Size = int | str


@dataclass(frozen=True)
class Part:
    """One stream of a load: its name, its frames' size, its share of the packets, its most in one turn."""

    name: str
    size: int
    share: float
    most: int


def parts(size: Size) -> tuple[Part, ...]:
    """Return the streams that make a load of one size, or of the IMIX.

    Notes
    -----
    VPP gives each stream a vector of its own in each turn of its loop, so three streams sent flat out would
    be sent equally often. `Part.most` (``maxframe``) bounds them to 147, 84 and 21 packets a turn.
    """
    if size == IMIX:
        most = VECTOR // _OF
        return tuple(Part(f"bench-{each}", each, share / _OF, share * most) for each, share in _PARTS)
    return (Part("bench", int(size), 1.0, VECTOR),)


def mean_size(size: Size) -> float:
    """Return the bytes of a load's frame, on average."""
    return sum(part.size * part.share for part in parts(size))


def new(
    part: Part, node: str, macs: tuple[str, str] | None, source: str, rate: float | None, flows: int
) -> str:
    """Return the line that makes a stream.

    Parameters
    ----------
    part : Part
    node : str
        The interface where the packets leave, or the graph node that is to look where they go.
    macs : tuple of str or None
        Source and destination; None for packets that have no Ethernet header yet.
    source : str
        Source address.
    rate : float or None
        Packets a second of the whole load; None for as many as can be made.
    flows : int
        Source ports, one after the other.
    """
    ports = f"{_FIRST_PORT}" if flows == 1 else f"{_FIRST_PORT} - {_FIRST_PORT + flows - 1}"
    behind_ip = part.size - _ETHERNET - _IP_UDP
    packet = (
        f"UDP: {source} -> {TARGET} "
        f"UDP: {ports} -> 9 length {behind_ip + 8} checksum 0 incrementing {min(behind_ip, 22)}"
    )
    size = part.size
    if macs is None:
        size -= _ETHERNET
    else:
        packet = f"IP4: {macs[0]} -> {macs[1]} {packet}"
    most = f" maxframe {part.most}" if part.most < VECTOR else ""
    return (
        f"packet-generator new {{ name {part.name} size {size}-{size} "
        f"rate {_rate(part, rate)}{most} node {node} source pg0 data {{ {packet} }} }}"
    )


def configure(part: Part, rate: float | None) -> str:
    """Return the line that gives a stream another rate while it is sent."""
    return f"packet-generator configure {part.name} rate {_rate(part, rate)}"


def enable(name: str) -> str:
    """Return the line that sends a stream."""
    return f"packet-generator enable-stream {name}"


def disable(name: str) -> str:
    """Return the line that stops a stream."""
    return f"packet-generator disable-stream {name}"


def delete(name: str) -> str:
    """Return the line that deletes a stream."""
    return f"packet-generator delete {name}"


def _rate(part: Part, rate: float | None) -> str:
    """Return a stream's part of a rate, as VPP takes it; its 0 is as fast as it goes."""
    return "0" if rate is None else f"{max(rate * part.share, 1):.0f}"
