"""What the kernel's scheduler did with each node while we looked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import pandas as pd

from labs.errors import LabError
from labs.kernel import format_cores, threads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.kernel import Thread

_NS_PER_S = 1_000_000_000
_NS_PER_MS = 1_000_000


@dataclass(frozen=True)
class Share:
    """One node's share of its cores over a span of time.

    Parameters
    ----------
    node : str
    cores : tuple of int
        Where its threads may run.
    seconds : float
        How long we looked.
    running, waiting : float or None
        Fraction of that time its threads ran, and were ready to run but waited for a core; with several
        threads the sum may exceed 1. None where the kernel keeps no such record.
    turn_ms, wait_ms : float or None
        Mean length of a turn on a core, and mean wait for one, in milliseconds; None without a turn.
    voluntary, involuntary : float
        Switches a second because a thread went to sleep, and because the kernel took its core away.
    """

    node: str
    cores: tuple[int, ...]
    seconds: float
    running: float | None
    waiting: float | None
    turn_ms: float | None
    wait_ms: float | None
    voluntary: float
    involuntary: float


@dataclass(frozen=True)
class Evidence:
    """The scheduler's record of a span of time, node by node."""

    shares: tuple[Share, ...]

    def __getitem__(self, node: str) -> Share:
        for share in self.shares:
            if share.node == node:
                return share
        watched = ", ".join(share.node for share in self.shares)
        raise LabError(f"There is no evidence about {node!r}.", f"the nodes watched are {watched}.")

    def table(self) -> pd.DataFrame:
        """Return a row for each node, times in milliseconds and fractions in per cent."""
        return pd.DataFrame(
            {
                "may run on core": [format_cores(share.cores) for share in self.shares],
                "running (%)": [_percent(share.running) for share in self.shares],
                "waiting for a core (%)": [_percent(share.waiting) for share in self.shares],
                "mean turn (ms)": [_rounded(share.turn_ms) for share in self.shares],
                "mean wait (ms)": [_rounded(share.wait_ms) for share in self.shares],
                "put itself to sleep (/s)": [round(share.voluntary) for share in self.shares],
                "core taken away (/s)": [round(share.involuntary) for share in self.shares],
            },
            index=[share.node for share in self.shares],
        )

    def __repr__(self) -> str:
        return str(self.table().T.to_string())

    def _repr_html_(self) -> str:
        return str(self.table().to_html())


class Watch:
    """Watch the processes of some nodes while a ``with`` block runs; `evidence` holds the result.

    Parameters
    ----------
    pids : mapping of str to int
        Process numbers by node name.
    """

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids = pids
        self.evidence = Evidence(())

    def __enter__(self) -> Self:
        self._before = {node: threads(pid) for node, pid in self._pids.items()}
        self._began = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        elapsed = time.perf_counter() - self._began
        after = {node: threads(pid) for node, pid in self._pids.items()}
        self.evidence = Evidence(
            tuple(share_of(node, self._before[node], after[node], elapsed) for node in self._pids)
        )


def observe(pids: Mapping[str, int], seconds: float) -> Evidence:
    """Watch the processes of some nodes for a while; this call takes as long.

    Raises
    ------
    LabError
        The while has no length.
    """
    if not seconds > 0:
        raise LabError(f"Nothing can be seen in {seconds} seconds.", "watch for a second or two.")
    with Watch(pids) as watch:
        time.sleep(seconds)
    return watch.evidence


def share_of(node: str, before: list[Thread], after: list[Thread], seconds: float) -> Share:
    """Return one node's share from two looks at its threads, `seconds` apart."""
    first = {thread.tid: thread for thread in before}
    pairs = [(first[thread.tid], thread) for thread in after if thread.tid in first]
    cores = tuple(sorted({core for thread in after for core in thread.cores}))
    voluntary = sum(b.voluntary - a.voluntary for a, b in pairs) / seconds
    involuntary = sum(b.involuntary - a.involuntary for a, b in pairs) / seconds
    kept = [(a, b) for a, b in pairs if a.ran_ns is not None and b.ran_ns is not None]
    if not kept:
        return Share(node, cores, seconds, None, None, None, None, voluntary, involuntary)
    ran = sum((b.ran_ns or 0) - (a.ran_ns or 0) for a, b in kept)
    waited = sum((b.waited_ns or 0) - (a.waited_ns or 0) for a, b in kept)
    turns = sum((b.slices or 0) - (a.slices or 0) for a, b in kept)
    return Share(
        node,
        cores,
        seconds,
        ran / seconds / _NS_PER_S,
        waited / seconds / _NS_PER_S,
        ran / turns / _NS_PER_MS if turns else None,
        waited / turns / _NS_PER_MS if turns else None,
        voluntary,
        involuntary,
    )


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else round(100 * fraction, 1)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
