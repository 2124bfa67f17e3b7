"""What runs in Docker only where long tests are asked for: the engine `process` runs the same VPP."""

from __future__ import annotations

import os

import pytest

LONG = bool(os.environ.get("LABS_LONG_TESTS"))
LONGEST = ("04", "05", "06")
"""Notebooks that measure much, and their exercises."""


def not_in_docker(engine):
    """Skip a test in Docker, unless long tests are asked for."""
    if engine == "docker" and not LONG:
        pytest.skip("long, and run with the same VPP on the engine process; LABS_LONG_TESTS=1 runs it here")
