"""What a probe sees where there is nothing to see: its own floor, by an echo of our own."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from labs.memif.errors import MemifError
from labs.traffic import probe_echo_kernels, probe_kernels
from labs.traffic.histogram import Histogram
from labs.traffic.probe_echo import Echo
from labs.traffic.probe_pair import Pair
from labs.traffic.probe_plan import LEAD_NS, Plan, disturbed
from labs.traffic.probe_request import Request

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labs.memif.queue import Queue

_REQUEST = Request("198.18.0.1", "198.18.0.2", "02:00:00:00:00:01", "02:00:00:00:00:02")
_SAMPLES = {"poll": 1000, "nap": 200, "sleep": 100}
_INTERVAL = {"poll": 20e-6, "nap": 200e-6, "sleep": 1e-3}


@dataclass(frozen=True)
class Floor:
    """What the probe measures of itself.

    Attributes
    ----------
    min_us, p50_us, p99_us : float
        Round trips to an echo of our own, in µs.
    samples : int
    how : str
        Where the echo ran, in words.
    """

    min_us: float
    p50_us: float
    p99_us: float
    samples: int
    how: str

    def __str__(self) -> str:
        return f"{self.p50_us:.2f} µs ({self.how})"


@cache
def warm_up() -> None:
    """Compile the probe's kernels, or load them from the cache, before any clock runs."""
    plan = Plan.make(_REQUEST, 1e-3, 1e-3)
    plan.stop()
    with Pair(log2_size=1, buffer_size=64) as pair:
        _in_one_thread(pair, plan)
        probe_kernels.probe(*_controls(pair.near), *plan.arguments)
        block = np.zeros(probe_echo_kernels.WORDS, np.int64)
        block[probe_echo_kernels.STOP] = 1
        probe_echo_kernels.echo(*_controls(pair.far)[::-1], block, np.zeros(2, np.int64))


def measure(wait: str = "poll", *, echo_core: int | None = None) -> Floor:
    """Return what the probe would see of a node that takes no time.

    Requests that were under way while this thread did not run are left out.

    Parameters
    ----------
    wait : {"poll", "nap", "sleep"}
        How the probe waits. One that looks while it waits is measured with the echo in its own thread, turn
        by turn: that is the probe's own work, whatever else runs on this machine. A probe that sleeps has to
        be woken, so there the echo has a thread of its own and sleeps as well.
    echo_core : int, optional
        Let a polling echo run on a core of its own: the work and the way there and back. That needs a core
        on which nothing else polls.

    Raises
    ------
    MemifError
        No request came back.
    """
    warm_up()
    plan = Plan.make(_REQUEST, _SAMPLES[wait] * _INTERVAL[wait], _INTERVAL[wait], wait=wait)
    plan.begin(time.monotonic_ns() + LEAD_NS)
    with Pair() as pair:
        if wait != "sleep" and echo_core is None:
            _in_one_thread(pair, plan)
            how = "an echo in the probe's own thread"
        else:
            with Echo(pair.far, sleeps=wait == "sleep", core=echo_core):
                probe_kernels.probe(*_controls(pair.near), *plan.arguments)
            how = "an echo in a thread " + ("that sleeps too" if wait == "sleep" else f"on core {echo_core}")
    answered = plan.got > 0
    if not answered.any():
        raise MemifError("The probe's own echo answered nothing.", "this machine is too busy to measure on.")
    gaps = plan.gaps[: int(plan.state[probe_kernels.GAPS])]
    quiet = answered & ~disturbed(plan.due, plan.got, gaps)
    kept = quiet if quiet.any() else answered
    times = Histogram.of((plan.got - plan.due)[kept])
    return Floor(times.percentile(0), times.percentile(50), times.percentile(99), times.count, how)


def _in_one_thread(pair: Pair, plan: Plan) -> None:
    echo_tx, echo_rx = _controls(pair.far)
    echo = np.zeros(probe_echo_kernels.WORDS, np.int64)
    seen = np.zeros(pair.far[1].ring.size, np.int64)
    probe_echo_kernels.probe_and_echo(*_controls(pair.near), *plan.arguments, echo_rx, echo_tx, echo, seen)


def _controls(side: tuple[Queue, Queue]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return side[0].control, side[1].control
