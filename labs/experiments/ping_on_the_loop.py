"""Where VPP's own ping loses its time: the event log of VPP's main loop, put beside what the ping says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import pandas as pd

from labs.errors import CliError

if TYPE_CHECKING:
    from labs.lab import Lab

BEGIN = ("event-logger trace dispatch", "event-logger clear")
END = ("event-logger stop", "event-logger trace disable dispatch", "event-logger restart")
SHOW = "show event-logger all"
_EVENT = re.compile(r"\s*(\d*\.\d+): (\S+)-(call|return): (\d+)")
_LEAVES, _ARRIVES = "ip4-lookup", "ip4-icmp-echo-reply"
_MS = 1e3


@dataclass(frozen=True)
class OnTheLoop:
    """Pings as the ping tells them, and as VPP's event log does.

    Parameters
    ----------
    told_ms : tuple of float
        What the ping printed, reply by reply.
    seen_ms : tuple of float
        From the first node that handles the request, to the node that handles its reply.
    """

    told_ms: tuple[float, ...]
    seen_ms: tuple[float, ...]

    @property
    def before(self) -> float | None:
        """The part of a ping's time that passed before the first node saw the request; the median."""
        pairs = zip(self.told_ms, self.seen_ms, strict=False)
        parts = [max(told - seen, 0.0) / told for told, seen in pairs if told > 0]
        return median(parts) if parts else None

    def table(self) -> pd.DataFrame:
        """Return a row for each reply: what the ping told, and what the log of the loop shows, in ms."""
        pairs = list(zip(self.told_ms, self.seen_ms, strict=False))
        names = ["VPP's ping (ms)", "on the loop (ms)"]
        frame = pd.DataFrame(pairs, columns=names, index=range(1, len(pairs) + 1))
        return frame.rename_axis("number").round(3)

    def _repr_html_(self) -> str:
        return str(self.table().to_html())

    def to_dict(self) -> dict[str, Any]:
        """Return it as a run keeps it."""
        return {"told_ms": list(self.told_ms), "seen_ms": list(self.seen_ms), "before": self.before}


def ping_on_the_loop(lab: Lab, source: str, target: str, count: int = 20) -> OnTheLoop | None:
    """Ping, and let VPP log each call of a node meanwhile; None where the node keeps no such log.

    Notes
    -----
    VPP's ping takes the time, queues the request for `ip4-lookup`, and lets the main loop go on. The loop
    first waits for files and timers, up to 10 ms where nothing polls, and only then calls the nodes for
    which packets are queued (vlib/main.c, vlib/file.c of VPP 26.06). The log shows the call; the ping counts
    from when it queued.
    """
    node = lab[source]
    try:
        for line in BEGIN:
            node.cli(line)
    except CliError:  # the glass box has no event log
        return None
    try:
        ping = lab.ping(source, target, count=count)
        text = node.cli(SHOW)
    finally:
        for line in END:
            node.cli(line)
    seen = round_trips(text)[-len(ping.times_ms) :]  # a request goes ahead of those that count
    return OnTheLoop(tuple(ping.times_ms.tolist()), tuple(seen))


def round_trips(text: str) -> list[float]:
    """Return the round trips that an event log holds, in ms, in order.

    Parameters
    ----------
    text : str
        What ``show event-logger`` prints: a line for each call of a node that has packets.
    """
    found: list[float] = []
    left: float | None = None
    for line in text.splitlines():
        if not (row := _EVENT.match(line)) or row[3] != "call":
            continue
        if row[2] == _LEAVES and left is None:
            left = float(row[1])
        elif row[2] == _ARRIVES and left is not None:
            found.append(_MS * (float(row[1]) - left))
            left = None
    return found
