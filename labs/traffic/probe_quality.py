"""What speaks against a probe's figures: its own scheduling, what it could not send, what did not come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from labs.traffic.probe_run import ProbeRun

DISTURBED_SHARE = 0.001
"""Of the requests; with fewer hit by gaps of our own, p99 is as good as untouched."""
_LATE_SHARE = 0.01
_NEAR_FLOOR = 3.0


def notes(run: ProbeRun) -> list[str]:
    """Return what speaks against the figures of a run, a sentence each."""
    found = [run.ended] if run.ended else []
    return found + _gaps(run) + _lateness(run) + _replies(run) + _floor(run)


def _gaps(run: ProbeRun) -> list[str]:
    share = run.disturbed_share
    if share < DISTURBED_SHARE:
        return []
    longest = int(run.gaps_ns[:, 1].max()) / 1e6
    told = (
        f"The probe itself did not run {run.gap_count} times, {run.gap_total_ns / 1e6:.3g} ms in all and "
        f"{longest:.3g} ms at most: something else had its core. {share:.1%} of the requests were under way "
        "then; undisturbed() leaves them out."
    )
    return [told]


def _lateness(run: ProbeRun) -> list[str]:
    told = []
    if unsent := run.planned - run.sent:
        told.append(f"{unsent} of {run.planned} requests were due and could not be sent.")
    went = run.sent_ns > 0
    late = run.sent_ns[went] - run.due_ns[went] > run.interval_us * 1e3
    if late.size and (share := float(np.mean(late))) > _LATE_SHARE:
        told.append(
            f"The interval of {run.interval_us:g} µs was not held: {share:.1%} of the requests went more "
            "than one interval late. The corrected figures count that in."
        )
    return told


def _replies(run: ProbeRun) -> list[str]:
    told = []
    if run.lost:
        told.append(f"{run.lost} of {run.sent} requests were not answered; they are in no percentile.")
    if run.twice:
        told.append(f"{run.twice} replies came more than once; the first one counts.")
    return told


def _floor(run: ProbeRun) -> list[str]:
    if run.floor is None or not run.received or run.p50 > _NEAR_FLOOR * run.floor.p50_us:
        return []
    times = run.p50 / run.floor.p50_us
    return [
        f"The median is only {times:.1f} times the probe's own floor: much of it is the probe's own work."
    ]
