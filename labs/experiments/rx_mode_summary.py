"""What the windows of the experiment `rx_mode` show: figures for each setting, and the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.course.verdict import Verdict
from labs.experiments.figures import figure, figures_of, outliers_of, ratio, summary_of
from labs.experiments.rx_mode_window import Setting, percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from labs.experiments.figures import Figure

Window = dict[str, Any]
MUCH = 5
"""How many times slower or faster the verdicts ask for."""
IDLES = 0.05
"""Part of a core that a sleeping node may use."""
_AWAKE = 0.9
_MS = 1e3


def _receiver(window: Window) -> Mapping[str, Any]:
    """Return what the scheduler did with the node that receives: traffic makes the other one poll."""
    found: Mapping[str, Any] = window["scheduler"][-1]
    return found


def _running(window: Window) -> float | None:
    running: float | None = _receiver(window)["running"]
    return running


def _awake(window: Window) -> float | None:
    """Return the part of the time in which the receiver ran or wanted to."""
    share = _receiver(window)
    return None if share["running"] is None else share["running"] + share["waiting"]


FIGURES: dict[str, Callable[[Window], float | None]] = {
    "ping_p50_us": lambda window: _scaled(percentile(window["times_ms"], 50), _MS),
    "wire_p50_us": lambda window: percentile(window["whole_us"], 50),
    "wire_p99_us": lambda window: percentile(window["whole_us"], 99),
    "near_p50_us": lambda window: percentile(window["near_us"], 50),
    "cpu_percent": lambda window: _scaled(_running(window), 100),
    "wakes_per_s": lambda window: _receiver(window)["voluntary"],
    "doorbells_per_s": lambda window: window["rung"],
    "received_per_s": lambda window: window["received"],
}
"""What is told of each setting, from one of its windows; a unit ends each name."""


def figures(windows: Sequence[Window], setting: Setting) -> dict[str, Figure]:
    """Return each figure of a setting over its windows."""
    return figures_of(windows, setting, FIGURES)


def summarise(windows: Sequence[Window], settings: Iterable[Setting]) -> dict[str, Any]:
    """Return a group for each setting: the median, lowest and highest window of each figure."""
    return summary_of(windows, settings, FIGURES)


def outliers(windows: Sequence[Window], settings: Iterable[Setting]) -> list[int]:
    """Return the numbers of the windows whose median round trip or processor time stands out, from 1."""
    return outliers_of(windows, settings, FIGURES, "ping_p50_us", "wire_p50_us", "cpu_percent")


def off_the_wire(windows: Sequence[Window]) -> float | None:
    """Return the part of a sleeping node's ping that the probe does not see; None if unknown."""
    found = figures(windows, Setting("interrupt", "apart", 0.0))
    share = ratio(found["wire_p50_us"], found["ping_p50_us"])
    return None if share is None else max(1 - share, 0.0)


def judge(windows: Sequence[Window], settings: Sequence[Setting]) -> list[Verdict]:
    """Return what the windows show, as relations that hold on every sane machine."""
    idle = {(each.mode, each.state): each for each in settings if not each.rate}

    def of(mode: str, state: str, name: str) -> Figure:
        return figures(windows, idle[mode, state])[name]

    near = ratio(of("interrupt", "apart", "near_p50_us"), of("polling", "apart", "near_p50_us"))
    shared = ratio(of("polling", "same", "wire_p50_us"), of("interrupt", "same", "wire_p50_us"))
    ping = ratio(of("interrupt", "apart", "ping_p50_us"), of("interrupt", "apart", "wire_p50_us"))
    return [
        *_cpu(windows, idle),
        Verdict(
            "on a core each, a polling node answers at least five times as fast as a sleeping one",
            near is not None and near >= MUCH,
            because=_times(near),
        ),
        Verdict(
            "on one core, sleeping nodes answer at least five times as fast as polling ones",
            shared is not None and shared >= MUCH,
            because=_times(shared),
        ),
        Verdict(
            "of sleeping nodes, VPP's own ping tells at least five times what the wire shows",
            ping is not None and ping >= MUCH,
            because=_times(ping),
        ),
        *_doorbells(windows, settings),
    ]


def _cpu(windows: Sequence[Window], idle: Mapping[tuple[str, str], Setting]) -> list[Verdict]:
    asleep = figures(windows, idle["interrupt", "apart"])["cpu_percent"].median
    polls = [window for window in windows if window["setting"] == str(idle["polling", "apart"])]
    awake = figure([_awake(window) for window in polls]).median
    if asleep is None or awake is None:  # a kernel that keeps no such record
        return []
    return [
        Verdict(
            "without a packet a node in interrupt mode uses less than a twentieth of a core",
            asleep < 100 * IDLES,
            because=f"it used {asleep:.1f} %",
        ),
        Verdict(
            "without a packet a polling node takes all of a core that it can get",
            awake > _AWAKE,
            because=f"it ran or waited for its core {100 * awake:.0f} % of the time",
        ),
    ]


def _doorbells(windows: Sequence[Window], settings: Iterable[Setting]) -> list[Verdict]:
    """Return whether doorbells are rung for those that sleep, and for no others."""

    def rung(mode: str) -> list[float]:
        mine = [each for each in settings if each.mode == mode and each.rate]
        found = (figures(windows, each)["doorbells_per_s"].median for each in mine)
        return [each for each in found if each is not None]

    polling, interrupt = rung("polling"), rung("interrupt")
    if not polling or not interrupt:
        return []
    return [
        Verdict(
            "nobody rings for a polling node, and for a sleeping one the doorbell is rung",
            max(polling) < 1 <= min(interrupt),
            because=f"up to {max(polling):.0f} a second for a polling node, "
            f"at least {min(interrupt):.0f} a second for a sleeping one",
        )
    ]


def _scaled(value: float | None, by: float) -> float | None:
    return None if value is None else by * value


def _times(value: float | None) -> str:
    return "too few replies came back" if value is None else f"it was a factor of {value:.1f}"
