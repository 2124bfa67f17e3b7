"""What benchmarks have measured: a table on the terminal and a JSON file."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median, quantiles

from rich.console import Console
from rich.table import Table

from labs.machine import machine

BUILD = Path(__file__).resolve().parents[2] / "build" / "bench"


@dataclass(frozen=True)
class Row:
    """One comparison.

    Parameters
    ----------
    name : str
    ours, peer : float or None
        Medians; `peer` is what ours is compared with, or None where the goal is an absolute one.
    unit : str
    ratio : float or None
        As the goal takes it.
    goal : str
        In words, as ``at least 20`` or ``at most 1.5 s``.
    passed : bool
    lowest, highest : float
        Spread of ours; of the ratio, where that was measured pair by pair.
    samples : int
    """

    name: str
    ours: float
    peer: float | None
    unit: str
    ratio: float | None
    goal: str
    passed: bool
    lowest: float
    highest: float
    samples: int


@dataclass
class Report:
    """The rows of one run of the benchmarks."""

    rows: list[Row] = field(default_factory=list)

    def at_most(self, name: str, ours: list[float], unit: str, goal: float | None) -> None:
        """Add a row whose median has to stay below a goal; without a goal it is for information."""
        middle = median(ours)
        passed = goal is None or middle <= goal
        words = "none" if goal is None else f"at most {goal:g} {unit}"
        self.rows.append(Row(name, middle, None, unit, None, words, passed, min(ours), max(ours), len(ours)))

    def no_less(self, name: str, ours: list[float], unit: str, goal: float | None) -> None:
        """Add a row whose upper quartile has to reach a goal; without a goal it is for information.

        A host that slows its guests down makes rates fall, and never rise.
        """
        best = quantiles(ours, n=4, method="inclusive")[-1]
        passed = goal is None or best >= goal
        words = "none" if goal is None else f"a quarter at least {goal:g} {unit}"
        row = Row(name, median(ours), None, unit, None, words, passed, min(ours), max(ours), len(ours))
        self.rows.append(row)

    def paired(self, name: str, pairs: list[tuple[float, float]], unit: str, goal: float | None) -> None:
        """Add a row whose median ratio has to reach a goal, of pairs (ours, the peer's) measured in turn.

        Without a goal it is for information. The spread is that of the ratios.
        """
        ours, peer = ([pair[side] for pair in pairs] for side in (0, 1))
        ratios = [mine / theirs for mine, theirs in pairs]
        ratio = median(ratios)
        passed = goal is None or ratio >= goal
        words = "none" if goal is None else f"at least {goal:g}"
        row = Row(
            name, median(ours), median(peer), unit, ratio, words, passed, min(ratios), max(ratios), len(pairs)
        )
        self.rows.append(row)

    def at_least(self, name: str, ours: list[float], peer: list[float], unit: str, goal: float) -> None:
        """Add a row whose ratio of medians, ours to the peer's, has to reach a goal."""
        mine, theirs = median(ours), median(peer)
        ratio = mine / theirs
        row = Row(
            name,
            mine,
            theirs,
            unit,
            ratio,
            f"at least {goal:g}",
            ratio >= goal,
            min(ours),
            max(ours),
            len(ours),
        )
        self.rows.append(row)

    def print(self) -> None:
        """Print the rows as a table."""
        table = Table(
            "benchmark", "ours", "lowest", "highest", "n", "peer", "ratio", "goal", "", title="Benchmarks"
        )
        for row in self.rows:
            table.add_row(
                row.name,
                f"{row.ours:.3g} {row.unit}",
                f"{row.lowest:.3g}",
                f"{row.highest:.3g}",
                str(row.samples),
                "" if row.peer is None else f"{row.peer:.3g} {row.unit}",
                "" if row.ratio is None else f"{row.ratio:.3g}",
                row.goal,
                "✓" if row.passed else "✗",
            )
        Console(width=150).print(table)

    def write(self) -> Path:
        """Write rows and machine to build/bench/DATE.json and return the path."""
        BUILD.mkdir(parents=True, exist_ok=True)
        path = BUILD / f"{time.strftime('%Y-%m-%dT%H%M%S')}.json"
        record = {"machine": machine().to_dict(), "rows": [asdict(row) for row in self.rows]}
        path.write_text(json.dumps(record, indent=1))
        return path
