"""Notebook 05, Millions of packets."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from labs.bench.load import Load
from labs.bench.seen import streams_of
from labs.course.checks import first_fault
from labs.course.model import Chapter, Exercise, Option, Question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.lab import Lab

_LOST = 0.05
"""Part of the packets that may be lost: the bench and the notebook take some of the cores, too."""
_ENOUGH = 0.5
"""Part of what comes through flat out that is to come through without loss."""
_USUAL = 1024
"""Slots of a link's ring unless it is told otherwise."""
_NEARLY = 0.8
"""Part of what 1024 slots move: nine tenths were asked for, and no rate is the same twice."""
_LENGTH = 1.0
_LOOK, _LOOKS = 0.3, 4
_SETTLE = 0.3

_SETUP = """\
from labs import two_vpps

lab = two_vpps(cores="apart")
lab.start()
"""


def _rates(lab: Lab, seconds: float = _LENGTH) -> tuple[float, float]:
    """Return the packets a second that vpp1 offers, and that vpp2 receives."""

    def counts() -> tuple[int, int]:
        received = lab["vpp2"].counters()["memif0/0"].rx_packets
        return lab["vpp1"].counters()["memif0/0"].tx_packets, received

    before, began = counts(), time.monotonic()
    time.sleep(seconds)
    after, passed = counts(), time.monotonic() - began
    return (after[0] - before[0]) / passed, (after[1] - before[1]) / passed


def _no_loss(lab: Lab) -> Iterator[str]:
    streams = streams_of(lab["vpp1"])
    if len(streams) != 1:
        yield "vpp1 should send one stream of packets; press Start on the bench."
    (stream,) = streams
    looks = [_rates(lab, _LOOK) for _ in range(_LOOKS)]
    if not all(offered for offered, _ in looks):
        yield "vpp1 sends nothing; press Start on the bench."
    lost, received = min(((offered - received) / offered, received) for offered, received in looks)
    if lost > _LOST:
        yield f"{100 * lost:.0f} % of the packets are lost; at most {100 * _LOST:.0f} % should be."
    try:
        lab["vpp1"].cli(f"packet-generator configure {stream.name} rate 0")
        time.sleep(_SETTLE)
        _, most = _rates(lab)
    finally:
        lab["vpp1"].cli(f"packet-generator configure {stream.name} rate {stream.rate:.0f}")
    if received < _ENOUGH * most:
        yield (
            f"vpp2 receives {received / 1e6:.2f} Mpps, and flat out it received {most / 1e6:.2f}; "
            "there is room for more."
        )


def _short_ring(lab: Lab) -> Iterator[str]:
    if streams_of(lab["vpp1"]):
        yield "vpp1 still sends; stop the bench first: bench.stop()."
    ring = lab.current.links[0].ring_size
    if ring >= _USUAL:
        yield f"the link has a ring of {ring} slots; try a shorter one: lab.relink(ring_size=64)."
    tried = [ring, _USUAL]
    moved = dict.fromkeys(tried, 0.0)
    try:
        for size in [*tried, *reversed(tried)]:
            moved[size] = max(moved[size], _moved(lab, size))
    finally:
        lab.rebuild_links(ring_size=ring)
    told = ", ".join(f"{size} slots {rate / 1e6:.2f} Mpps" for size, rate in moved.items())
    if moved[ring] < _NEARLY * moved[_USUAL]:
        yield f"a ring of {ring} moves too few packets ({told}); it needs to be longer."


def _moved(lab: Lab, ring: int) -> float:
    """Return the packets a second that come through flat out over a ring: the best of a few short looks."""
    lab.rebuild_links(ring_size=ring)
    load = Load(lab)
    load.rate = None
    load.start()
    try:
        time.sleep(_SETTLE)
        return max(_rates(lab, _LOOK)[1] for _ in range(_LOOKS))
    finally:
        load.stop()


EXERCISES = (
    Exercise(
        id="05-no-loss",
        title="As many as go through",
        minutes=8,
        task="""\
The bench sends flat out, and many packets are lost. Bring the rate down until at most one packet in twenty
is lost. But do not waste the link: at least half of what comes through flat out should still come through.

Leave the traffic running, and press **Check**: it counts at both ends, and then sends flat out for a
moment to know what the link can do.""",
        stub="""\
bench = lab.bench("throughput")
received = bench.recording(1.0)
# Bring the rate down until hardly a packet is lost, but not too far.
""",
        hints=(
            "`bench.set(rate=5.0)` is 5 Mpps. Watch the line *lost* in the bench.",
            '`bench.recording(2).tables["traffic"].column("received")` came through flat out; try 0.6 of it.',
        ),
        solution="""\
import time

import numpy as np

bench = lab.bench("throughput")
time.sleep(3)
received = bench.recording(2.0).tables["traffic"].column("received")
bench.set(rate=round(0.6 * float(np.nanmedian(received)), 3))
""",
        setup=_SETUP,
        check=first_fault(_no_loss, "hardly a packet is lost, and the link is well used."),
    ),
    Exercise(
        id="05-ring",
        title="Predict, then measure",
        minutes=8,
        task="""\
A ring of 1024 slots is sixteen times as long as one of 64. Does it move more packets flat out? Write down
your guess before you measure: as many, half as many, a tenth?

Then find a shorter ring (64, 128, 256 or 512 slots) that still moves nine tenths of what 1024 slots move,
and leave the link with it. Stop the bench before you press **Check**: it measures your ring and 1024 slots
in turn.""",
        stub="""\
guess = 0.5  # what 64 slots move, as a part of what 1024 slots move
lab.relink(ring_size=64)
bench = lab.bench("throughput")
# Measure it, stop the bench, and try the next ring.
""",
        hints=(
            "`lab.relink(ring_size=128)` makes the link anew; stop the bench first.",
            "Where the receiver is the slower one, the ring is always full, and its length matters little.",
        ),
        solution="""\
import time

import numpy as np


def moved(ring):
    lab.relink(ring_size=ring)
    bench = lab.bench("throughput")
    time.sleep(2.5)
    received = bench.recording(1.5).tables["traffic"].column("received")
    bench.stop()
    return float(np.nanmax(received))


most = moved(1024)
for ring in (64, 128, 256, 512):
    if moved(ring) >= 0.9 * most:
        break
""",
        setup=_SETUP,
        check=first_fault(_short_ring, "a shorter ring is enough here."),
    ),
)

QUIZ = (
    Question(
        "05-why-vectors",
        "Why does a packet cost fewer cycles when many are in a vector?",
        (
            Option(
                "A node's instructions and data are fetched once for all of them.",
                "the first packet warms the caches for the rest.",
                right=True,
            ),
            Option("VPP uses several cores for a large vector.", "a vector is handled by one thread."),
            Option("Large vectors hold smaller packets.", "a vector counts packets, whatever their size."),
        ),
    ),
    Question(
        "05-busy-or-full",
        "A polling core stands at 100 %, with one packet a call. How loaded is it?",
        (
            Option("Fully: there is no time left.", "most of its looks find nothing; it could do far more."),
            Option(
                "Hardly: it finds a packet as soon as it comes.",
                "near its limit it would find many at each look.",
                right=True,
            ),
            Option("That cannot be told.", "packets a call tells it; processor time does not."),
        ),
    ),
    Question(
        "05-ndr",
        "On a shared machine the rate without loss is far below that with half a per cent lost. Why?",
        (
            Option(
                "A pause of the receiver is longer than the ring can bridge.",
                "1024 slots last a tenth of a millisecond at 10 Mpps.",
                right=True,
            ),
            Option("The search is not exact enough.", "a longer search finds the same: the pauses are real."),
            Option("Half a per cent is a great many packets.", "it is one in two hundred."),
        ),
    ),
)

CHAPTER = Chapter("05", "Millions of packets", 45, EXERCISES, QUIZ)
