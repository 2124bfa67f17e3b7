"""The engines, and which one to use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from labs.errors import LabError, NotAvailable

if TYPE_CHECKING:
    from labs.engines.base import Engine

NAMES = ("docker", "process", "glassbox")
"""In the order of choice."""


def find(name: str) -> Engine:
    """Return the engine of that name, whether or not it can be used here."""
    if name == "docker":
        from labs.engines.docker import DockerEngine  # noqa: PLC0415 - the SDK takes long to import

        return DockerEngine()
    if name == "process":
        from labs.engines.process import ProcessEngine  # noqa: PLC0415 - likewise none of the others' needs

        return ProcessEngine()
    if name == "glassbox":
        from labs.engines.glassbox import GlassBoxEngine  # noqa: PLC0415 - likewise

        return GlassBoxEngine()
    raise LabError(f"There is no engine {name!r}.", f"the engines are {', '.join(NAMES)}.")


def choose(wanted: str | None = None) -> tuple[Engine, str]:
    """Return the engine to use and why: the one asked for, `LABS_ENGINE`, or the first that can be used.

    Raises
    ------
    NotAvailable
        None can be used, or not the one asked for.
    """
    asked = wanted or os.environ.get("LABS_ENGINE")
    if asked:
        engine = find(asked)
        found = engine.availability()
        if not found.ok:
            raise NotAvailable(f"The engine {asked} cannot be used: {found.reason}", found.hint)
        return engine, "asked for" if wanted else "LABS_ENGINE asks for it"
    missing = []
    for name in NAMES:
        engine = find(name)
        found = engine.availability()
        if found.ok:
            return engine, f"the first of {', '.join(NAMES)} that is here"
        missing.append(found)
    reasons = " ".join(found.reason for found in missing)
    raise NotAvailable(f"No engine can run a lab here. {reasons}", f"{missing[-1].hint} Or {missing[0].hint}")
