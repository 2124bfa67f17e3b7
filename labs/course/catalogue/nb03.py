"""Notebook 03, Twenty milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.course.checks import first_fault
from labs.course.model import Chapter, Exercise, Option, Question
from labs.placement import describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.lab import Lab

_IDLE = 0.25
"""Part of a core that a node may use and still count as asleep."""

_SETUP = """\
from labs import two_vpps

lab = two_vpps(cores="same")
lab.start()
"""


def _apart(lab: Lab) -> Iterator[str]:
    first, second = lab["vpp1"].cores(), lab["vpp2"].cores()
    for node, cores in (("vpp1", first), ("vpp2", second)):
        if len(cores) > 1:
            yield f"{node} is free to move on {describe(cores)}; it should stay on one core."
    if set(first) & set(second):
        yield f"both nodes still run on {describe(first)}."


def _at_peace(lab: Lab) -> Iterator[str]:
    first, second = lab["vpp1"].cores(), lab["vpp2"].cores()
    if first != second or len(first) != 1:
        yield f"vpp1 is on {describe(first)} and vpp2 on {describe(second)}; both should stay on one core."
    for node in lab:
        modes = lab[node].rx_modes()
        if not modes:
            yield f"{node} has no connected memif."
        for interface, mode in modes.items():
            if mode == "polling":
                yield f"{node}'s {interface} polls, so {node} never gives the core away by itself."
    shares = lab.evidence(1).shares
    for share in shares:
        if share.running is not None and share.running > _IDLE:
            yield f"{share.node} still runs {100 * share.running:.0f} % of the time."


EXERCISES = (
    Exercise(
        id="03-by-name",
        title="Move one of them",
        minutes=3,
        task="""\
The cell below puts both nodes on one core. Add a line that moves `vpp2` away and leaves `vpp1`
where it is.

`lab.cores` are the cores you may use. Run the cell and press **Check**.""",
        stub="""\
lab.pin("same")
# Move one node, by its name, so that the two no longer share a core.
""",
        hints=(
            "`lab.pin` also takes nodes by name: `lab.pin(vpp1=…)`.",
            "Give `vpp2` the last of your cores: `lab.cores[-1]`.",
        ),
        solution="""\
lab.pin("same")
lab.pin(vpp2=lab.cores[-1])
""",
        setup=_SETUP,
        check=first_fault(_apart, "each node has a core of its own."),
    ),
    Exercise(
        id="03-share-in-peace",
        title="Two nodes, one core, no fight",
        minutes=5,
        task="""\
Sometimes there is only one core. Leave both nodes on it, and see to it that neither keeps it when it
has nothing to do.

Change how the nodes wait for packets, on both ends. Then press **Check**: it looks at the rx-modes and
at the kernel's record.""",
        stub="""\
lab.pin("same")
lab.rx_mode("polling")
# Both nodes stay on this core. Make them share it without fighting for it.
""",
        hints=(
            "A polling thread never sleeps. Section 6 had another way to wait.",
            "`lab.rx_mode` sets the mode on both nodes, and `lab.evidence()` shows whether they sleep.",
        ),
        solution="""\
lab.pin("same")
lab.rx_mode("interrupt")
lab.evidence(seconds=1)
""",
        setup=_SETUP,
        check=first_fault(_at_peace, "both nodes share one core, and both sleep until a packet comes."),
    ),
)

QUIZ = (
    Question(
        "03-why-slow",
        "Two polling VPPs share one core. Why does a ping between them take milliseconds?",
        (
            Option("Shared memory is slower within one core.", "two threads on one core share its caches."),
            Option(
                "Each must wait until the scheduler takes the core from the other.",
                "neither ever sleeps, so each runs until its time slice of a few ms is over.",
                right=True,
            ),
            Option(
                "VPP pauses between two polls.",
                "in polling mode its loop has no pause unless you configure one.",
            ),
        ),
    ),
    Question(
        "03-which-evidence",
        "Which of the kernel's figures shows that a thread wanted to run and could not?",
        (
            Option("Its CPU time in percent.", "half a core may mean that it waited, or that it slept."),
            Option(
                "Its voluntary context switches.",
                "these count how often it went to sleep; a polling thread never does.",
            ),
            Option(
                "Its time runnable but waiting.",
                "the scheduler counts the time a thread spends in the queue for a core.",
                right=True,
            ),
        ),
    ),
    Question(
        "03-still-busy",
        "With a core each, the ping takes microseconds, and nothing else is sent. "
        "Why is each core still 100 % busy?",
        (
            Option(
                "A polling VPP asks its rings for packets without a pause.",
                "CPU time says nothing of load here. Look at vectors per call instead.",
                right=True,
            ),
            Option(
                "The pings keep it busy.",
                "a ping is one packet in some 50 ms; the loop turns without it as well.",
            ),
            Option("A pinned core counts as busy.", "pinning says where a thread may run, not how much."),
        ),
    ),
)

CHAPTER = Chapter("03", "Twenty milliseconds", 35, EXERCISES, QUIZ)
