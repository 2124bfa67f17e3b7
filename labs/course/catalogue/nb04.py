"""Notebook 04, Poll or sleep."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from labs.bench.seen import streams_of
from labs.bench.way import find_way
from labs.course.checks import first_fault, unconnected
from labs.course.model import Chapter, Exercise, Option, Question
from labs.experiments.changeover import look

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.lab import Lab
    from labs.node import Node

_IDLE = 0.25
"""Part of a core that a node may use and still count as asleep."""
_HARDLY = 0.25
"""Wake-ups for each packet that are few enough: what was one in ten a moment ago may be a little more now."""
_LESS = 4
"""How many times slower than the changeover a node is to sleep again; the border is not sharp."""

_SETUP = """\
from labs import two_vpps

lab = two_vpps(cores="apart")
lab.start()
"""


def _changes_over(lab: Lab) -> Iterator[str]:
    sender, receiver = lab["vpp1"], lab["vpp2"]
    modes = receiver.rx_modes()
    if set(modes.values()) != {"adaptive"}:
        told = ", ".join(f"{name} {mode}" for name, mode in modes.items()) or "no queue at all"
        yield f"vpp2 has {told}; all its memifs should be adaptive."
    streams = [each for each in streams_of(sender) if each.rate]
    if len(streams) != 1:
        yield "vpp1 should send one stream of packets at a rate of your choice; flat out is none."
    (stream,) = streams
    interface = find_way(lab.nodes).last.at
    here = look(lab, "vpp2", interface, stream.rate)
    if here.wakes > _HARDLY * here.received:
        each = here.wakes / max(here.received, 1)
        yield (
            f"at {here.received:,.0f} packets a second vpp2 still wakes {each:.1f} times for each of them; "
            "send more."
        )
    try:
        _send(sender, stream.name, stream.rate / _LESS)
        below = look(lab, "vpp2", interface, stream.rate / _LESS)
    finally:
        _send(sender, stream.name, stream.rate)
    if not below.sleeps:
        yield (
            f"vpp2 does not sleep at {below.received:,.0f} packets a second either, a quarter of your rate; "
            "the changeover is further down."
        )


def _send(sender: Node, name: str, rate: float) -> None:
    sender.cli(f"packet-generator configure {name} rate {rate:.0f}")


def _asleep_again(lab: Lab) -> Iterator[str]:
    yield from unconnected(lab)
    for node in lab:
        for interface, mode in lab[node].rx_modes().items():
            if mode != "interrupt":
                yield f"{node}'s {interface} is in {mode} mode; see `show interface rx-placement`."
    time.sleep(0.2)
    for share in lab.evidence(1).shares:
        if share.running is not None and share.running > _IDLE:
            yield f"{share.node} still runs {100 * share.running:.0f} % of the time."


EXERCISES = (
    Exercise(
        id="04-changeover",
        title="Find the changeover",
        minutes=8,
        task="""\
Both nodes are in adaptive mode, and vpp1 sends 10 000 packets a second. vpp2 sleeps between them. At a
higher rate it does not.

Raise the rate until vpp2 wakes less than once for ten packets, and leave the traffic at that rate. Do not
overdo it: at a quarter of your rate vpp2 must still sleep. `bench.set(rate=0.02)` is 20 000 packets a
second. Then press **Check**: it looks at both rates.""",
        stub="""\
lab.rx_mode("adaptive")
bench = lab.bench("rx_mode")
bench.set(rx_mode="adaptive", rate=0.01)
bench.start()
rate = 0.01
lab.evidence(seconds=0.5)
# Raise the rate until vpp2 hardly wakes for packets any more.
""",
        hints=(
            'How often vpp2 wakes is `lab.evidence(seconds=0.5)["vpp2"].voluntary`, a second.',
            "Double the rate again and again, and stop when the wake-ups fall below a tenth of the packets.",
        ),
        solution="""\
lab.rx_mode("adaptive")
bench = lab.bench("rx_mode")
bench.set(rx_mode="adaptive", rate=0.01)
bench.start()
rate = 0.01
while max(lab.evidence(seconds=0.5)["vpp2"].voluntary for _ in range(2)) > 0.1 * rate * 1e6:
    rate = 2 * rate
    bench.set(rate=rate)
""",
        setup=_SETUP,
        check=first_fault(
            _changes_over, "vpp2 does not sleep between packets at this rate, and does at a quarter of it."
        ),
    ),
    Exercise(
        id="04-set-again",
        title="Who woke them?",
        minutes=5,
        task="""\
Both nodes were set to interrupt mode, and slept. Then vpp2 was started anew. Since then both cores are
busy, although nothing is sent. Nobody touched vpp1.

Ask both nodes how they wait for packets, and make them sleep again. Then press **Check**.""",
        stub="""\
lab.rx_mode("interrupt")
lab.restart("vpp2")
lab.evidence(seconds=1)
# Both nodes are busy. See why, and make them sleep again.
""",
        hints=(
            "`show interface rx-placement` on both nodes says how each queue waits.",
            "A queue lives as long as its connection. A new queue has the interface's default: polling.",
        ),
        solution="""\
lab.rx_mode("interrupt")
lab.restart("vpp2")
lab.rx_mode("interrupt")
lab.evidence(seconds=1)
""",
        setup=_SETUP,
        check=first_fault(_asleep_again, "both nodes sleep again until a packet comes."),
    ),
)

QUIZ = (
    Question(
        "04-which-instrument",
        "Two nodes sleep. VPP's ping says 5 ms, our probe on the wire says 0.1 ms. Where are the 4.9 ms?",
        (
            Option(
                "On the link: a doorbell takes that long.",
                "the probe's packets use the same doorbells, and come back in 0.1 ms.",
            ),
            Option(
                "In the VPP that pings: its loop sleeps before it sends what the ping has queued.",
                "the ping starts its clock when it queues the request; then the loop may sleep up to 10 ms.",
                right=True,
            ),
            Option(
                "In the VPP that answers: it must be woken first.",
                "that is a part of the 0.1 ms.",
            ),
        ),
    ),
    Question(
        "04-one-core",
        "There is one core for two nodes, and little traffic. Which mode gives the shorter round trip?",
        (
            Option(
                "Polling: it sees a packet at once.",
                "only while it has the core, and the other node keeps that for milliseconds.",
            ),
            Option(
                "Interrupt: who has nothing to do gives the core away.",
                "then the other gets the core as soon as a packet wakes it.",
                right=True,
            ),
            Option("Both the same: there is one core.", "it matters who has it, and for how long."),
        ),
    ),
    Question(
        "04-lost-mode",
        "vpp1 is in interrupt mode. Its peer is started anew, and the link comes back by itself. "
        "How does vpp1 wait now?",
        (
            Option(
                "In interrupt mode: nobody changed it.",
                "the mode belonged to the old queue, and that is gone.",
            ),
            Option(
                "By polling: the new queue has the default.",
                "set the mode again after each reconnect, or change the default before the memif is made.",
                right=True,
            ),
            Option("In adaptive mode: VPP chooses.", "VPP changes over only where adaptive was asked for."),
        ),
    ),
)

CHAPTER = Chapter("04", "Poll or sleep", 35, EXERCISES, QUIZ)
