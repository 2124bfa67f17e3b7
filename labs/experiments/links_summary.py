"""What the windows of the experiment `links` show: figures for each link, the answer, and the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.bench.compare import FELL, ROSE
from labs.course.verdict import Verdict
from labs.experiments.figures import change, figures_of
from labs.experiments.links_beds import RING, Setting
from labs.experiments.throughput_summary import cycles

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from labs.experiments.figures import Figure

Window = dict[str, Any]
_MILLION, _MIB = 1e6, 1 << 20
_SAME = 1.05  # a link wanders as much from pass to pass by itself
MUCH = 8
"""How many times more memory vhost-user lends than a memif that copies, at least."""

FIGURES: dict[str, Callable[[Window], float | None]] = {
    "received_mpps": lambda window: window["received"] / _MILLION,
    "gbit_per_s": lambda window: window["gbit_per_s"],
    "cycles_a_packet": lambda window: cycles(window) if window.get("cycles") else None,
    "lent_mib": lambda window: sum(each["size"] for each in window["lent"]) / _MIB,
}
"""What is told of each link, from one of its windows."""


def figures(windows: Sequence[Window], setting: Setting) -> dict[str, Figure]:
    """Return each figure of a setting over its windows."""
    return figures_of(windows, setting, FIGURES)


def answer(windows: Sequence[Window], settings: Sequence[Setting]) -> list[str]:
    """Return the answer to the reader of 2017, a sentence for each receiver and size."""
    told = []
    for who, size in dict.fromkeys((each.receiver, each.size) for each in settings):
        a, b = Setting(who, "memif", size), Setting(who, "vhost", size)
        if a not in settings or b not in settings:
            continue
        of = {str(each): [w["received"] for w in windows if w["setting"] == str(each)] for each in (a, b)}
        pairs = zip(
            of[str(a)], of[str(b)], strict=False
        )  # of one pass each; the last may have been cut short
        times = [vhost / memif for memif, vhost in pairs if memif]
        if times:
            told.append(f"{b}, rings of {RING}: against a memif that copies, {_said(times)}.")
    return told


def _said(times: Sequence[float]) -> str:
    """Return how vhost-user does against memif, pass by pass: a host's pace falls on both of a pass alike."""
    low, high = min(times), max(times)
    if high < 1 / _SAME:
        word = "vhost-user moves fewer packets in every pass"
    elif low > _SAME:
        word = "vhost-user moves more packets in every pass"
    else:
        word = "there is no difference that stands in every pass"
    return f"{word} ({low:.2f} to {high:.2f} times as many)"


def judge(windows: Sequence[Window], settings: Sequence[Setting]) -> list[Verdict]:
    """Return what the windows show, as relations that hold on every sane machine."""
    return [
        Verdict(
            "large frames move more bits and fewer packets than small ones over every link",
            all(
                change(a["gbit_per_s"], b["gbit_per_s"]) == ROSE
                and change(a["received_mpps"], b["received_mpps"]) == FELL
                for a, b in _small_and_large(windows, settings)
            ),
        ),
        *_memory(windows, settings),
    ]


def judge_privileges(effective: str) -> Verdict:
    """Return whether the node that took part had no privilege at all, by its ``CapEff``."""
    return Verdict(
        "a node without any privilege is an end of each link",
        int(effective, 16) == 0,
        because=f"it has the capabilities {effective}",
    )


def _small_and_large(
    windows: Sequence[Window], settings: Sequence[Setting]
) -> list[tuple[dict[str, Figure], dict[str, Figure]]]:
    sizes = sorted({each.size for each in settings})
    pairs = dict.fromkeys((each.receiver, each.kind) for each in settings)
    return [
        (
            figures(windows, Setting(who, kind, sizes[0])),
            figures(windows, Setting(who, kind, sizes[-1])),
        )
        for who, kind in pairs
    ]


def _memory(windows: Sequence[Window], settings: Sequence[Setting]) -> list[Verdict]:
    """Return who has whose memory."""

    def lent(kind: str) -> list[float]:
        found = (figures(windows, each)["lent_mib"].median for each in settings if each.kind == kind)
        return [each for each in found if each is not None]

    def written(kind: str) -> bool:
        mine = [window for window in windows if window["kind"] == kind]
        return bool(mine) and all(any(each["b_writes"] for each in window["lent"]) for window in mine)

    copied, verdicts = lent("memif"), []
    for kind, name in (("memif-zc", "a memif without a copy"), ("vhost", "vhost-user")):
        whole = lent(kind)
        is_known = bool(copied) and bool(whole)
        verdicts.append(
            Verdict(
                f"{name} lends all of the sender's packet memory, and a memif that copies only the link's",
                is_known and min(whole) >= MUCH * max(copied),
                because=f"{min(whole):.3g} MiB against {max(copied):.3g} MiB"
                if is_known
                else "that was not measured",
            )
        )
    return [
        *verdicts,
        Verdict("over vhost-user the receiver may write into the sender's memory", written("vhost")),
    ]
