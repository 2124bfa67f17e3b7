"""What a generator and a sink have to tell afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOW = np.dtype([(name, "<i8") for name in ("packets", "bytes", "lost", "reordered", "duplicates")])
"""A row of `SinkReport.per_flow`."""
_BEHIND = 1e-3  # of the packets; a rate missed by less is reached


@dataclass(frozen=True)
class Delay:
    """How long packets took from the sender's clock to ours, which are one clock.

    Measured to the burst, not to the packet: all packets that are found together count from one moment.

    Attributes
    ----------
    least, mean, most : float
        Seconds.
    packets : int
        Packets it is from.
    """

    least: float
    mean: float
    most: float
    packets: int


@dataclass(frozen=True)
class _Report:
    packets: int
    bytes: int
    seconds: float

    @property
    def mpps(self) -> float:
        """Millions of packets a second."""
        return self.packets / self.seconds / 1e6 if self.seconds > 0 else 0.0

    @property
    def gbit_per_s(self) -> float:
        """Gbit a second, of frames without FCS."""
        return self.bytes * 8 / self.seconds / 1e9 if self.seconds > 0 else 0.0

    def _rate(self) -> str:
        rates = f"{self.mpps:.4g} Mpps, {self.gbit_per_s:.4g} Gbit/s"
        return f"{_count(self.packets)} packets in {self.seconds:.3g} s: {rates}"


@dataclass(frozen=True)
class GeneratorReport(_Report):
    """What a generator sent.

    Attributes
    ----------
    packets, bytes : int
    seconds : float
        From the first look at the clock to the last.
    rate : float or None
        Packets a second asked for, at the end; None for flat out.
    full : int
        Times that the ring became full.
    missed : int
        Packets that were due and never sent: the receiver or this machine was too slow for the rate.
    behind : float
        Seconds that it was behind its schedule at most.
    per_flow : ndarray of int64, shape (flows,)
        Packets of each flow.
    ended : str
        Why it ended, if it was not told to.
    """

    rate: float | None = None
    full: int = 0
    missed: int = 0
    behind: float = 0.0
    per_flow: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    ended: str = ""

    @property
    def reached(self) -> bool:
        """Whether the rate asked for was reached, to 0.1 %; flat out there is none to miss."""
        return self.rate is None or self.missed <= _BEHIND * (self.packets + self.missed)

    def summary(self) -> str:
        """Return it in words."""
        lines = [f"sent {self._rate()}"]
        if self.rate is not None:
            lines.append(
                f"offered rate {self.rate / 1e6:.4g} Mpps, at most {_time(self.behind)} behind schedule"
                if self.reached
                else f"the offered rate of {self.rate / 1e6:.4g} Mpps was not reached: "
                f"{_count(self.missed)} packets short"
            )
        lines.append(f"ring full {_count(self.full)} times")
        return "\n".join([*lines, *([self.ended] if self.ended else [])])

    def __str__(self) -> str:
        return self.summary()


@dataclass(frozen=True)
class SinkReport(_Report):
    """What a sink received.

    Attributes
    ----------
    packets, bytes : int
        All packets.
    seconds : float
        From the first packet to the last; the rates are over this time.
    per_flow : ndarray of `FLOW`, shape (flows,)
        Packets, bytes, lost, reordered and duplicates of each flow.
    other : int
        Packets without a stamp.
    strange : int
        Stamped packets of another stream, or of flows that were not looked for.
    empty : int
        Slots that held no bytes.
    stale : int
        Slots that were filled before the sink began; they are not among the packets.
    delay : Delay or None
        Where it was asked for.
    windows : ndarray of float64, shape (windows, 3)
        End of each window in seconds from the start, and packets and bytes in it.
    ended : str
        Why it ended, if it was not told to.
    """

    per_flow: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, FLOW))
    other: int = 0
    strange: int = 0
    empty: int = 0
    stale: int = 0
    delay: Delay | None = None
    windows: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    ended: str = ""

    @property
    def lost(self) -> int:
        """Packets missing between the first and the last that came, all flows together."""
        return int(self.per_flow["lost"].sum())

    @property
    def reordered(self) -> int:
        """Packets that came after one with a higher number (RFC 4737), all flows together."""
        return int(self.per_flow["reordered"].sum())

    @property
    def duplicates(self) -> int:
        """Packets that came again within 64 numbers of their flow, all flows together."""
        return int(self.per_flow["duplicates"].sum())

    def lost_of(self, sent: GeneratorReport) -> int:
        """Return how many of the packets sent did not come: also those after the last that did.

        It is for a sink that was started before the generator and stopped after it.
        """
        came = self.per_flow["packets"] - self.per_flow["duplicates"]
        flows = min(came.size, sent.per_flow.size)
        return max(sent.packets - int(came[:flows].sum()), 0)

    def summary(self) -> str:
        """Return it in words."""
        lines = [f"received {self._rate()}"]
        counts = {
            "lost": self.lost,
            "reordered": self.reordered,
            "duplicate": self.duplicates,
            "without a stamp": self.other,
            "of other streams or flows": self.strange,
        }
        lines.append(", ".join(f"{_count(value)} {name}" for name, value in counts.items()))
        if self.delay:
            each = self.delay
            lines.append(
                f"delay {_time(each.least)} least, {_time(each.mean)} mean, {_time(each.most)} most, "
                f"of {_count(each.packets)} packets"
            )
        return "\n".join([*lines, *([self.ended] if self.ended else [])])

    def __str__(self) -> str:
        return self.summary()


def _count(number: int) -> str:
    return f"{number:,}"


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
