"""What the experiment `rx_mode` looks at once: the ping on the loop, the changeover, and a reconnect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labs.bench.figures import packets
from labs.course.verdict import Verdict
from labs.experiments.changeover import Changeover, find_changeover, look
from labs.experiments.ping_on_the_loop import OnTheLoop, ping_on_the_loop
from labs.experiments.rx_mode_lost import Lost, restart_peer
from labs.experiments.rx_mode_window import Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.experiments.changeover import Trial
    from labs.experiments.rx_mode_window import Bed
    from labs.lab import Lab

_MOST = 0.5
_MILLION = 1e6


@dataclass(frozen=True)
class Looks:
    """What was looked at once; `loop` is None where the data plane keeps no log of its loop."""

    loop: OnTheLoop | None
    changeover: Changeover
    lost: Lost

    def to_dict(self) -> dict[str, Any]:
        """Return it as a run's summary keeps it."""
        loop = {"ping on the loop": self.loop.to_dict()} if self.loop else {}
        return {**loop, "changeover": self.changeover.to_dict(), "reconnect": self.lost.to_dict()}


def look_once(lab: Lab, bed: Bed, told: Callable[[float, str], None]) -> Looks:
    """Look at all three, in this order: the last takes the probes away.

    Parameters
    ----------
    lab : Lab
    bed : Bed
        Its traffic is used.
    told : callable
        Hears the part of the looks that is done, and what was seen.
    """
    bed.set(Setting("interrupt", "apart", 0.0))
    loop = ping_on_the_loop(lab, bed.sender, bed.receiver)
    told(0.2, _loop_in_words(loop))
    bed.set(Setting("adaptive", "apart", 0.0))

    def attempt(rate: float) -> Trial:
        bed.load.set(rate=rate)
        trial = look(lab, bed.receiver, bed.interface, rate)
        told(0.5, f"adaptive at {packets(trial.received / _MILLION)}: {trial.wakes:.0f} wake-ups a second")
        return trial

    changeover = find_changeover(attempt)
    bed.load.set(rate=0.0)
    told(0.8, changeover_in_words(changeover))
    lost = restart_peer(lab)
    told(1.0, f"{lost.node} was set to {lost.before}; its peer was started anew, and it is {lost.after}")
    return Looks(loop, changeover, lost)


def judge_looks(looks: Looks, off_the_wire: float | None) -> list[Verdict]:
    """Return what the looks show.

    Parameters
    ----------
    looks : Looks
    off_the_wire : float or None
        The part of a sleeping node's ping that the probe does not see; it stands in where there is no log of
        the loop, so that the same claims are made on every engine.
    """
    before = looks.loop.before if looks.loop is not None else off_the_wire
    return [
        Verdict(
            "most of the time that a sleeping node's ping tells passes before the packet is on its way",
            before is not None and before > _MOST,
            because="no ping was answered" if before is None else f"{100 * before:.0f} % of it did",
        ),
        Verdict(
            "in adaptive mode a node sleeps between packets at a low rate, and no more at a high one",
            looks.changeover.rate is not None,
            because=changeover_in_words(looks.changeover),
        ),
        Verdict(
            "a link that connects anew has lost its rx-mode",
            looks.lost.is_lost,
            because=f"it was {looks.lost.before}, and is {looks.lost.after}",
        ),
        Verdict(
            "set again, the rx-mode stands",
            looks.lost.is_back,
            because=f"it is {looks.lost.again}",
        ),
    ]


def changeover_in_words(found: Changeover) -> str:
    """Return where a node changes over."""
    if found.rate is not None:
        return f"adaptive changes over at about {packets(found.rate / _MILLION)}"
    if found.sleeps is None:
        return "adaptive does not sleep even at the lowest rate that was tried"
    return f"adaptive still sleeps at {packets(found.sleeps / _MILLION)}"


def _loop_in_words(loop: OnTheLoop | None) -> str:
    if loop is None:
        return "this data plane keeps no log of its main loop"
    if loop.before is None:
        return "no ping was answered while the main loop was logged"
    return f"{100 * loop.before:.0f} % of the ping's time passes before a node sees the request"
