"""Twenty milliseconds: the same ping with both nodes on one core, on a core each, and free to move."""

from __future__ import annotations

import math
import time
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from labs.course.verdict import Verdict
from labs.errors import LabError
from labs.experiments.ending import Begun
from labs.experiments.homecoming import coming_home
from labs.experiments.method import Span, measure_in_turn, need_two_cores, plan
from labs.experiments.profile import say
from labs.experiments.recorded import Recorded
from labs.kernel import allowed_cores
from labs.placement import STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from labs.experiments.run import Run
    from labs.lab import Lab

SLOWER = 20
_INTERVAL = 0.05
_SETTLE = 0.2


def pinning(
    lab: Lab,
    seconds: float | None = None,
    rounds: int | None = None,
    progress: Callable[[float, str], None] = say,
) -> Run:
    """Ping through a lab of two nodes in each placement, and watch the scheduler meanwhile.

    The placements take turns, forwards and backwards, so that a drift of the machine falls on all of them.

    Parameters
    ----------
    lab : Lab
        Two nodes, started, with a link between them.
    seconds : float, optional
        Length of one window; 2 s, or 1 s in the ``ci`` profile.
    rounds : int, optional
        Windows of each placement; 3, or 2 in the ``ci`` profile.
    progress : callable
        Told the fraction done and what was just measured; prints it by default.

    Returns
    -------
    Run
        Also where it is cut short: its windows are saved after each.

    Raises
    ------
    LabError
        This session has but one core, the lab but one node, or there is nothing to measure.
    """
    how = plan(seconds, rounds, full=(2.0, 3), ci=(1.0, 2), shortest=_INTERVAL)
    if len(lab.nodes) < 2:  # noqa: PLR2004
        raise LabError("A ping needs two nodes, and this lab has one.", "use two_vpps().")
    need_two_cores(allowed_cores())
    begun, recorded = Begun("pinning", lab), Recorded(lab)
    run = begun.run

    def told(done: float, window: dict[str, Any]) -> None:
        progress(done, f"{STATES[window['state']]}: p50 {_percentile(window, 50):.3g} ms")

    with coming_home(lab):
        measure_in_turn(
            run,
            sorted(STATES),
            how.rounds,
            lambda state: _window(lab, state, how.seconds, recorded),
            told,
            recorded=recorded,
        )
    run.summary = summarise(run.windows)
    run.verdicts = judge(run.summary)
    return begun.end(fewest=min(run.summary[state]["answered"] for state in STATES), recorded=recorded)


def _window(lab: Lab, state: str, seconds: float, recorded: Recorded) -> dict[str, Any]:
    """Measure one placement once."""
    placed = lab.place(state)
    recorded.turn(STATES[state], placed.commands)
    time.sleep(_SETTLE)
    source, target = list(lab.nodes)[:2]
    began = time.monotonic()
    with Span(lab) as span:
        ping = lab.ping(source, target, count=max(round(seconds / _INTERVAL), 1), interval=_INTERVAL)
    recorded.window(began, time.monotonic(), ping, _INTERVAL, span.shares)
    return {
        "state": state,
        "cores asked": {name: list(cores) for name, cores in placed.asked.items()},
        "cores read back": {name: list(cores) for name, cores in placed.actual.items()},
        "sent": ping.sent,
        "times_ms": ping.times_ms.tolist(),
        **span.to_dict(),
    }


def summarise(windows: list[dict[str, Any]]) -> dict[str, Any]:
    """Reduce windows to a group of figures for each placement, and the ratio of the two that matter.

    Latencies are medians over windows of each window's percentile, with the lowest and highest window's
    median as the spread; the scheduler's figures are medians over windows and nodes.
    """
    summary: dict[str, Any] = {}
    for state in STATES:
        mine = [window for window in windows if window["state"] == state]
        answered = [window for window in mine if window["times_ms"]]
        medians = [_percentile(window, 50) for window in answered]
        tails = [_percentile(window, 99) for window in answered]
        shares = [share for window in mine for share in window["scheduler"]]
        summary[state] = {
            "sent": sum(window["sent"] for window in mine),
            "answered": sum(len(window["times_ms"]) for window in mine),
            "p50_ms": _median(medians),
            "p50_lowest_ms": min(medians, default=None),
            "p50_highest_ms": max(medians, default=None),
            "p99_ms": _median(tails),
            "running": _median([share["running"] for share in shares]),
            "waiting": _median([share["waiting"] for share in shares]),
            "wait_ms": _median([share["wait_ms"] for share in shares]),
            "taken_away_per_s": _median([share["involuntary"] for share in shares]),
        }
    same, apart = summary["same"]["p50_ms"], summary["apart"]["p50_ms"]
    summary["same_over_apart"] = same / apart if same and apart else None
    return summary


def judge(summary: dict[str, Any]) -> list[Verdict]:
    """Return what the figures show, as relations that hold on every sane machine."""
    same, apart, ratio = summary["same"], summary["apart"], summary["same_over_apart"]
    verdicts = [
        Verdict(
            "on the same core a ping takes at least twenty times as long as on a core each",
            ratio is not None and ratio >= SLOWER,
            because="no ping was answered" if ratio is None else f"it took {ratio:.1f} times as long",
        )
    ]
    if None not in (same["waiting"], apart["waiting"], apart["running"]):
        verdicts += [
            Verdict(
                "on the same core each node spends at least a quarter of its time waiting for the core",
                same["waiting"] >= 0.25,  # noqa: PLR2004
                because=f"it waited {100 * same['waiting']:.0f} % of the time",
            ),
            Verdict(
                "two turns of waiting for the core account for most of such a ping",
                0.5 < 2 * (same["wait_ms"] or 0.0) / (same["p50_ms"] or math.inf) < 2,  # noqa: PLR2004
                because=f"one wait took {_in_ms(same['wait_ms'])}, a ping {_in_ms(same['p50_ms'])}",
            ),
            Verdict(
                "on a core each it waits less than half as much",
                apart["waiting"] * 2 < same["waiting"],
                because=f"it waited {100 * apart['waiting']:.0f} % of the time against "
                f"{100 * same['waiting']:.0f} %",
            ),
            Verdict(
                "on a core each a polling node is busy most of the time, with hardly a packet to move",
                apart["running"] > 0.5,  # noqa: PLR2004
                because=f"it ran {100 * apart['running']:.0f} % of the time",
            ),
        ]
    return verdicts


def _percentile(window: dict[str, Any], q: float) -> float:
    """Return a percentile of a window's round-trip times in ms; NaN if no ping was answered."""
    return float(np.percentile(window["times_ms"], q)) if window["times_ms"] else float("nan")


def _in_ms(value: float | None) -> str:
    return "an unknown time" if value is None else f"{value:.2g} ms"


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
