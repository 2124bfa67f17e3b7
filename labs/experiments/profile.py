"""How long an experiment takes, and what it says meanwhile."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")


def by_profile(*, full: T, ci: T) -> T:
    """Return one of two settings: ``LABS_PROFILE=ci`` asks for short runs."""
    return ci if os.environ.get("LABS_PROFILE") == "ci" else full


def say(done: float, what: str) -> None:
    """Print what was just measured, with the part of the run that is done."""
    print(f"{done:4.0%}  {what}")
