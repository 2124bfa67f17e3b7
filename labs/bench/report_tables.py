"""The tables of a report, as HTML: medians between turns, the turns' commands, facts and reasons."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from labs.bench.compare import in_words
from labs.bench.settings import setting
from labs.bench.spread import Spread, spread, windows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from labs.bench.recording import Recording
    from labs.bench.tables import Mark
    from labs.experiments.run import Run
    from labs.quality import Quality

_SHORTEST = 0.5
_CALLED = {
    "labs": "course",
    "cpu": "processor",
    "physical": "physical cores",
    "memory_mb": "memory, MiB",
    "available_mb": "free memory, MiB",
    "virtual": "virtual machine",
    "cpu_quota": "cores' worth allowed",
}
_FIGURES = (
    ("probe", "probe_p50", "probe p50", "µs"),
    ("probe", "probe_p99", "probe p99", "µs"),
    ("ping", "ping_p50", "ping p50", "µs"),
    ("traffic", "sent", "sent", "Mpps"),
    ("traffic", "received", "received", "Mpps"),
    ("traffic", "lost", "lost", "Mpps"),
)


def medians(recording: Recording) -> str:
    """Return the medians of each stretch between two marks, a row each."""
    figures = [*_FIGURES, *_shares(recording)]
    rows = []
    for name, start, end in stretches(recording):
        part = recording.part(start, end)
        cells = [
            spread(windows(part.tables[track], column)) if track in part.tables else spread_of_nothing()
            for track, column, _, _ in figures
        ]
        rows.append((name, start, end, cells))
    shown = [n for n in range(len(figures)) if any(cells[n].windows for *_, cells in rows)]
    if not shown:
        return ""
    head = "".join(f'<th class="number" scope="col">{escape(figures[n][2])}</th>' for n in shown)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}<small>{start:.0f} to {end:.0f} s</small></th>'
        + "".join(_cell(cells[n], figures[n][3]) for n in shown)
        + "</tr>"
        for name, start, end, cells in rows
    )
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="Medians between turns">'
        '<table class="medians"><thead><tr>'
        f'<th scope="col">Since</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def spread_of_nothing() -> Spread:
    """Return the spread of no windows."""
    return Spread(math.nan, math.nan, math.nan, 0)


def stretches(recording: Recording) -> Iterator[tuple[str, float, float]]:
    """Yield the stretches between marks: the words of the mark that begins it, its start and its end.

    What lies between two marks that follow each other at once is no stretch.
    """
    ends = [mark.t for mark in recording.marks] + [recording.duration]
    begins = [
        (0.0, "the start"),
        *((mark.t, f"{n}. {mark.label}") for n, mark in enumerate(recording.marks, 1)),
    ]
    for (start, name), end in zip(begins, ends, strict=True):
        if end - start >= _SHORTEST:
            yield name, start, end


def turns(marks: Sequence[Mark]) -> str:
    """Return the marks with their commands, a row each."""
    rows = "".join(
        f'<tr><td class="number">{number}</td><td class="number when">{mark.t:.1f} s</td>'
        f"<td>{escape(mark.label)}</td><td>{_commands(mark)}</td></tr>"
        for number, mark in enumerate(marks, 1)
    )
    head = (
        '<th class="number" scope="col">No.</th><th class="number" scope="col">When</th>'
        '<th scope="col">What</th><th scope="col">The same in a shell</th>'
    )
    table = f'<table class="turns"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="wide">{table}</div>'


def summary(run: Run) -> str:
    """Return a run's summary: a row for each figure, a column for each group, and what concerns them all."""
    frame = run.table()
    others = {name: value for name, value in run.summary.items() if isinstance(value, int | float | str)}
    below = "".join(
        f"<p>{escape(_called(name))}: {escape(_short(value))}</p>" for name, value in others.items()
    )
    if not len(frame):
        return below
    head = "".join(f'<th class="number" scope="col">{escape(str(name))}</th>' for name in frame.columns)
    body = "".join(
        f'<tr><th scope="row">{escape(_called(str(what)))}</th>'
        + "".join(f'<td class="number">{escape(str(value))}</td>' for value in row)
        + "</tr>"
        for what, row in zip(frame.index, frame.to_numpy(), strict=True)
    )
    return (
        f'<div class="wide"><table><thead><tr><th scope="col">Figure</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{below}"
    )


def reasons(quality: Quality) -> str:
    """Return what bears on the numbers, and what it does to them."""
    if not quality.reasons:
        return "<p>Nothing speaks against these numbers.</p>"
    each = "".join(f"<dt>{escape(one.what)}</dt><dd>{escape(one.effect)}</dd>" for one in quality.reasons)
    return f'<dl class="reasons">{each}</dl>'


def facts(found: Mapping[str, Any]) -> str:
    """Return facts as a list of two columns."""
    rows = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in _flat(found)
    )
    return f'<dl class="facts">{rows}</dl>'


def _flat(found: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield each fact with its name; the machine's at the end."""
    for name, value in sorted(found.items(), key=lambda item: item[0] == "machine"):
        called = f"{above} {name}" if above else _CALLED.get(name, str(name).replace("_", " "))
        if isinstance(value, dict):
            yield from _flat(value, "" if name == "machine" else called)
        elif value is not None and value != "":
            words = (
                {True: "yes", False: "no"}[value] if isinstance(value, bool) else setting(str(name), value)
            )
            yield called, words or "none"


def _called(figure: str) -> str:
    """Return a figure's name as it is read: ``p50_ms`` is ``p50, ms``."""
    for end, unit in (
        ("_per_s", "a second"),
        ("_ms", "ms"),
        ("_us", "µs"),
        ("_mpps", "Mpps"),
        ("_percent", "%"),
    ):
        if figure.endswith(end):
            return f"{figure.removesuffix(end).replace('_', ' ')}, {unit}"
    words = figure.replace("_", " ")
    return f"{words}, part of the time" if words in {"running", "waiting"} else words


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"


def _shares(recording: Recording) -> list[tuple[str, str, str, str]]:
    table = recording.tables.get("cpu")
    columns = [column.name for column in table.columns] if table else []
    return [
        ("cpu", name, name.replace("_", " "), "%") for name in columns if name.endswith(("_runs", "_waits"))
    ]


def _cell(found: Spread, unit: str) -> str:
    if not found.windows:
        return '<td class="number"><span class="quiet">none</span></td>'
    median, low, high = (in_words(each, unit) for each in (found.median, found.low, found.high))
    about = f"<small>{escape(_between(low, high, median))}</small>" if low != high else ""
    return f'<td class="number">{escape(median)}{about}</td>'


def _between(low: str, high: str, median: str) -> str:
    """Return a range, without the unit where it is the median's."""
    if {each.partition(" ")[2] for each in (low, high, median)} == {median.partition(" ")[2]}:
        low, high = low.partition(" ")[0], high.partition(" ")[0]
    return f"{low} to {high}"


def _commands(mark: Mark) -> str:
    return f"<pre>{escape(chr(10).join(mark.commands))}</pre>" if mark.commands else ""
