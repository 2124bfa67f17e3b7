"""What VPP's own ping has measured."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from labs.errors import LabError

PERCENTILES = (0, 50, 90, 99, 100)


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
