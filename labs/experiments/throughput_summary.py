"""What the windows of the experiment `throughput` show: figures for each point, and the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.bench.compare import FELL, ROSE
from labs.course.verdict import Verdict
from labs.experiments.figures import change, figure, figures_of, outliers_of, ratio, summary_of
from labs.experiments.throughput_window import RING, SIZE, Point

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from labs.experiments.figures import Figure

Window = dict[str, Any]
LARGE = 1500
"""Bytes of the frame that stands for large ones."""
NARROW = 64
"""Descriptors of the ring that stands for small ones."""
AGREE = 0.01
"""Part by which two counts of one rate may differ."""
FULL, EMPTY = 64, 4
"""Packets that make a full vector, and a nearly empty one."""
_MILLION = 1e6


def _lost(window: Window) -> float | None:
    offered = window["offered"]
    return 100 * max(offered - window["received"], 0.0) / offered if offered else None


def cycles(window: Window) -> float | None:
    """Return the clock cycles that a packet cost at the receiver, from the ring to where it is dropped.

    Every graph node on the way has every packet, so the sum over nodes of what each spent on a packet is what
    the packet cost. Nodes that see other packets, as ARP's, do not count, nor does memif-input: its cycles
    are also those of looks into an empty ring.
    """
    spent: Mapping[str, float] = window["cycles"]
    on_the_way = [value for name, value in spent.items() if name in ON_THE_WAY]
    return sum(on_the_way) if on_the_way else None


ON_THE_WAY = (
    "ethernet-input",
    "ip4-input",
    "ip4-input-no-checksum",
    "ip4-lookup",
    "ip4-load-balance",
    "ip4-rewrite",
    "ip4-drop",
    "error-drop",
    "drop",
)
"""The graph nodes through which the traffic goes at the receiver; the glass box has some of them."""

FIGURES: dict[str, Callable[[Window], float | None]] = {
    "received_mpps": lambda window: window["received"] / _MILLION,
    "gbit_per_s": lambda window: window["gbit_per_s"],
    "lost_percent": _lost,
    "packets_a_vector": lambda window: window["packets_a_vector"],
    "cycles_a_packet": cycles,
}
"""What is told of each point, from one of its windows."""


def figures(windows: Sequence[Window], point: Point) -> dict[str, Figure]:
    """Return each figure of a point over its windows."""
    return figures_of(windows, point, FIGURES)


def summarise(windows: Sequence[Window], points: Iterable[Point]) -> dict[str, Any]:
    """Return a group for each point: the median, lowest and highest window of each figure."""
    return summary_of(windows, points, FIGURES)


def outliers(windows: Sequence[Window], points: Iterable[Point]) -> list[int]:
    """Return the numbers of the windows whose rate stands out, from 1."""
    return outliers_of(windows, points, FIGURES, "received_mpps")


def judge(windows: Sequence[Window], points: Iterable[Point]) -> list[Verdict]:
    """Return what the windows show, as relations that hold on every sane machine."""
    known = set(points)
    small, large, narrow = Point(), Point(size=LARGE), Point(ring=NARROW)
    verdicts = []
    if {small, large} <= known:
        few, many = figures(windows, small), figures(windows, large)
        verdicts.append(
            Verdict(
                "large frames move more bits and fewer packets than small ones",
                change(few["gbit_per_s"], many["gbit_per_s"]) == ROSE
                and change(few["received_mpps"], many["received_mpps"]) == FELL,
                because=f"{_told(many['gbit_per_s'], 'Gbit/s')} and {_told(many['received_mpps'], 'Mpps')} "
                f"against {_told(few['gbit_per_s'], 'Gbit/s')} and {_told(few['received_mpps'], 'Mpps')}",
            )
        )
    if {small, narrow} <= known:
        a, b = figures(windows, small)["received_mpps"], figures(windows, narrow)["received_mpps"]
        verdicts.append(
            Verdict(
                "a short ring moves no more packets than a long one",
                change(a, b) != ROSE,
                because=f"{_told(b, 'Mpps')} against {_told(a, 'Mpps')}",
            )
        )
    return [*verdicts, *_counted(windows), *_vectors(windows)]


def pass_by_pass(windows: Sequence[Window], points: Iterable[Point]) -> list[str]:
    """Return how packets a second compare, pass by pass: a host's pace falls on both of a pass alike."""
    known = set(points)
    pairs = [
        ("both directions together against one", Point(directions=2), Point()),
        ("two queues against one, both polled by one thread", Point(queues=2), Point()),
        ("copied against zero-copy, 64 bytes", Point(zero_copy=False), Point()),
        ("copied against zero-copy, 1500 bytes", Point(size=LARGE, zero_copy=False), Point(size=LARGE)),
        ("mode ip against ethernet, both routed", Point(layer="ip"), Point(layer="ethernet")),
    ]
    told = []
    for words, a, b in pairs:
        if {a, b} <= known:
            over, under = (figures(windows, each)["received_mpps"].known for each in (a, b))
            times = [x / y for x, y in zip(over, under, strict=False) if y]
            if times:
                told.append(f"{words}: {min(times):.2f} to {max(times):.2f} times as many packets")
    return told


def _counted(windows: Sequence[Window]) -> list[Verdict]:
    """Return whether what was offered is what was received and what found no slot."""
    apart = [
        abs(window["offered"] - window["refused"] - window["received"]) / window["offered"]
        for window in windows
        if window["offered"]
    ]
    if not apart:
        return []
    return [
        Verdict(
            "what is offered and not received has found no free slot in the ring",
            max(apart) <= AGREE,
            because=f"up to {100 * max(apart):.2g} % of the packets are missing in the counts",
        )
    ]


def _vectors(windows: Sequence[Window]) -> list[Verdict]:
    """Return whether a packet is cheaper among many."""
    told = [
        (window["packets_a_vector"], cost)
        for window in windows
        if window["packets_a_vector"] is not None
        and window["size"] == SIZE
        and window["ring"] == RING
        and not window["layer"]
        and (cost := cycles(window)) is not None
    ]
    full = figure([cost for vectors, cost in told if vectors >= FULL])
    empty = figure([cost for vectors, cost in told if vectors < EMPTY])
    factor = ratio(empty, full)
    if factor is None:  # this machine showed no such vectors
        return []
    return [
        Verdict(
            "among many, a packet costs fewer cycles than nearly alone",
            factor > 1,
            because=f"{_told(full, 'cycles')} against {_told(empty, 'cycles')}",
        )
    ]


def _told(found: Figure, unit: str) -> str:
    return f"an unknown number of {unit}" if found.median is None else f"{found.median:.3g} {unit}"
