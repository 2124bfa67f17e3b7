"""A probe and a node of known latency, turn by turn in one thread: right however busy the machine is."""

from __future__ import annotations

import time

import numpy as np

from labs.traffic import floor, probe_echo_kernels, probe_kernels
from labs.traffic.probe_pair import Pair
from labs.traffic.probe_plan import GAP_NS, LEAD_NS, Plan
from labs.traffic.probe_request import Request
from labs.traffic.probe_run import ProbeRun

REQUEST = Request("198.18.9.2", "198.18.9.1", "02:00:00:00:00:02", "02:00:00:00:00:01")
A_TURN_US = GAP_NS / 1e3 + 5
"""A reply is seen so soon, or the probe has noted a gap."""


def planned(seconds, interval, *, outstanding=256, patience=1.0, **options):
    plan = Plan.make(REQUEST, seconds, interval, **options)
    plan.state[probe_kernels.LIMIT] = outstanding
    plan.state[probe_kernels.PATIENCE] = int(patience * 1e9)
    return plan


def rehearse(seconds, interval, *, delay=0.0, drop=0, stall=None, ring=256, **options):
    """Return what a probe sees of an echo that delays, drops or stalls (from `stall[0]` on, `stall[1]` s)."""
    floor.warm_up()
    plan = planned(seconds, interval, **{"outstanding": ring, **options})
    block = np.zeros(probe_echo_kernels.WORDS, np.int64)
    block[probe_echo_kernels.DELAY], block[probe_echo_kernels.DROP] = round(delay * 1e9), drop
    block[probe_echo_kernels.TIMED] = delay > 0 or stall is not None
    with Pair(log2_size=ring.bit_length() - 1) as pair:
        near, far = ([queue.control for queue in side] for side in (pair.near, pair.far))
        begin = time.monotonic_ns() + LEAD_NS
        if stall:
            block[probe_echo_kernels.STALL_FROM] = begin + round(stall[0] * 1e9)
            block[probe_echo_kernels.STALL_UNTIL] = begin + round(sum(stall) * 1e9)
        plan.begin(begin)
        code = probe_echo_kernels.probe_and_echo(
            *near, *plan.arguments, *far[::-1], block, np.zeros(ring, np.int64)
        )
    assert code == probe_kernels.DONE
    return run_of(plan)


def run_of(plan):
    state = plan.state
    return ProbeRun(
        "echo", "round trip", plan.due, plan.sent, plan.got, plan.interval * 1e6, plan.even,
        plan.gaps[: int(state[probe_kernels.GAPS])],
        int(state[probe_kernels.GAPS]), int(state[probe_kernels.GAP_NS]),
        foreign=int(state[probe_kernels.FOREIGN]), twice=int(state[probe_kernels.TWICE]),
    )  # fmt: skip
