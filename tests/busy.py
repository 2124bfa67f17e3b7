"""How busy other programs keep this machine, for tests of what only a quiet one shows."""

from __future__ import annotations

import time

from labs.machine import busy_seconds

QUIET = 0.2
"""Cores' worth of time that others may use while the tests only look on."""


def cores_in_use(seconds=1.0):
    """Return how many cores' worth of time programs use while we do nothing."""
    before = busy_seconds()
    time.sleep(seconds)
    return (busy_seconds() - before) / seconds
