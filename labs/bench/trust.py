"""How far a bench's numbers can be trusted while they are taken."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.machine import busy_seconds, emulated, machine, stolen_seconds, throttled_seconds
from labs.quality import Quality, Reason, assess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.placement import Cores

_SPAN = 15.0
"""Seconds that a judgement looks back."""
_THROTTLED_LIMIT = 0.01


@dataclass(frozen=True)
class Moment:
    """What the whole machine had done by a moment, all in seconds."""

    at: float
    stolen: float
    throttled: float
    busy: float
    ours: float


class Trust:
    """Judges a bench again and again.

    Parameters
    ----------
    nodes : int
        How many nodes the lab has.
    """

    def __init__(self, nodes: int) -> None:
        self._machine = machine()
        self._emulated = emulated()
        self._nodes = nodes
        self._moments: deque[Moment] = deque()
        self._ours = 0.0

    def judge(self, shares: float | None, pinned: Mapping[str, Cores], samples: int) -> Quality:
        """Return the quality of what is measured now.

        Parameters
        ----------
        shares : float or None
            Cores' worth of time that the lab and this notebook used since the last call; None if unknown.
        pinned : mapping of str to tuple of int
            The cores that were asked for, node by node; empty for a node that is free to move.
        samples : int
            Replies that the smallest figure shown rests on.
        """
        if shares is None:  # what is ours cannot be told from what is others' in a span that holds this one
            self._moments.clear()
        span = self._span(shares)
        found = assess(
            self._machine,
            seconds=span.at,
            stolen=span.stolen,
            others=None if shares is None or not span.at else max(span.busy - span.ours, 0) / span.at,
            fewest=samples,
            nodes=self._nodes,
        )
        return Quality((*self._more(span, pinned), *found.reasons))

    def _span(self, shares: float | None) -> Moment:
        """Return what has happened in the last seconds, `at` being how long they were."""
        now = time.monotonic()
        if self._moments and shares is not None:
            self._ours += shares * (now - self._moments[-1].at)
        self._moments.append(Moment(now, stolen_seconds(), throttled_seconds(), busy_seconds(), self._ours))
        while self._moments[0].at < now - _SPAN:
            self._moments.popleft()
        first, last = self._moments[0], self._moments[-1]
        return Moment(*(b - a for a, b in zip(vars(first).values(), vars(last).values(), strict=True)))

    def _more(self, span: Moment, pinned: Mapping[str, Cores]) -> list[Reason]:
        reasons = []
        if self._emulated:
            reasons.append(
                Reason(
                    "This processor is emulated.",
                    "Every time is the emulator's; compare nothing with other machines.",
                )
            )
        if free := [name for name, cores in pinned.items() if not cores]:
            who = " and ".join(free) if len(free) < 3 else "All nodes"  # noqa: PLR2004 - a list is tiring
            reasons.append(
                Reason(
                    f"{who} may move between cores.",
                    "The kernel may put them on one core at any time, and apart again.",
                )
            )
        held = min(span.throttled / span.at, 1.0) if span.at else 0.0  # the kernel adds up cores
        if held > _THROTTLED_LIMIT:
            reasons.append(
                Reason(
                    f"The control group held this session back for {100 * held:.0f} % of the time.",
                    "Nobody runs then; what is measured is the limit, not the nodes.",
                )
            )
        return reasons
