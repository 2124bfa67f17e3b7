"""Millions of packets: how many go through a link, of which size, over which ring, and at what cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.bench.compare import in_words
from labs.bench.load import IMIX
from labs.errors import LabError
from labs.experiments import throughput_looks as looks
from labs.experiments import throughput_summary as results
from labs.experiments.ending import Begun
from labs.experiments.homecoming import coming_home, modes_back
from labs.experiments.method import measure_in_turn, need_a_link, plan
from labs.experiments.profile import by_profile, say
from labs.experiments.recorded import Recorded
from labs.experiments.throughput_window import Bed, Point
from labs.kernel import allowed_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from labs.experiments.run import Run
    from labs.lab import Lab

_SHORTEST = 1.0  # seconds; node counters move every half second
_SHARE = 0.7
"""Part of the run that the windows take, for the progress; the rest is what is looked at once."""
_MILLION = 1e6


def throughput(
    lab: Lab,
    seconds: float | None = None,
    rounds: int | None = None,
    progress: Callable[[float, str], None] = say,
) -> Run:
    """Send packets through a lab flat out and at parts of that, of several sizes and over several rings.

    Then three things are looked at once: how much goes through without loss (NDR) and with a loss of half a
    per cent (PDR), whether our own generator and sink count what the node counts, and what this machine's
    memory and a link without a graph can do at most.

    Parameters
    ----------
    lab : Lab
        Two nodes or more in a row, started; as many cores as nodes.
    seconds : float, optional
        Length of one window, 1 or more; 2 s, or 1 s in the ``ci`` profile.
    rounds : int, optional
        Windows of each point; 3, or 2 in the ``ci`` profile.
    progress : callable
        Told the fraction done and what was just measured; prints it by default.

    Returns
    -------
    Run
        Also where it is cut short: its windows are saved after each.

    Raises
    ------
    LabError
        There are too few cores or nodes, or there is nothing to measure.
    """
    how = plan(seconds, rounds, full=(2.0, 3), ci=(1.0, 2), shortest=_SHORTEST)
    _check(lab)
    points = all_points(len(lab.nodes))
    begun, recorded = Begun("throughput", lab), Recorded(lab)
    run = begun.run

    def told(done: float, window: dict[str, Any]) -> None:
        rate = in_words(window["received"] / _MILLION, "Mpps")
        progress(_SHARE * done, f"{window['setting']}: {rate}, {window['gbit_per_s']:.3g} Gbit/s")

    def further(done: float, what: str) -> None:
        progress(_SHARE + (1 - _SHARE) * done, what)

    with coming_home(lab), modes_back(lab):
        lab.place("apart")
        for node in lab.nodes.values():
            node.rx_mode("polling")
        with Bed(lab, how.seconds, recorded) as bed:
            progress(0.0, f"warming up; {len(points) * how.rounds} windows follow")
            measure_in_turn(
                run,
                points,
                how.rounds,
                bed.window,
                told,
                recorded=recorded,
                warm_up=lambda: [bed.window(point) for point in needed(points)],
            )
            run.summary = results.summarise(run.windows, points)
            run.summary["pass by pass"] = results.pass_by_pass(run.windows, points)
            run.summary["not here"] = not_here(len(lab.nodes))
            run.verdicts = results.judge(run.windows, points)
            with run.keeping():
                run.verdicts += looks.search(run, bed, further)
        with run.keeping():
            run.verdicts += looks.count_twice(run, lab, further)
            looks.set_beside_limits(run, lab, further)
    return begun.end(
        fewest=30,  # a window counts millions of packets
        outliers=results.outliers(run.windows, points),
        recorded=recorded,
    )


def all_points(nodes: int = 2) -> list[Point]:
    """Return what is measured in this profile with so many nodes: one thing at a time is changed."""
    sizes = by_profile(full=(64, 128, 256, 512, 1024, 1500, 4096, 9000, IMIX), ci=(64, 512, 1500))
    rings = by_profile(full=(64, 256, 1024, 4096, 16384), ci=(64, 1024))
    shares = by_profile(full=(0.05, 0.1, 0.25, 0.5, 0.75, 0.9), ci=(0.05, 0.5))
    others = by_profile(
        full=(
            Point(directions=2),
            Point(queues=2),
            Point(zero_copy=False),
            Point(size=1500, zero_copy=False),
            Point(layer="ethernet"),
            Point(layer="ip"),
        ),
        ci=(Point(directions=2), Point(zero_copy=False)),
    )
    points = [Point(size=size) for size in sizes]
    points += [Point(ring=ring) for ring in rings]
    points += [Point(share=share) for share in shares]
    if nodes > 2:  # noqa: PLR2004
        others = tuple(point for point in others if point.directions == 1)
    return list(dict.fromkeys([*points, *others]))


def not_here(nodes: int) -> list[str]:
    """Return what is left out with so many nodes, and why."""
    if nodes > 2:  # noqa: PLR2004
        return [
            "Both directions at once are left out: the nodes between would need two routes to one network."
        ]
    return []


def needed(points: list[Point]) -> Iterator[Point]:
    """Yield the points that others are parts of; they are measured first, once, to know them."""
    yield from dict.fromkeys(Point(size=point.size) for point in points if point.share is not None)


def _check(lab: Lab) -> None:
    """Refuse what cannot be measured.

    Raises
    ------
    LabError
        There is one node, or there are fewer cores than nodes.
    """
    need_a_link(lab)
    cores = allowed_cores()
    if len(cores) < len(lab.nodes):
        listed = ", ".join(map(str, cores))
        raise LabError(
            f"{len(lab.nodes)} nodes need {len(lab.nodes)} cores, and this session may use {len(cores)} "
            f"({listed}).",
            "nodes that share a core take turns, and their rate says nothing of a link; use fewer nodes.",
        )
