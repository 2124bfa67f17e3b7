"""What a probe is to do: when each request is due, and room for what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from labs.errors import LabError
from labs.traffic import probe_kernels as k

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from labs.traffic.probe_request import Request

    _Array: TypeAlias = NDArray[np.int64]

INTERVAL = 200e-6
"""Seconds: 5 000 requests a second."""
PATIENCE = 1.0
RING, BUFFER = 256, 2112
"""Slots of a ring and bytes of a slot that suit a probe: all that it touches stays in the L1 cache.

With 1024 slots of 2048 bytes each round trip takes 0.5 µs more: every packet meets cold lines, and slots a
power of two apart compete for the same sets.
"""
GAP_NS = 20_000
"""A look at the ring takes some 50 ns; longer than this and the probe was not running."""
LEAD_NS = 1_000_000
WAITS = {"poll": (0, 0), "nap": (1, 100_000), "sleep": (1, 0)}
"""How a probe waits: whether it ever sleeps, and how many ns it looks for a reply before it does."""
_SHORTEST, _LONGEST = 1e-6, 60.0
_MOST_SECONDS = 3600.0
_MOST = 10_000_000  # requests: 240 MB of samples
_GAPS_KEPT = 1 << 14


@dataclass(frozen=True, eq=False)
class Plan:
    """Requests and replies of one run, all times CLOCK_MONOTONIC in nanoseconds.

    Attributes
    ----------
    interval : float
        Mean seconds from one request to the next.
    even : bool
        Whether the requests are equally far apart, or at random (a Poisson process).
    due, sent, got : ndarray of int64, shape (requests,)
        0 where it has not happened.
    gaps : ndarray of int64, shape (capacity, 2)
        When the probe did not run: begin and length.
    state : ndarray of int64
        The kernel's block.
    """

    interval: float
    even: bool
    due: NDArray[np.int64]
    sent: NDArray[np.int64]
    got: NDArray[np.int64]
    gaps: NDArray[np.int64]
    state: NDArray[np.int64]
    frame: NDArray[np.uint8]

    @classmethod
    def make(
        cls,
        request: Request,
        seconds: float,
        interval: float,
        *,
        wait: str = "poll",
        poisson: bool = False,
        seed: int | None = None,
    ) -> Plan:
        """Return a plan whose first request is due at 0; `begin` moves it.

        Parameters
        ----------
        request : Request
        seconds, interval : float
            How long to send, and the mean time from one request to the next.
        wait : {"poll", "nap", "sleep"}
            See `labs.traffic.probe.Probe`.
        poisson : bool
            Send at random, so that a node that does something at a fixed beat is not met always at the same
            point of it.
        seed : int, optional
            For the same random times again.

        Raises
        ------
        LabError
            There is no such duration or interval, or the samples would not fit.
        """
        _within("run for", seconds, 0.001, _MOST_SECONDS)
        _within("send every", interval, _SHORTEST, _LONGEST)
        count = max(round(seconds / interval), 1)
        if count > _MOST:
            raise LabError(
                f"A probe cannot keep {count} samples.",
                f"choose fewer seconds or a longer interval: {_MOST} requests at most.",
            )
        rng = np.random.default_rng(seed)
        even = np.arange(1, count) * interval
        times = np.cumsum(rng.exponential(interval, count - 1)) if poisson else even
        due = np.concatenate(([0], np.rint(times * 1e9))).astype(np.int64)
        stream = int(
            np.random.default_rng().integers(1 << 16)
        )  # another one each time: late replies are no ours
        frame = request.frame(stream)
        state = np.zeros(k.STATE_WORDS, np.int64)
        state[k.FRAME], state[k.LENGTH] = frame.ctypes.data, frame.size
        state[k.STAMP_AT], state[k.STREAM] = request.stamp_at, stream
        state[k.SUM] = request.sum_of(frame)
        state[k.SLEEPS], state[k.SPINS] = WAITS[wait]
        state[k.LIMIT], state[k.HIGHEST] = RING, -1
        state[k.GAP_OVER] = GAP_NS
        state[k.PATIENCE] = int(PATIENCE * 1e9)
        empty = np.zeros(count, np.int64)
        return cls(
            interval, not poisson, due, empty, empty.copy(), np.zeros((_GAPS_KEPT, 2), np.int64), state, frame
        )

    def begin(self, at_ns: int) -> None:
        """Set when the first request is due."""
        self.due[:] += at_ns - self.due[0]

    def stop(self) -> None:
        """Have the kernel return."""
        self.state[k.STOP] = 1

    @property
    def arguments(self) -> tuple[_Array, _Array, _Array, _Array, _Array]:
        """What a kernel takes after the two control blocks."""
        return self.state, self.due, self.sent, self.got, self.gaps


def nanoseconds(what: str, seconds: float) -> int:
    """Return a duration in nanoseconds.

    Raises
    ------
    LabError
        It is none of 1 µs to one hour.
    """
    _within(what, seconds, _SHORTEST, _MOST_SECONDS)
    return round(seconds * 1e9)


def one_of(what: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a value that is no choice.

    Raises
    ------
    LabError
        It names the choices.
    """
    if value not in choices:
        raise LabError(f"{what} cannot be {value!r}.", f"choose {' or '.join(map(repr, choices))}.")


def _within(what: str, value: float, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= value <= high:
        raise LabError(f"A probe cannot {what} {value!r} seconds.", f"choose {low:g} to {high:g} seconds.")


def disturbed(due: NDArray[np.int64], got: NDArray[np.int64], gaps: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which requests were under way during a gap, shape (requests,); none that was not answered.

    Parameters
    ----------
    due, got : ndarray of int64, shape (requests,)
    gaps : ndarray of int64, shape (gaps, 2)
        Begin and length, in order of time.
    """
    begins = gaps[:, 0]
    if not begins.size:
        return np.zeros(due.size, bool)
    last = np.searchsorted(begins, got) - 1  # the last gap that began before the reply was seen
    hit: NDArray[np.bool_] = (last >= 0) & (gaps[last].sum(axis=1) > due) & (got > 0)
    return hit
