"""What ``show runtime`` prints, as data (src/vlib/node_cli.c)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RuntimeNode:
    """A row: what one graph node has done on one thread since ``clear runtime``.

    Attributes
    ----------
    name : str
        Cut to 30 characters, as VPP prints it.
    state : str
        ``polling``, ``interrupt wait`` or ``disabled`` for input nodes, ``active`` for inner ones,
        ``any wait``, ``event wait``, ... for processes.
    calls, vectors, suspends : int
        Times called, packets handled, times a process went to sleep.
    clocks : float
        Clock cycles for each packet; for each call if there was no packet; for each suspension if
        there was no call. Nanoseconds instead of cycles with ``show runtime time``.
    vectors_per_call : float
        Packets a call.
    """

    name: str
    state: str
    calls: int
    vectors: int
    suspends: int
    clocks: float
    vectors_per_call: float


@dataclass(frozen=True)
class RuntimeThread:
    """One thread's block.

    Attributes
    ----------
    id : int
        0 is the main thread.
    name : str
        ``vpp_main`` where VPP prints none, which it does with a single thread.
    lcore : int or None
        The core VPP was configured with.
    seconds : float
        Since ``clear runtime``: what the rates are averages over.
    update_interval : float
        Seconds over which the vector rate is an average.
    vector_rate, loops_per_second : float
    rates : dict of str to float
        Packets a second: ``in``, ``out``, ``drop``, ``punt``.
    nodes : list of RuntimeNode
    """

    id: int
    name: str
    lcore: int | None = None
    seconds: float = 0.0
    update_interval: float = 0.0
    vector_rate: float = 0.0
    loops_per_second: float = 0.0
    rates: dict[str, float] = field(default_factory=dict)
    nodes: list[RuntimeNode] = field(default_factory=list)


_NUMBER = r"([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|NaN|Inf))"
_THREAD = re.compile(r"Thread (\d+) (\S+)(?: \(lcore (\d+)\))?")
_TIME = re.compile(rf"Time {_NUMBER}, {_NUMBER} sec internal node vector rate {_NUMBER} loops/sec {_NUMBER}")
_RATES = re.compile(rf"\s+vector rates in {_NUMBER}, out {_NUMBER}, drop {_NUMBER}, punt {_NUMBER}")
_ROW = re.compile(rf"\s*(\d+)\s+(\d+)\s+(\d+)\s+{_NUMBER}\s+{_NUMBER}")

# VPP cuts names and states to the width of their columns, and puts processes' states in quotes.
_NAME_WIDTH, _STATE_WIDTH = 30, 12
_STATES = (
    "polling",
    "interrupt wait",
    "disabled",
    "active",
    "not started",
    "running",
    "suspended",
    "event wait",
    "clock wait",
    "any wait",
    "one time event wait",
    "yield",
    "unknown",
)


def parse_runtime(text: str) -> list[RuntimeThread]:
    """Return a block for each thread in ``show runtime`` or ``show runtime time``."""
    threads: list[RuntimeThread] = []
    id_, name, lcore = 0, "vpp_main", ""
    for line in text.split("\n"):
        stripped = line.rstrip()
        if row := _THREAD.fullmatch(stripped):
            id_, name, lcore = int(row[1]), row[2], row[3] or ""
        elif row := _TIME.fullmatch(stripped):
            seconds, interval, vectors, loops = (float(part) for part in row.groups())
            core = int(lcore) if lcore else None
            threads.append(RuntimeThread(id_, name, core, seconds, interval, vectors, loops))
        elif threads and (row := _RATES.fullmatch(stripped)):
            numbers = (float(part) for part in row.groups())
            threads[-1].rates.update(zip(("in", "out", "drop", "punt"), numbers, strict=True))
        elif threads and (node := _node(stripped)):
            threads[-1].nodes.append(node)
    return threads


def _node(line: str) -> RuntimeNode | None:
    name, state, numbers = (
        line[:_NAME_WIDTH],
        line[_NAME_WIDTH:][:_STATE_WIDTH],
        line[_NAME_WIDTH + _STATE_WIDTH :],
    )
    row = _ROW.fullmatch(numbers)
    begun = state.strip().strip('"')
    whole = next((full for full in _STATES if begun and full.startswith(begun)), "")
    if row is None or not whole or not name.strip():
        return None
    calls, vectors, suspends = (int(part) for part in row.groups()[:3])
    return RuntimeNode(name.strip(), whole, calls, vectors, suspends, float(row[4]), float(row[5]))
