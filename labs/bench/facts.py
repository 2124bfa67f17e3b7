"""What a bench measures with, and on what: it goes with every recording."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.machine import machine

if TYPE_CHECKING:
    from labs.bench.knobs import Knobs
    from labs.lab import Lab


def facts(lab: Lab, knobs: Knobs) -> dict[str, Any]:
    """Return engine, versions, machine and how the knobs stand, as JSON takes it."""
    found: dict[str, Any] = {
        "engine": lab.engine,
        "labs": _version(),
        "machine": machine().to_dict(),
    }
    try:
        found["data plane"] = lab.version
        found["nodes"] = list(lab.nodes)
        found["cores asked"] = {name: list(node.spec.cores) for name, node in lab.nodes.items()}
    except LabError:  # it was stopped meanwhile
        pass
    found |= {knob.label: knob.actual for knob in knobs.all.values()}
    found["traffic"] = "on" if knobs.load.running else "off"
    return found


def _version() -> str:
    try:
        return version("vpp-labs")
    except PackageNotFoundError:
        return "not installed"
