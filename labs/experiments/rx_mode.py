"""Poll or sleep: three ways to wait for packets, on one core and on a core each, idle and under load."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.experiments import rx_mode_summary as results
from labs.experiments.homecoming import coming_home, modes_back
from labs.experiments.method import judge_quality, measure_in_turn, new_run, plan
from labs.experiments.profile import by_profile, say
from labs.experiments.recorded import Recorded
from labs.experiments.rx_mode_looks import judge_looks, look_once
from labs.experiments.rx_mode_window import PING_INTERVAL, Bed, Setting, percentile
from labs.kernel import allowed_cores
from labs.node import RX_MODES
from labs.quality import StealMeter

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.experiments.run import Run
    from labs.lab import Lab

_SHARE = 0.9
"""Part of the run that the windows take, for the progress; the rest is what is looked at once."""


def rx_mode(
    lab: Lab,
    seconds: float | None = None,
    rounds: int | None = None,
    progress: Callable[[float, str], None] = say,
) -> Run:
    """Measure latency, processor time, wake-ups and doorbells for each way to wait.

    Every setting is measured several times, in turn, forwards and backwards. Then three things are looked at
    once: where VPP's own ping loses its time, at which rate adaptive mode changes over, and what becomes of
    the mode when the link connects anew.

    Parameters
    ----------
    lab : Lab
        Two nodes, started, with a link between them.
    seconds : float, optional
        How long each instrument measures in one window; 0.7 s, or 0.5 s in the ``ci`` profile.
    rounds : int, optional
        Windows of each setting; 3, or 2 in the ``ci`` profile.
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

    Notes
    -----
    Traffic comes from the packet generator of the first node, which polls while it sends, whatever its
    memifs do. So processor time and wake-ups are those of the last node, which receives.
    """
    how = plan(seconds, rounds, full=(0.7, 3), ci=(0.5, 2), shortest=3 * PING_INTERVAL)
    _check(lab)
    settings = all_settings()
    run, recorded = new_run("rx_mode", lab), Recorded(lab)
    steal, began = StealMeter(), time.perf_counter()

    def told(done: float, window: dict[str, Any]) -> None:
        progress(_SHARE * done, f"{window['setting']}: {_in_words(window)}")

    progress(0.0, f"warming up; {len(settings) * how.rounds} windows follow")
    with coming_home(lab), modes_back(lab), Bed(lab, how.seconds, recorded) as bed:
        measure_in_turn(
            run,
            settings,
            how.rounds,
            bed.window,
            told,
            recorded=recorded,
            warm_up=lambda: bed.window(settings[0]),
        )
        run.summary = results.summarise(run.windows, settings)
        with run.keeping():
            looks = look_once(lab, bed, lambda done, what: progress(_SHARE + (1 - _SHARE) * done, what))
    run.summary |= looks.to_dict()
    run.quality = judge_quality(
        run,
        seconds=time.perf_counter() - began,
        stolen=steal.read(),
        fewest=min(len(window["times_ms"]) for window in run.windows) * how.rounds,
        nodes=len(lab.nodes),
        outliers=results.outliers(run.windows, settings),
    )
    run.recording = recorded.so_far(run.quality)
    run.verdicts = [
        *results.judge(run.windows, settings),
        *judge_looks(looks, results.off_the_wire(run.windows)),
    ]
    run.complete = True
    run.save()
    return run


def all_settings() -> list[Setting]:
    """Return what is measured in this profile."""
    rates = by_profile(full=(0.0, 1e3, 1e4, 1e5), ci=(0.0, 1e4))
    return [Setting(mode, state, rate) for state in ("same", "apart") for rate in rates for mode in RX_MODES]


def _check(lab: Lab) -> None:
    """Refuse what cannot be measured.

    Raises
    ------
    LabError
        There is one node, or one core.
    """
    if len(lab.nodes) < 2:  # noqa: PLR2004
        raise LabError("Packets need a link, and this lab has one node.", "use two_vpps().")
    if len(allowed_cores()) < 2:  # noqa: PLR2004
        raise LabError(
            f"This experiment needs two cores, and this session may use one ({allowed_cores()[0]}).",
            "give the machine or the container a second core.",
        )


def _in_words(window: dict[str, Any]) -> str:
    ping, wire = percentile(window["times_ms"], 50), percentile(window["whole_us"], 50)
    running = window["scheduler"][-1]["running"]
    told = [
        "no ping was answered" if ping is None else f"ping {ping:.3g} ms",
        "the probe saw nothing" if wire is None else f"wire {wire:.3g} µs",
    ]
    return ", ".join(told + ([] if running is None else [f"{100 * running:.0f} % of a core"]))
