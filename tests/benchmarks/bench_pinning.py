"""The ping on one core against the ping on a core each, by VPP's ping and by the kernel's record."""

from __future__ import annotations

import numpy as np

from labs.experiments.pinning import SLOWER, pinning
from labs.stock import two_vpps

ROUNDS = 5


def test_one_core_is_slower(engine, report):
    lab = two_vpps("bench-pinning", engine=engine)
    lab.start()
    try:
        run = pinning(lab, seconds=2.0, rounds=ROUNDS)
    finally:
        lab.stop()
    same, apart = _medians(run, "same"), _medians(run, "apart")
    report.at_least(f"{engine}: ping p50, same core ÷ a core each", same, apart, "ms", SLOWER)
    report.at_most(f"{engine}: one wait for the core, same core", _waits(run, "same"), "ms", None)
    report.at_most(f"{engine}: one wait for the core, a core each", _waits(run, "apart"), "ms", None)
    assert report.rows[-3].passed, str(run.quality)


def _medians(run, state):
    return [float(np.median(window["times_ms"])) for window in run.windows if window["state"] == state]


def _waits(run, state):
    return [
        share["wait_ms"] or 0.0
        for window in run.windows
        if window["state"] == state
        for share in window["scheduler"]
    ]
