"""What this machine's memory and one core's loop can do at most: the scale for a link's rates."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from labs import memif
from labs.kernel import allowed_cores
from labs.traffic import Generator, Sink, udp

MAIL_MPPS, MAIL_GBIT_PER_S = 13.6, 29.0
"""What memif's first announcement tells of 64 and of 1500 bytes, over both directions together: two VPPs on a
core each of a 3.2 GHz Broadwell, with network cards at both ends (the mail thread of February 2017)."""
_BYTES = 64 << 20
_TIMES = 5
_GIGA = 1e9
_MILLION = 1e6


def copied_gbit_per_s() -> float:
    """Return how fast one core copies memory that is in no cache, in Gbit/s: the best of five times."""
    source, target = np.ones(_BYTES, np.uint8), np.empty(_BYTES, np.uint8)
    best = float("inf")
    for _ in range(_TIMES):
        began = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - began)
    return 8 * _BYTES / best / _GIGA


def packets_mpps(seconds: float, size: int = 64) -> float:
    """Return how many packets go over a memif with nothing behind it, in Mpps.

    Our generator writes them, our sink counts them, each on a core of its own: no graph, no lookup.

    Parameters
    ----------
    seconds : float
    size : int
        Bytes of a frame.
    """
    cores = allowed_cores()
    with tempfile.TemporaryDirectory(prefix="labs-", dir="/tmp") as place:
        path = Path(place) / "limit.sock"
        with memif.Server(path) as far, memif.Client(path, ring_size=1024) as near:
            packets = udp(size=size)
            with Sink(far, packets, core=cores[-1]) as sink:
                Generator(near, packets, core=cores[0]).run(seconds)
                return sink.stop().mpps


def compare(best_mpps: float | None, best_gbit_per_s: float | None, seconds: float) -> dict[str, Any]:
    """Return this machine's limits, and what a lab and the mail of 2017 reach of them.

    Parameters
    ----------
    best_mpps, best_gbit_per_s : float or None
        What the lab has moved, of small and of large frames.
    seconds : float
        How long to look for the limit of packets.
    """
    copy, packets = copied_gbit_per_s(), packets_mpps(seconds)

    def part(value: float | None, of: float) -> float | None:
        return value / of if value is not None and of else None

    return {
        "memory copied, Gbit/s": copy,
        "packets without a graph, Mpps": packets,
        "the lab's part of the packets": part(best_mpps, packets),
        "the lab's part of the copying": part(best_gbit_per_s, copy),
        "the mail's 13.6 Mpps as part of the packets": part(MAIL_MPPS, packets),
        "the mail's 29 Gbit/s as part of the copying": part(MAIL_GBIT_PER_S, copy),
    }
