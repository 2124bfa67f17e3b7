"""Either end of a link killed and started anew under traffic: how long, how many packets, who says what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.course.verdict import Verdict
from labs.errors import LabError
from labs.experiments.ending import Begun
from labs.experiments.figures import outliers_of, summary_of
from labs.experiments.homecoming import coming_home
from labs.experiments.method import measure_in_turn, plan
from labs.experiments.profile import say
from labs.experiments.reconnect_window import is_killed, window

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from labs.experiments.run import Run
    from labs.lab import Lab

Window = dict[str, Any]
ROLES = ("client", "server")
NEAR = 0.25
"""Part by which the time that the lost packets tell may differ from the gap that was timed."""

FIGURES: dict[str, Callable[[Window], float | None]] = {
    "noticed_s": lambda found: found["noticed"],
    "up_s": lambda found: found["up"],
    "first_packet_s": lambda found: found["first"],
    "lost_packets": lambda found: found["lost"],
    "blocked_s": lambda found: found["blocked_s"],
}
"""What is told of each end, from one of its windows; times count from the kill."""


def reconnect(
    lab: Lab,
    seconds: float | None = None,
    rounds: int | None = None,
    progress: Callable[[float, str], None] = say,
) -> Run:
    """Kill the link's client and its server in turn, start each anew, and time the recovery.

    Parameters
    ----------
    lab : Lab
        Two nodes, started, with one link.
    seconds : float, optional
        Not used: a window lasts as long as a recovery does. It is there since all experiments have it.
    rounds : int, optional
        Windows of each end; 3, or 1 in the ``ci`` profile.
    progress : callable
        Told the fraction done and what was just measured; prints it by default.

    Raises
    ------
    LabError
        The lab has not two nodes and one link, or a node does not come back.
    """
    how = plan(seconds, rounds, full=(1.0, 3), ci=(1.0, 1), shortest=0.0)
    if len(lab.nodes) != 2 or len(lab.current.links) != 1:  # noqa: PLR2004
        raise LabError("This experiment needs two nodes and one link between them.", "use two_vpps().")
    begun = Begun("reconnect", lab)
    run = begun.run

    def told(done: float, found: Window) -> None:
        first = "no packet came" if found["first"] is None else f"packets after {found['first']:.2f} s"
        progress(done, f"{found['setting']}: {first}, {found['lost']} lost")

    progress(0.0, f"{len(ROLES) * how.rounds} windows follow, of about four seconds each")
    with coming_home(lab):
        measure_in_turn(run, ROLES, how.rounds, lambda role: window(lab, role), told)
    settings = [is_killed(role) for role in ROLES]
    run.summary = summary_of(run.windows, settings, FIGURES)
    run.summary["reports"] = [
        {"of": found["setting"], "the survivor says": found["reasons"]} for found in run.windows
    ]
    run.verdicts = judge(run.windows)
    return begun.end(
        fewest=30,  # a window counts thousands of packets
        outliers=outliers_of(run.windows, settings, FIGURES, "first_packet_s"),
    )


def judge(windows: Sequence[Window]) -> list[Verdict]:
    """Return what the windows show."""
    silent = [found["setting"] for found in windows if found["noticed"] is None]
    stuck = [found["setting"] for found in windows if found["first"] is None]
    apart = [abs(found["blocked_s"] - found["first"]) / found["first"] for found in windows if found["first"]]
    return [
        Verdict(
            "the end that survives notices, before the other is back",
            bool(windows) and not silent and all(found["noticed"] < found["up"] for found in windows),
            because=f"it did not where {silent[0]}" if silent else "it noticed later",
        ),
        Verdict(
            "packets flow again after either end was killed",
            bool(windows) and not stuck,
            because=f"none came where {stuck[0]}" if stuck else "nothing was measured",
        ),
        Verdict(
            "what is lost is what was sent while nobody took it",
            bool(apart) and max(apart) <= NEAR,
            because=f"the lost packets tell of a gap that is {100 * max(apart, default=0):.0f} % off",
        ),
        Verdict(
            "the end that survives has lost its rx-mode, and polls",
            bool(windows) and all(found["mode_after"] == "polling" for found in windows),
            because=f"it is {windows[-1]['mode_after']}" if windows else "nothing was measured",
        ),
    ]
