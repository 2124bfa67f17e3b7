"""What VPP counts, taken out of its statistics segment.

Each function is called inside `Segment.read`, and returns what is true at one moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.vpp.segment import GAUGE, SCALAR

if TYPE_CHECKING:
    from labs.vpp.segment import Segment

_SIMPLE_FIELDS = {
    "drops": "/if/drops",
    "punts": "/if/punt",
    "rx_no_buf": "/if/rx-no-buf",
    "rx_miss": "/if/rx-miss",
    "rx_errors": "/if/rx-error",
    "tx_errors": "/if/tx-error",
}


@dataclass(frozen=True)
class InterfaceCounters:
    """What one interface has counted since VPP started, or since ``clear interfaces``.

    Packets and bytes received and sent; packets dropped after they came in, punted, lost for want of
    a buffer, missed by the device, received with an error, and lost on sending.
    """

    rx_packets: int = 0
    rx_bytes: int = 0
    tx_packets: int = 0
    tx_bytes: int = 0
    drops: int = 0
    punts: int = 0
    rx_no_buf: int = 0
    rx_miss: int = 0
    rx_errors: int = 0
    tx_errors: int = 0


@dataclass(frozen=True)
class NodeCounters:
    """What one graph node has done: calls, packets, clock cycles, and suspensions of a process."""

    calls: int
    vectors: int
    clocks: int
    suspends: int


def of_interfaces(seg: Segment, *, brief: bool = False) -> dict[str, InterfaceCounters]:
    """Return the counters of each interface, summed over threads; only packets and bytes if `brief`."""
    columns: dict[str, list[int]] = {}
    for way in ("rx", "tx"):
        both = seg.combined(seg.entry(f"/if/{way}")).sum(axis=0)
        columns[f"{way}_packets"], columns[f"{way}_bytes"] = both[:, 0].tolist(), both[:, 1].tolist()
    for field, path in () if brief else _SIMPLE_FIELDS.items():
        columns[field] = seg.simple(seg.entry(path)).sum(axis=0).tolist()
    return {
        name: InterfaceCounters(
            **{field: column[index] for field, column in columns.items() if index < len(column)}
        )
        for index, name in enumerate(seg.strings(seg.entry("/if/names")))
        if name and name != "deleted"
    }


def of_errors(seg: Segment) -> dict[str, int]:
    """Return the error counters that are not 0, by name, summed over threads."""
    totals = seg.simple(seg.entry("/node/errors")).sum(axis=0).tolist()
    if not any(totals):
        return {}
    links = seg.links("/err/")
    return {name: totals[at] for name, at in links.items() if at < len(totals) and totals[at]}


def of_error(seg: Segment, name: str) -> int:
    """Return one error counter, summed over threads; 0 where it never counted."""
    column = seg.links("/err/").get(name)
    if column is None:
        return 0
    return int(seg.simple(seg.entry("/node/errors"))[:, column : column + 1].sum())


def of_nodes(seg: Segment) -> dict[str, NodeCounters]:
    """Return what each graph node has done, by name, summed over threads."""
    names = seg.strings(seg.entry("/sys/node/names"))
    kinds = ("calls", "vectors", "clocks", "suspends")
    columns = [seg.simple(seg.entry(f"/sys/node/{kind}")).sum(axis=0).tolist() for kind in kinds]
    known = min(len(names), *(len(column) for column in columns))
    return {
        names[index]: NodeCounters(*(column[index] for column in columns))
        for index in range(known)
        if names[index]
    }


def of_one(seg: Segment, name: str) -> int:
    """Return a single value.

    Raises
    ------
    LabError
        There is no such value, or it is a vector.
    """
    entry = seg.entry(name)
    if entry.type not in (SCALAR, GAUGE):
        raise LabError(f"{name} is not a single value.", "read it with counters() or errors().")
    return entry.value
