"""How far a run's numbers can be trusted, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from labs.machine import stolen_seconds

if TYPE_CHECKING:
    from labs.machine import Machine

_FEW_SAMPLES = 30
_STEAL_LIMIT = 0.02
_QUIET_CORES = 3
OTHERS_LIMIT = 0.2


@dataclass(frozen=True)
class Reason:
    """One thing that bears on a run's numbers: what it is, and what it does to them."""

    what: str
    effect: str


@dataclass(frozen=True)
class Quality:
    """A badge: ``good`` without a reason against it, ``fair`` with one or two, ``poor`` with more."""

    reasons: tuple[Reason, ...] = field(default=())

    @property
    def badge(self) -> str:
        """The badge in a word."""
        if not self.reasons:
            return "good"
        return "fair" if len(self.reasons) <= 2 else "poor"  # noqa: PLR2004 - as the docstring says

    def to_dict(self) -> dict[str, Any]:
        """Return the badge and its reasons as JSON takes them."""
        return {"badge": self.badge, "reasons": [vars(reason) for reason in self.reasons]}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Quality:
        """Return what `to_dict` has written."""
        return cls(tuple(Reason(**reason) for reason in record["reasons"]))

    def __str__(self) -> str:
        lines = [f"Quality of these numbers: {self.badge}."]
        lines += [f"  {reason.what} {reason.effect}" for reason in self.reasons]
        return "\n".join(lines)


def assess(
    machine: Machine, *, seconds: float, stolen: float, others: float | None, fewest: int, nodes: int
) -> Quality:
    """Judge a run.

    Parameters
    ----------
    machine : Machine
        What it ran on.
    seconds, stolen : float
        How long it took, and how much of that the hypervisor took from all cores together.
    others : float or None
        Cores' worth of time that other programs used meanwhile; None where the kernel does not tell.
    fewest : int
        Samples in its smallest group.
    nodes : int
        Nodes that polled at the same time.
    """
    reasons = []
    if machine.virtual:
        reasons.append(
            Reason(
                "This is a virtual machine.", "Its host may run something else on the same cores at any time."
            )
        )
    if len(machine.cores) < nodes + 1 or len(machine.cores) < _QUIET_CORES:
        reasons.append(
            Reason(
                "The nodes share their cores with this notebook and the kernel.",
                "Single long delays come from there; read the median, not the maximum.",
            )
        )
    if machine.physical < min(nodes, len(machine.cores)):
        reasons.append(
            Reason("Some nodes share a physical core.", "Each gets about half of what the core can do.")
        )
    if machine.cpu_quota is not None and machine.cpu_quota < nodes:
        reasons.append(
            Reason(
                f"The control group allows {machine.cpu_quota:g} cores' worth of time.",
                "Polling nodes use it up and are stopped for the rest of each period.",
            )
        )
    if seconds > 0 and stolen / seconds / max(len(machine.cores), 1) > _STEAL_LIMIT:
        reasons.append(
            Reason(
                f"The host took {100 * stolen / seconds / len(machine.cores):.0f} % of this machine's time.",
                "Run it again when the host is quieter.",
            )
        )
    if others is not None and others > OTHERS_LIMIT:
        reasons.append(
            Reason(
                f"Other programs used {others:.1f} cores' worth of time during the run.",
                "They take turns with the nodes; end them and run it again.",
            )
        )
    if fewest < _FEW_SAMPLES:
        reasons.append(
            Reason(f"The smallest group has {fewest} samples.", "Percentiles beyond the median are rough.")
        )
    return Quality(tuple(reasons))


class StealMeter:
    """Time taken by the hypervisor since the meter was made, in seconds over all cores."""

    def __init__(self) -> None:
        self._start = stolen_seconds()

    def read(self) -> float:
        """Return the seconds so far."""
        return stolen_seconds() - self._start
