"""A recording or a run as one file of HTML that opens in any browser, without a network."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs.bench import report_tables as tables
from labs.bench.recording import Recording
from labs.bench.recording_format import harmless
from labs.bench.report_lines import plots, window_plots
from labs.bench.report_page import page, section
from labs.bench.report_page import plots as place_for
from labs.bench.writing import write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from labs.course.verdict import Verdict
    from labs.experiments.run import Run
    from labs.quality import Quality


def to_html(measured: Recording | Run, path: str | Path, title: str = "") -> Path:
    """Write a report, and return its path.

    Parameters
    ----------
    measured : Recording or Run
    path : str or Path
    title : str, optional

    Raises
    ------
    LabError
        There is no room, or no right to write there.
    """
    text = recording_page(measured, title) if isinstance(measured, Recording) else run_page(measured, title)
    return write(Path(path), text.encode(), "report")


def recording_page(recording: Recording, title: str = "") -> str:
    """Return the report of a recording as HTML."""
    title = title or "A run on the bench"
    told = [
        ("on", _data_plane(recording.facts)),
        ("started", _when(recording.started)),
        ("for", f"{recording.duration:.0f} s"),
    ]
    body = _head("Recording", title, told, recording.quality) + _main(
        _picture(recording.picture), *_measured(recording), *_about(recording.quality, recording.facts)
    )
    return page(f"{title} · VPP Labs", body, plots(recording))


def run_page(run: Run, title: str = "") -> str:
    """Return the report of an experiment's run as HTML."""
    title = title or f"Experiment: {run.name.replace('_', ' ')}"
    recording = run.recording
    told = [("on", run.versions.get("data plane", run.engine)), ("started", _when(run.started))]
    told.append(("with", f"{len(run.windows)} windows{'' if run.complete else ', and was cut short'}"))
    spec = plots(recording) if recording else {}
    facts = {
        "engine": run.engine,
        **run.versions,
        "machine": run.machine,
        **(recording.facts if recording else {}),
    }
    windows = {} if spec else window_plots(run.windows)
    parts = [_verdicts(run.verdicts), section("Summary", tables.summary(run))]
    parts.append(_picture(recording.picture) if recording else "")
    parts += _measured(recording) if recording and spec else []
    parts.append(place_for("What each window measured", windows, "Round-trip times of each window."))
    body = _head("Run", title, told, run.quality) + _main(*parts, *_about(run.quality, facts))
    return page(f"{title} · VPP Labs", body, spec or windows)


def _head(kind: str, title: str, told: Iterable[tuple[str, str]], quality: Quality) -> str:
    badge = f'<li>quality <span class="badge {quality.badge}">{quality.badge}</span></li>'
    items = "".join(f"<li>{escape(word)} <strong>{escape(value)}</strong></li>" for word, value in told)
    return (
        f'<header><p class="kind">VPP Labs · {escape(kind)}</p><h1>{escape(title)}</h1>'
        f'<ul class="under">{items}{badge}</ul></header>'
    )


def _main(*parts: str) -> str:
    footer = (
        "<footer>Measured on the machine that is described above. "
        "Compare relations, not figures, with other machines.</footer>"
    )
    return f"<main>{''.join(parts)}</main>{footer}"


def _measured(recording: Recording) -> list[str]:
    """Return the plots, the medians and the turns of a recording."""
    spec = plots(recording)
    names = ", ".join(panel["title"].partition(",")[0].lower() for panel in spec["panels"]) if spec else ""
    words = f"Plots on one axis of time: {names}. The table of medians below tells the same in figures."
    note = '<p class="quiet">Medians over windows of a second; below, the lowest and the highest window.</p>'
    table = tables.medians(recording)
    return [
        place_for("What was measured", spec, words),
        section("Medians between turns", table and note + table),
        section("Turns and commands", tables.turns(recording.marks) if recording.marks else ""),
    ]


def _about(quality: Quality, facts: Mapping[str, Any]) -> list[str]:
    return [
        section(f"Quality of these numbers: {quality.badge}", tables.reasons(quality)),
        section("Measured with", tables.facts(facts)),
    ]


def _verdicts(verdicts: Iterable[Verdict]) -> str:
    """Return the claims, each with whether it holds, in words."""
    rows = "".join(
        f'<li><strong class="{"yes" if each.passed else "no"}">'
        f"{'✓ holds' if each.passed else '✗ does not hold'}</strong><span>{escape(each.claim)}"
        f"{f' ({escape(each.because)})' if each.because and not each.passed else ''}</span></li>"
        for each in verdicts
    )
    return section("Verdicts", f'<ul class="verdicts">{rows}</ul>' if rows else "")


def _picture(drawn: str) -> str:
    svg = harmless(drawn)
    return (
        f'<div class="picture labs-bench" tabindex="0" role="region" aria-label="The lab">{svg}</div>'
        if svg
        else ""
    )


def _data_plane(facts: Mapping[str, Any]) -> str:
    return str(facts.get("data plane") or facts.get("engine") or "an unknown engine")


def _when(started: str) -> str:
    """Return a time in UTC as it is read."""
    return started.replace("T", " ").removesuffix("Z") + " UTC"
