"""VPP's own ping: running it, and what it has measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from labs.errors import LabError
from labs.vpp.parse import parse_ping_line, parse_ping_statistics

if TYPE_CHECKING:
    from labs.vpp.cli import Cli

PERCENTILES = (0, 50, 90, 99, 100)
_SHORTEST, _LONGEST = 0.0001, 60
_PATIENCE = 10.0


@dataclass(frozen=True, eq=False)
class Ping:
    """Round-trip times as VPP's ping took them.

    VPP takes the time stamp counter when it builds the request and again when the reply arrives, so a time
    holds both nodes' main loops and everything between; printing is no part of it (plugins/ping/ping.c).

    Parameters
    ----------
    source, target : str
        Node names.
    address : str
        The address that was pinged.
    sent : int
        Requests sent.
    sequence : ndarray of int, shape (received,)
        Numbers of the requests that were answered.
    times_ms : ndarray of float, shape (received,)
        Round-trip times in milliseconds, in order of arrival.
    """

    source: str
    target: str
    address: str
    sent: int
    sequence: np.ndarray = field(repr=False)
    times_ms: np.ndarray = field(repr=False)

    @property
    def received(self) -> int:
        """Replies that came back."""
        return len(self.times_ms)

    @property
    def p50(self) -> float:
        """The median round-trip time in milliseconds."""
        return self.percentile(50)

    @property
    def p99(self) -> float:
        """The 99th percentile of the round-trip time in milliseconds."""
        return self.percentile(99)

    def percentile(self, q: float) -> float:
        """Return a percentile of the round-trip time in milliseconds.

        Raises
        ------
        LabError
            No reply came back, or there is no such percentile.
        """
        if not 0 <= q <= 100:  # noqa: PLR2004 - per cent
            raise LabError(f"There is no percentile {q}.", "choose one from 0 to 100.")
        if not self.received:
            raise LabError(
                f"{self.target} answered none of {self.sent} pings from {self.source}.",
                "see lab.wait_link() for the link, and `show errors` on both nodes for drops.",
            )
        return float(np.percentile(self.times_ms, q))

    def summary(self) -> pd.DataFrame:
        """Return one row: requests, replies, and min, p50, p90, p99 and max in milliseconds."""
        row: dict[str, object] = {"sent": self.sent, "received": self.received}
        for q in PERCENTILES:
            name = {0: "min", 100: "max"}.get(q, f"p{q}")
            row[f"{name} (ms)"] = round(self.percentile(q), 4) if self.received else float("nan")
        return pd.DataFrame([row], index=[f"{self.source} → {self.target}"])

    def table(self) -> pd.DataFrame:
        """Return a row for each reply: its number and its round-trip time in milliseconds."""
        return pd.DataFrame({"time (ms)": self.times_ms}, index=pd.Index(self.sequence, name="number"))

    def __str__(self) -> str:
        if not self.received:
            return f"{self.source} → {self.target}: {self.sent} sent, none answered"
        return (
            f"{self.source} → {self.target}: {self.sent} sent, {self.received} answered; "
            f"p50 {self.p50:.3g} ms, p99 {self.p99:.3g} ms"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return str(self.summary().to_html())


def measure(cli: Cli, address: str, count: int, interval: float) -> tuple[int, np.ndarray, np.ndarray]:
    """Let a VPP ping an address; one request more goes first, uncounted, to resolve the address.

    Parameters
    ----------
    cli : Cli
        A connection of its own: VPP's ping ends at any input on it.
    address : str
    count : int
        Requests to send.
    interval : float
        Seconds between requests.

    Returns
    -------
    (int, ndarray of int, ndarray of float)
        Requests sent, numbers of those that were answered, and their round-trip times in milliseconds.

    Raises
    ------
    LabError
        There is no such count or interval, or VPP has no way to the address.
    """
    if not (isinstance(count, Integral) and count >= 1):
        raise LabError(f"A ping cannot send {count!r} requests.", "give a whole number: count=20.")
    if not (isinstance(interval, Real) and _SHORTEST <= interval <= _LONGEST):
        raise LabError(
            f"A ping cannot wait {interval!r} seconds between two requests.",
            f"choose {_SHORTEST} to {_LONGEST}; VPP does not stop to listen in less.",
        )
    numbers, times, sent = [], [], 0
    cli.run(f"ping {address} repeat 1 interval 0.1")
    for line in cli.stream(f"ping {address} repeat {count} interval {interval:g}", _PATIENCE + interval):
        if reply := parse_ping_line(line):
            numbers.append(reply.sequence)
            times.append(reply.time_ms)
        elif total := parse_ping_statistics(line):
            sent = total.sent
    return sent, np.array(numbers, int), np.array(times, float)
