"""What runs on some engines only, unless long tests are asked for: the same said on each of them is long.

The engines `process` and `docker` run one and the same VPP, and the bench, the exercises and the notebooks do
not care which engine a lab has. So what is long is run on one engine: VPP as a process where there is one,
else VPP in Docker, else the glass box.
"""

from __future__ import annotations

import functools
import os

import pytest

ENGINES = ("process", "docker", "glassbox")
LONG = bool(os.environ.get("LABS_LONG_TESTS"))
LONGEST = ("04", "05", "06", "07")
"""Notebooks that measure much, and their exercises: not in Docker, too."""
LONGER = ("04", "05", "07")
"""Those of them that are run on one engine."""

NOT_IN_DOCKER = {
    "bench/test_bench_knobs.py",
    "experiments/test_experiments_live.py",
    "test_keeper.py",
    "test_lab_links.py",
    "test_main.py",
    "test_probing.py",
    "test_rebuilding.py",
}
"""Files of tests about what is no engine's work."""


@functools.cache
def missing(engine):
    """Return why an engine cannot be used here, or nothing where it can."""
    from labs.engines import find  # noqa: PLC0415 - tests of single modules need no engine

    found = find(engine).availability()
    return "" if found.ok else f"{engine}: {found.reason} {found.hint}".strip()


def not_in_docker(engine):
    """Skip a test in Docker, unless long tests are asked for, or there is no VPP as a process."""
    if engine == "docker" and not LONG and not missing("process"):
        pytest.skip("long, and run with the same VPP on the engine process; LABS_LONG_TESTS=1 runs it here")


def on_one_engine(engine):
    """Skip a test on all engines but the first that is here, unless long tests are asked for."""
    first = next((each for each in ENGINES if not missing(each)), engine)
    if engine != first and not LONG:
        pytest.skip(f"long, and run on the engine {first}; LABS_LONG_TESTS=1 runs it here")
