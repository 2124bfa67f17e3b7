"""The answer to the reader of 2017 in a table: a column for each kind of link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.experiments.figures import figure
from labs.experiments.groups import short
from labs.experiments.links_beds import Setting
from labs.experiments.links_kinds import KINDS, up
from labs.experiments.links_summary import figures, of_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

Window = dict[str, Any]
_WHO = {"testpmd": "testpmd to testpmd", "node": "testpmd to the node"}
_NONE = "not here"


def in_a_table(windows: Sequence[Window], settings: Sequence[Setting]) -> dict[str, dict[str, str]]:
    """Return a column for each kind of link: rates, cost, latency, memory, and what it takes to have one."""
    return {
        KINDS[kind].words: {
            **_measured(windows, settings, kind),
            **_seen(windows, kind),
            **_needed(windows, kind),
        }
        for kind in dict.fromkeys(each.kind for each in settings)
    }


def _measured(windows: Sequence[Window], settings: Sequence[Setting], kind: str) -> dict[str, str]:
    sizes = sorted({each.size for each in settings})
    small, large = sizes[0], sizes[-1]
    told = {}
    for who, words in _WHO.items():
        for size, name, unit in (
            (small, "received_mpps", "Mpps"),
            (large, "gbit_per_s", "Gbit/s"),
            (small, "sender_ns", "ns of the sender for a packet"),
            (small, "receiver_ns", "ns of the receiver for a packet"),
        ):
            told[f"{words}, {size} bytes: {unit}"] = _short(windows, settings, Setting(who, kind, size), name)
    told["ping from the node: µs"] = _short(windows, settings, Setting("node", kind, small), "ping_us")
    return told


def _short(windows: Sequence[Window], settings: Sequence[Setting], setting: Setting, name: str) -> str:
    if setting not in settings:
        return _NONE
    return short(figures(windows, setting)[name].to_dict())


def _seen(windows: Sequence[Window], kind: str) -> dict[str, str]:
    mine = of_kind(windows, kind)
    lent = figure([sum(each["size"] for each in window["lent"]) / (1 << 20) for window in mine])
    written = any(each["b_writes"] for window in mine for each in window["lent"])
    back = any(window["seen_back"] for window in mine)
    return {
        "MiB of the sender's that the receiver maps": short(lent.to_dict()),
        "the receiver may write there": "yes" if written else "no",
        "the sender maps the receiver's own": "yes" if back else "no",
    }


def _needed(windows: Sequence[Window], kind: str) -> dict[str, str]:
    make = KINDS[kind].make
    lines = len(KINDS[kind].host) if make is None else len(make("")) + len(up("")) - 1  # without the way
    some = any(int(each, 16) for window in of_kind(windows, kind) for each in window["capabilities"])
    needs = "some" if some else "none"
    return {
        "lines that make an end": str(lines),
        "privileges": "CAP_NET_ADMIN and CAP_NET_RAW" if KINDS[kind].is_kernel else needs,
    }
