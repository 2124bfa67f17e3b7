"""One report for all benchmarks of a run, printed and written at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def report() -> Iterator[Report]:
    collected = Report()
    yield collected
    if collected.rows:
        collected.print()
        print(f"Written to {collected.write()}")  # noqa: T201 - the person who runs make bench looks for it
