"""What this machine can run, and what is missing."""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict, dataclass
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs import engines
from labs.engines import rundir
from labs.errors import LabError
from labs.machine import machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.machine import Machine

MARKS = {"ok": "✓", "note": "•", "missing": "✗"}
_WIDGETS = ("ipywidgets", "jupyterlab_widgets", "anywidget", "plotly")
_NOTEBOOKS, _KERNEL = "jupyterlab", "ipykernel"  # these two come with the extra "lab"
_LAB_MIB = 400
_SHM_MIB = 64
_MIB = 1 << 20


@dataclass(frozen=True)
class Finding:
    """One thing looked at.

    Parameters
    ----------
    what : str
    state : {"ok", "note", "missing"}
        Fine; fine, with something to know; or something that stops a lab.
    found : str
        What there is.
    hint : str
        What to do; empty when nothing.
    """

    what: str
    state: str
    found: str
    hint: str = ""


@dataclass(frozen=True)
class Report:
    """All findings about a machine."""

    findings: tuple[Finding, ...]

    @property
    def ready(self) -> bool:
        """Whether a lab can run here: some engine is available, and nothing else is missing."""
        return not any(finding.state == "missing" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON takes it."""
        return {"ready": self.ready, "findings": [asdict(finding) for finding in self.findings]}

    def __str__(self) -> str:
        lines = []
        for each in self.findings:
            lines.append(f"{MARKS[each.state]} {each.what}: {each.found}")
            if each.hint:
                lines.append(f"    Hint: {each.hint}")
        lines.append(
            "This machine can run the labs." if self.ready else "This machine cannot run the labs yet."
        )
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="text-align:left">{MARKS[each.state]} {escape(each.what)}</td>'
            f'<td style="text-align:left">{escape(each.found)}'
            f"{'<br><em>Hint: ' + escape(each.hint) + '</em>' if each.hint else ''}</td></tr>"
            for each in self.findings
        )
        verdict = "This machine can run the labs." if self.ready else "This machine cannot run the labs yet."
        return f"<table><tbody>{rows}</tbody></table><p>{verdict}</p>"


def doctor() -> Report:
    """Look at this machine and say what it can run."""
    here = machine()
    checks: tuple[Callable[[], list[Finding]], ...] = (
        _engines,
        lambda: [_python(), _cores(here), _memory(here), _rundir(), _shm()],
        _widgets,
    )
    return Report(tuple(finding for check in checks for finding in check()))


def _engines() -> list[Finding]:
    """Report on every engine; only if none can be used is that something missing."""
    found = {name: engines.find(name).availability() for name in engines.NAMES}
    unusable = "note" if any(each.ok for each in found.values()) else "missing"
    findings = [
        Finding(f"engine {name}", "ok" if each.ok else unusable, each.reason, each.hint)
        for name, each in found.items()
    ]
    try:
        engine, why = engines.choose()
    except LabError:
        return findings
    return [*findings, Finding("engine chosen", "ok", f"{engine.name} ({why})")]


def _python() -> Finding:
    return Finding("Python", "ok", f"{sys.version.split()[0]} at {sys.executable}")


def _cores(here: Machine) -> Finding:
    usable = ", ".join(str(core) for core in here.cores)
    found = f"{len(here.cores)} ({usable}) on {here.cpu}"
    if len(here.cores) < 2:  # noqa: PLR2004
        hint = "with one core the labs run, but none can show what a core each is good for."
        return Finding("cores", "note", found, hint)
    if here.cpu_quota is not None and here.cpu_quota < len(here.cores):
        hint = "polling nodes use the quota up and are then stopped; give cores (a cpuset) instead of time."
        return Finding("cores", "note", f"{found}, of which {here.cpu_quota:g} cores' worth of time", hint)
    return Finding("cores", "ok", found)


def _memory(here: Machine) -> Finding:
    found = f"{here.available_mb} MiB of {here.memory_mb} MiB are free"
    if here.available_mb < _LAB_MIB:
        return Finding(
            "memory", "missing", found, f"two nodes need about {_LAB_MIB} MiB: close other programs."
        )
    return Finding("memory", "ok", found)


def _rundir() -> Finding:
    try:
        rundir.check("a-lab-with-a-longer-name", ["node-1"])
    except LabError as error:
        return Finding("run directory", "missing", error.message, error.hint)
    return Finding("run directory", "ok", str(rundir.base()))


def _shm() -> Finding:
    place = Path("/dev/shm")  # noqa: S108 - VPP's place
    try:
        room = shutil.disk_usage(place).free // _MIB
    except OSError:
        return Finding("shared memory", "missing", f"there is no {place}", "mount a tmpfs there.")
    if room < _SHM_MIB:
        return Finding(
            "shared memory", "missing", f"{room} MiB are free in {place}", f"make {_SHM_MIB} MiB free."
        )
    return Finding("shared memory", "ok", f"{room} MiB are free in {place}")


def _widgets() -> list[Finding]:
    there = {package: found for package in (*_WIDGETS, _KERNEL) if (found := _version_of(package))}
    absent = [package for package in _WIDGETS if package not in there]
    if _KERNEL not in there and _version_of(_NOTEBOOKS):
        absent.append(_KERNEL)
    if absent:
        hint = "run make lab again; it installs them together."
        return [Finding("widgets", "missing", f"not installed: {', '.join(absent)}", hint)]
    found = ", ".join(f"{package} {number}" for package, number in there.items())
    if _KERNEL not in there:
        hint = "the command labs works without; make lab installs what opens the notebooks."
        return [Finding("widgets", "note", f"{found}; {_NOTEBOOKS} and {_KERNEL} are not installed", hint)]
    return [Finding("widgets", "ok", found)]


def _version_of(package: str) -> str:
    """Return a package's version; empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
