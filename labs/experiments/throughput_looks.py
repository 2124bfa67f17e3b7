"""What the experiment `throughput` looks at once: a search, a second source of counts, the limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.bench.compare import in_words
from labs.course.verdict import Verdict
from labs.errors import NotAvailable
from labs.experiments import limits, mlr
from labs.experiments.mlr_trials import PDR, Confirmed, Search, Trial, confirm
from labs.experiments.own_traffic import OwnTraffic
from labs.experiments.profile import by_profile
from labs.experiments.throughput_summary import AGREE, LARGE, figures
from labs.experiments.throughput_window import Bed, Point

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from labs.experiments.run import Run
    from labs.lab import Lab

    Told = Callable[[float, str], None]

_MILLION = 1e6
_FIRST = 1.0  # seconds in which the highest load is found
_RATE = 2e5
"""Packets a second at which two sources are compared: a sink that shares its core keeps up with them."""


def search(run: Run, bed: Bed, told: Told) -> list[Verdict]:
    """Search NDR and PDR, and confirm them; return the verdicts, none where the package is missing."""
    found = Search()
    seconds = by_profile(full=30.0, ci=3.0)

    def tried(trial: Trial) -> None:
        part = 1 - 0.95 ** len(found.trials)  # how many there will be, nobody knows
        rate = in_words(trial.asked / _MILLION, "Mpps")
        told(0.7 * part, f"search: {rate} offered, {100 * trial.loss:.2g} % lost")

    bed.set(Point())
    most = bed.count(_FIRST)["offered"]
    try:
        mlr.search(bed.trial, most, tried, found)
    except NotAvailable as error:
        run.summary["search"] = {"why not": str(error)}
        return []
    finally:
        run.summary.setdefault("search", found.to_dict())
    long = []
    for name, bounds in found.bounds.items():
        told(0.7, f"confirming {name} for {seconds:g} s")
        confirmed = confirm(bed.trial, bounds, seconds)
        if confirmed is not None:
            long.append(confirmed)
    run.summary["search"] = {**found.to_dict(), "long": [each.to_dict() for each in long]}
    return judge_search(found, long)


def judge_search(found: Search, long: Sequence[Confirmed]) -> list[Verdict]:
    """Return whether a long trial a little below the search's lower bound for PDR keeps to its goal.

    NDR is shown and not judged. One pause of the machine that outlasts the ring is a loss, so on a machine
    that runs other programs a longer trial nearly always has one.

    Parameters
    ----------
    found : Search
    long : sequence of Confirmed
        One for each goal that has a lower bound.
    """
    judged = next((each for each in long if each.goal == PDR), None)
    over = f"{100 * judged.exceeding:.0f} % of its parts lost too much" if judged else "no load kept to PDR"
    return [
        Verdict(
            "a little below what the search has found for PDR, a long trial keeps to it",
            judged is not None and judged.is_kept,
            because=found.why or over,
        )
    ]


def count_twice(run: Run, lab: Lab, told: Told) -> list[Verdict]:
    """Send our own packets into the first node and through it, and count them on both sides."""
    first, *others = lab.nodes.values()
    for node in others:  # our generator and our sink need a core
        node.rx_mode("interrupt")
    told(0.8, "our own generator sends, and our sink counts")
    with OwnTraffic(lab.folder, first) as own:
        straight = own.straight_in(by_profile(full=2.0, ci=1.0))
        twice = own.through(_RATE, by_profile(full=10.0, ci=2.0))
    run.summary["looks"] = {"our generator, straight in": straight, "counted twice": twice}
    return judge_counts(twice)


def judge_counts(counted: Mapping[str, float]) -> list[Verdict]:
    """Return whether the node's counters and our own counts of the same packets agree.

    Parameters
    ----------
    counted : mapping
        From `OwnTraffic.through`.
    """
    left = counted["out"] - counted["refused"]
    pairs = [
        ("our generator sent", counted["sent"], "the node counted in", counted["in"]),
        ("our sink got", counted["came"], "the node counted out", left),
    ]
    apart = [each for each in pairs if abs(each[1] - each[3]) > AGREE * max(each[1], each[3])]
    told = "; ".join(f"{ours} {a:,.0f}, {theirs} {b:,.0f}" for ours, a, theirs, b in apart)
    return [
        Verdict(
            "the interface counters and our own generator and sink agree within a hundredth",
            counted["sent"] > 0 and not apart,
            because=told or "nothing was sent",
        )
    ]


def set_beside_limits(run: Run, lab: Lab, told: Told) -> None:
    """Find this machine's own limits, with all nodes asleep, and what the lab reached of them."""
    for node in lab.nodes.values():
        node.rx_mode("interrupt")
    told(0.9, "this machine's own limits")

    def best(point: Point, name: str) -> float | None:
        return figures(run.windows, point)[name].median

    run.summary["looks"]["limits"] = limits.compare(
        best(Point(), "received_mpps"), best(Point(size=LARGE), "gbit_per_s"), by_profile(full=2.0, ci=1.0)
    )
