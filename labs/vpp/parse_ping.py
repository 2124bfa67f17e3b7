"""What VPP's ``ping`` prints, as data (src/plugins/ping/ping.c)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_REPLY = re.compile(
    r"(?P<size>\d+) bytes from (?P<address>[0-9A-Fa-f.:]+): "
    r"icmp_seq=(?P<sequence>\d+) ttl=(?P<ttl>\d+) time=(?P<ms>-?\d*\.?\d+) ms"
)
_STATISTICS = re.compile(
    r"Statistics: (?P<sent>\d+) sent, (?P<received>\d+) received, (?P<loss>-?\d+)% packet loss"
)
_FAILED = re.compile(r"Failed: (.*)")


@dataclass(frozen=True)
class PingReply:
    """One reply.

    Attributes
    ----------
    size : int
        Bytes, as VPP counts them.
    address : str
        Who answered.
    sequence, ttl : int
    time_ms : float
        Round trip in milliseconds, from building the request to the reply's arrival in the graph.
    """

    size: int
    address: str
    sequence: int
    ttl: int
    time_ms: float


@dataclass(frozen=True)
class PingStatistics:
    """The last line: packets sent and received, and the loss in per cent as VPP rounds it."""

    sent: int
    received: int
    loss_percent: int


def parse_ping_line(line: str) -> PingReply | None:
    """Return the reply in `line`, or None if it is another kind of line."""
    row = _REPLY.fullmatch(line.strip())
    if row is None:
        return None
    return PingReply(
        int(row["size"]), row["address"], int(row["sequence"]), int(row["ttl"]), float(row["ms"])
    )


def parse_ping_statistics(line: str) -> PingStatistics | None:
    """Return the counts in ping's last line, or None if it is another kind of line."""
    row = _STATISTICS.fullmatch(line.strip())
    return PingStatistics(int(row["sent"]), int(row["received"]), int(row["loss"])) if row else None


def parse_ping_failure(line: str) -> str | None:
    """Return why a request was not sent (``no egress interface``, ...), or None."""
    row = _FAILED.fullmatch(line.strip())
    return row[1] if row else None
