"""The rate at which adaptive mode changes over: below it a node sleeps between packets, above it polls."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.lab import Lab

RATES = (1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7)
"""Packets a second that are tried first, from the lowest."""
HALVINGS = 3
"""Times that the span between two of them is halved."""
SLEEPS = 0.1
"""Wake-ups for each packet, from which on a node counts as one that sleeps between packets."""
_LENGTH = 0.3
_SETTLE = 0.15
_ENOUGH = 0.5


@dataclass(frozen=True)
class Trial:
    """A rate that was tried: asked and received in packets a second, and the receiver's wake-ups a second."""

    asked: float
    received: float
    wakes: float

    @property
    def sleeps(self) -> bool:
        """Whether the receiver slept between packets."""
        return self.wakes > SLEEPS * self.received


@dataclass(frozen=True)
class Changeover:
    """Where a node changes over.

    Parameters
    ----------
    sleeps, polls : float or None
        The highest rate at which it slept between packets, of those below the lowest at which it did not, and
        that one, in packets a second received; None where there was none.
    trials : tuple of Trial
        All that were made, in order.
    """

    sleeps: float | None
    polls: float | None
    trials: tuple[Trial, ...]

    @property
    def rate(self) -> float | None:
        """The changeover in packets a second, between the two; None where one is missing."""
        return math.sqrt(self.sleeps * self.polls) if self.sleeps and self.polls else None

    def to_dict(self) -> dict[str, Any]:
        """Return it as a run keeps it."""
        return {
            "sleeps": self.sleeps,
            "polls": self.polls,
            "rate": self.rate,
            "trials": [vars(each) for each in self.trials],
        }


def find_changeover(attempt: Callable[[float], Trial]) -> Changeover:
    """Search the rate at which a node changes over.

    Parameters
    ----------
    attempt : callable
        Offers a rate in packets a second, and returns what was seen.

    Notes
    -----
    The rates rise until the node sleeps no more; then the span to the last at which it did is halved, on a
    scale of factors. The border is not sharp: VPP goes to polling where one look finds ten packets, and
    back where two find five or fewer (vlib/main.c), so around it a node changes over again and again. How
    often it wakes tells more of that than the mode it is in at a moment.
    """
    trials: list[Trial] = []
    below: Trial | None = None
    above: Trial | None = None
    for rate in RATES:
        trials.append(attempt(rate))
        if not trials[-1].sleeps:
            above = trials[-1]
            break
        below = trials[-1]
        if below.received < _ENOUGH * rate:  # more cannot be offered here
            break
    if below and above:
        for _ in range(HALVINGS):
            trials.append(attempt(math.sqrt(below.asked * above.asked)))
            if trials[-1].sleeps:
                below = trials[-1]
            else:
                above = trials[-1]
    return Changeover(below.received if below else None, above.received if above else None, tuple(trials))


def look(lab: Lab, receiver: str, interface: str, rate: float) -> Trial:
    """Look how a node waits at a rate that it is offered now.

    Parameters
    ----------
    lab : Lab
    receiver, interface : str
        Where the packets come in.
    rate : float
        What is offered, in packets a second.
    """
    time.sleep(_SETTLE)
    node = lab[receiver]
    before, began = node.counters()[interface].rx_packets, time.monotonic()
    wakes = lab.evidence(_LENGTH)[receiver].voluntary
    received = (node.counters()[interface].rx_packets - before) / (time.monotonic() - began)
    return Trial(rate, received, wakes)
