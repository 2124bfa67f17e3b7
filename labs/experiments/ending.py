"""How a run ends: how far it can be trusted, what disturbed it, which windows stand out; then it is saved."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Any

from labs.experiments.method import new_run
from labs.machine import machine
from labs.quality import OTHERS_LIMIT, Quality, Reason, StealMeter, assess

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from labs.experiments.recorded import Recorded
    from labs.experiments.run import Run
    from labs.lab import Lab

_NAMED = 5  # windows that a sentence names


class Begun:
    """A run that has begun.

    Parameters
    ----------
    name : str
        The experiment's.
    lab : Lab
    ends : int, optional
        How many processes poll for packets; those of the lab, if left out.

    Attributes
    ----------
    run : Run
    """

    def __init__(self, name: str, lab: Lab, ends: int | None = None) -> None:
        self.run = new_run(name, lab)
        self._nodes = len(lab.nodes) if ends is None else ends
        self._steal, self._at = StealMeter(), time.perf_counter()

    def end(self, *, fewest: int, outliers: Iterable[int] = (), recorded: Recorded | None = None) -> Run:
        """Judge how far the run can be trusted, and save it as complete; its verdicts are there by now.

        Parameters
        ----------
        fewest : int
            Samples in its smallest group.
        outliers : iterable of int
            See `judge_quality`.
        recorded : Recorded, optional
            What goes into the file beside the windows.
        """
        self.run.quality = judge_quality(
            self.run,
            seconds=time.perf_counter() - self._at,
            stolen=self._steal.read(),
            fewest=fewest,
            nodes=self._nodes,
            outliers=outliers,
        )
        if recorded is not None:
            self.run.recording = recorded.so_far(self.run.quality)
        self.run.complete = True
        self.run.save()
        return self.run


def judge_quality(
    run: Run, *, seconds: float, stolen: float, fewest: int, nodes: int, outliers: Iterable[int] = ()
) -> Quality:
    """Return how far a run can be trusted: what its machine is, what disturbed it, which windows stand out.

    Parameters
    ----------
    run : Run
        Its windows have ``others``: see `Span`.
    seconds, stolen : float
        How long it took, and how much of that the hypervisor took from all cores together.
    fewest : int
        Samples in its smallest group.
    nodes : int
    outliers : iterable of int
        Numbers of windows that lie far from the others of their setting, from 1.
    """
    known = [window["others"] for window in run.windows if window.get("others") is not None]
    found = assess(
        machine(),
        seconds=seconds,
        stolen=stolen,
        others=median(known) if known else None,
        fewest=fewest,
        nodes=nodes,
    )
    return Quality((*found.reasons, *_about_windows(run.windows, sorted(set(outliers)))))


def _about_windows(windows: Sequence[Mapping[str, Any]], outliers: list[int]) -> list[Reason]:
    """Return which windows were disturbed and which stand out; nothing where most were disturbed."""
    reasons = []
    hit = [n for n, window in enumerate(windows, 1) if (window.get("others") or 0.0) > OTHERS_LIMIT]
    if hit and 2 * len(hit) < len(windows):
        reasons.append(
            Reason(
                f"Other programs were busy during {_named(hit)} of {len(windows)}.",
                "These windows are kept; the medians hardly move by them.",
            )
        )
    if outliers:
        verb = "lies" if len(outliers) == 1 else "lie"
        reasons.append(
            Reason(
                f"{_named(outliers).capitalize()} of {len(windows)} {verb} far from the others of "
                f"{'its' if len(outliers) == 1 else 'their'} setting.",
                "Nothing was left out; look at the lowest and the highest window, too.",
            )
        )
    return reasons


def _named(numbers: list[int]) -> str:
    """Return some windows by their numbers; many by how many they are."""
    if len(numbers) > _NAMED:
        return f"{len(numbers)} windows"
    *most, last = map(str, numbers)
    return f"windows {', '.join(most)} and {last}" if most else f"window {last}"
