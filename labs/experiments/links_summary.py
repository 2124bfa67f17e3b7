"""What the windows of the experiment `links` show: figures for each link, the answer, and the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.course.verdict import Verdict
from labs.experiments.figures import figures_of
from labs.experiments.links_beds import Setting
from labs.experiments.links_kinds import KINDS, RING
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
    "sender_ns": lambda window: _spent(window, lambda name: name == "sender"),
    "receiver_ns": lambda window: _spent(window, _receives(window)),
    "ping_us": lambda window: window["ping_us"],
    "lent_mib": lambda window: sum(each["size"] for each in window["lent"]) / _MIB,
}
"""What is told of each link, from one of its windows; the processor's time is for a packet that arrived."""


def _spent(window: Window, is_wanted: Callable[[str], bool]) -> float | None:
    """Return the processor's nanoseconds that an end spent on each packet received, by the scheduler."""
    ran = [each["running"] for each in window["scheduler"] if is_wanted(each["node"])]
    if not window["received"] or not ran or None in ran:
        return None
    return float(1e9 * sum(ran) / window["received"])


def _receives(window: Window) -> Callable[[str], bool]:
    """Return whether a process of a window is the receiver, by its name; a node that stands by is not."""
    if window["receiver"] == "testpmd":
        return lambda name: name == "receiver"
    return lambda name: name != "sender"


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
    pairs = [pair for link in _links(settings) for pair in _small_and_large(windows, settings, link)]
    return [
        Verdict(
            "large frames move more bits over every link of shared memory, and fewer packets",
            bool(pairs)
            and all(b["gbit_per_s"] > a["gbit_per_s"] and b["received"] < a["received"] for a, b in pairs),
        ),
        *_memory(windows),
        *_privileges(windows),
        _equal_rings(windows),
    ]


def _links(settings: Sequence[Setting]) -> list[tuple[str, str]]:
    """Return the links of shared memory."""
    return list(dict.fromkeys(each.link for each in settings if not KINDS[each.kind].is_kernel))


def _small_and_large(
    windows: Sequence[Window], settings: Sequence[Setting], link: tuple[str, str]
) -> list[tuple[Window, Window]]:
    """Return a link's windows of the smallest and the largest frames, pass by pass."""
    sizes = sorted({each.size for each in settings})
    a, b = (
        [w for w in windows if w["setting"] == str(Setting(*link, size))] for size in (sizes[0], sizes[-1])
    )
    return list(zip(a, b, strict=False))  # the last pass may have been cut short


def _memory(windows: Sequence[Window]) -> list[Verdict]:
    """Return who has whose memory."""

    def lent(kind: str) -> list[float]:
        return [sum(each["size"] for each in window["lent"]) / _MIB for window in of_kind(windows, kind)]

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
    written = [any(each["b_writes"] for each in window["lent"]) for window in of_kind(windows, "vhost")]
    back = [window["setting"] for window in windows if window["seen_back"]]
    return [
        *verdicts,
        Verdict(
            "over vhost-user the receiver may write into the sender's memory", bool(written) and all(written)
        ),
        Verdict(
            "over no link does the sender map memory of the receiver's own",
            bool(windows) and not back,
            because=f"it does over {back[0]}" if back else "nothing was measured",
        ),
    ]


def _privileges(windows: Sequence[Window]) -> list[Verdict]:
    """Return whether the ends of links of shared memory had any privilege, by the kernel's word."""
    ours = [window for window in windows if not KINDS[window["kind"]].is_kernel]
    some = [window for window in ours if any(int(each, 16) for each in window["capabilities"])]
    return [
        Verdict(
            "neither end of a memif or of vhost-user has any privilege",
            bool(ours) and not some,
            because=f"of {some[0]['setting']} one has {some[0]['capabilities']}"
            if some
            else "none was measured",
        )
    ]


def _equal_rings(windows: Sequence[Window]) -> Verdict:
    """Return whether the links that were compared had rings of one size, where these can be read."""
    read = {(window["kind"], size) for window in windows for size in window["rings"]}
    other = sorted(f"{KINDS[kind].words}: {size}" for kind, size in read if size != RING)
    return Verdict(
        "the rings of the links that are compared are of one size",
        bool(read) and not other,
        because="; ".join(other) or "none could be read",
    )


def of_kind(windows: Sequence[Window], kind: str) -> list[Window]:
    """Return the windows of a kind of link."""
    return [window for window in windows if window["kind"] == kind]
