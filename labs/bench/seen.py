"""What a lab's nodes are like at one moment, as the kernel and they themselves tell it."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.node import Node
    from labs.placement import Cores
    from labs.topology import NodeSpec

_STREAM = re.compile(
    r"^(?P<name>bench(?:-\d+)?)\s+(?P<enabled>Yes|No)\s.*?rate (?P<rate>\S+) pps, size (?P<size>\d+)-",
    re.MULTILINE,
)
_TIMEOUT = 5.0
"""Seconds for an answer: a VPP that is busy with large frames looks at its CLI four times a second."""


@dataclass(frozen=True)
class Stream:
    """One of the bench's streams, as the packet generator shows it; a rate of 0 is as fast as it goes."""

    name: str
    rate: float
    size: int
    enabled: bool = True


@dataclass(frozen=True)
class Seen:
    """One node.

    Parameters
    ----------
    spec : NodeSpec
    cores : tuple of int
        Where its threads may run.
    workers : int
    modes : dict of str to str
        The rx-mode of each memif that has a queue.
    rings : dict of str to int
        The ring size of each memif that is connected.
    lends : dict of str to bool
        Whether each memif that is connected, and its client, lends packets (zero-copy).
    streams : tuple of Stream
    """

    spec: NodeSpec
    cores: Cores
    workers: int = 0
    modes: dict[str, str] = field(default_factory=dict)
    rings: dict[str, int] = field(default_factory=dict)
    lends: dict[str, bool] = field(default_factory=dict)
    streams: tuple[Stream, ...] = ()


def look(nodes: Mapping[str, Node]) -> dict[str, Seen | None]:
    """Look at all nodes at a time; None for one that has ended, or does not answer."""
    with ThreadPoolExecutor(max(len(nodes), 1), "bench look") as pool:
        return dict(zip(nodes, pool.map(look_at, nodes.values()), strict=True))


def look_at(node: Node) -> Seen | None:
    """Look at one node."""
    try:
        threads = node.threads()
        connected = [state for state in node.memifs(_TIMEOUT).interfaces if state.connected]
        return Seen(
            spec=node.spec,
            cores=tuple(sorted({core for thread in threads for core in thread.cores})),
            workers=sum("_wk_" in thread.name for thread in threads),
            modes=node.rx_modes(),
            rings={state.name: ring.size for state in connected for ring in state.rings},
            lends={state.name: "zero-copy" in state.flags for state in connected if state.role == "client"},
            streams=streams_of(node),
        )
    except LabError:
        return None


def streams_of(node: Node) -> tuple[Stream, ...]:
    """Return the bench's streams that a node has."""
    return streams_in(node.cli("show packet-generator", _TIMEOUT))


def streams_in(shown: str) -> tuple[Stream, ...]:
    """Return the bench's streams that ``show packet-generator`` lists."""
    return tuple(
        Stream(row["name"], float(row["rate"]), int(row["size"]), enabled=row["enabled"] == "Yes")
        for row in _STREAM.finditer(shown)
    )
