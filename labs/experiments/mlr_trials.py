"""What a search of loads is made of: trials, the bounds they set, and a long trial that confirms them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from labs.experiments.profile import by_profile

if TYPE_CHECKING:
    from collections.abc import Callable

NDR, PDR = "NDR", "PDR"
LOSSES = {NDR: 0.0, PDR: 0.005}
"""The share of packets that may be lost: none, or one in two hundred, as FD.io's own tests have it."""
EXCEED = 0.5
"""The share of a goal's trials that may lose more: a machine that is shared pauses now and then."""
MARGIN = 0.9
"""Part of a lower bound that a long trial is made at."""


@dataclass(frozen=True)
class Trial:
    """One trial of a search, in packets and seconds.

    Parameters
    ----------
    asked : float
        Packets a second.
    seconds : float
    sent, received : int
    """

    asked: float
    seconds: float
    sent: int
    received: int

    @property
    def loss(self) -> float:
        """The share of the packets sent that was lost, 0 to 1."""
        return max(self.sent - self.received, 0) / self.sent if self.sent else 0.0


@dataclass(frozen=True)
class Bounds:
    """What a search has found for one goal.

    Parameters
    ----------
    goal : str
        ``NDR`` or ``PDR``.
    low, high : float or None
        The highest load that keeps to the goal and the lowest that does not, in packets a second; None
        where there is none between the least and the greatest load.
    throughput : float or None
        Packets a second that come through at `low`, in the worst of its trials.
    """

    goal: str
    low: float | None
    high: float | None
    throughput: float | None


@dataclass
class Search:
    """A search: its trials, also where it did not end, and its bounds.

    Parameters
    ----------
    trials : list of Trial
    bounds : dict of str to Bounds
        Empty for a search that did not end.
    why : str
        Why it did not end, in a sentence; empty where it did.
    """

    trials: list[Trial] = field(default_factory=list)
    bounds: dict[str, Bounds] = field(default_factory=dict)
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as a run keeps it."""
        return {
            "trials": [vars(each) for each in self.trials],
            "bounds": {name: vars(each) for name, each in self.bounds.items()},
            "why not": self.why,
        }


@dataclass(frozen=True)
class Confirmed:
    """What a long trial below a lower bound has shown, in parts as long as the search's own trials.

    Parameters
    ----------
    goal : str
    parts : tuple of Trial
    """

    goal: str
    parts: tuple[Trial, ...]

    @property
    def loss(self) -> float:
        """The share of all its packets that was lost, 0 to 1."""
        return Trial(
            0, 0, sum(each.sent for each in self.parts), sum(each.received for each in self.parts)
        ).loss

    @property
    def exceeding(self) -> float:
        """The share of its parts that lost more than the goal allows, 0 to 1."""
        over = [each for each in self.parts if each.loss > LOSSES[self.goal]]
        return len(over) / len(self.parts) if self.parts else 1.0

    @property
    def is_kept(self) -> bool:
        """Whether the load keeps to the goal, as the search itself counts it (exceed ratio)."""
        return self.exceeding <= EXCEED

    def to_dict(self) -> dict[str, Any]:
        """Return it as a run keeps it."""
        return {
            "goal": self.goal,
            "seconds": sum(each.seconds for each in self.parts),
            "loss": self.loss,
            "exceeding": self.exceeding,
            "kept": self.is_kept,
        }


def confirm(
    attempt: Callable[[float, float], tuple[int, int]],
    bounds: Bounds,
    seconds: float,
    told: Callable[[float], None] = lambda _: None,
) -> Confirmed | None:
    """Try for long what is a little below a lower bound; None where the search has found none.

    At the bound itself it is even odds whether a part loses too much: that is what makes it the bound.

    Parameters
    ----------
    attempt : callable
        As for `search`.
    bounds : Bounds
    seconds : float
    told : callable
        Hears how many seconds have passed.
    """
    if bounds.low is None:
        return None
    length = final_length()
    load = MARGIN * bounds.low
    parts: list[Trial] = []
    for number in range(max(round(seconds / length), 1)):
        parts.append(Trial(load, length, *attempt(load, length)))
        told((number + 1) * length)
    return Confirmed(bounds.goal, tuple(parts))


def final_length() -> float:
    """Return the length of a search's last trials in seconds."""
    return by_profile(full=1.0, ci=0.3)
