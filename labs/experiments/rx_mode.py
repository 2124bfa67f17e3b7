"""Poll or sleep: three ways to wait for packets, on one core and on a core each, idle and under load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.experiments import rx_mode_summary as results
from labs.experiments.ending import Begun
from labs.experiments.homecoming import coming_home, modes_back
from labs.experiments.method import measure_in_turn, need_a_link, need_two_cores, plan
from labs.experiments.profile import by_profile, say
from labs.experiments.recorded import Recorded
from labs.experiments.rx_mode_looks import judge_looks, look_once
from labs.experiments.rx_mode_window import PING_INTERVAL, Bed, Setting, percentile
from labs.kernel import allowed_cores
from labs.spoken import RX_MODES

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
    need_a_link(lab)
    need_two_cores(allowed_cores())
    settings = all_settings()
    begun, recorded = Begun("rx_mode", lab), Recorded(lab)
    run = begun.run

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
    run.verdicts = [
        *results.judge(run.windows, settings),
        *judge_looks(looks, results.off_the_wire(run.windows)),
    ]
    return begun.end(
        fewest=min(len(window["times_ms"]) for window in run.windows) * how.rounds,
        outliers=results.outliers(run.windows, settings),
        recorded=recorded,
    )


def all_settings() -> list[Setting]:
    """Return what is measured in this profile."""
    rates = by_profile(full=(0.0, 1e3, 1e4, 1e5), ci=(0.0, 1e4))
    return [Setting(mode, state, rate) for state in ("same", "apart") for rate in rates for mode in RX_MODES]


def _in_words(window: dict[str, Any]) -> str:
    ping, wire = percentile(window["times_ms"], 50), percentile(window["whole_us"], 50)
    running = window["scheduler"][-1]["running"]
    told = [
        "no ping was answered" if ping is None else f"ping {ping:.3g} ms",
        "the probe saw nothing" if wire is None else f"wire {wire:.3g} µs",
    ]
    return ", ".join(told + ([] if running is None else [f"{100 * running:.0f} % of a core"]))
