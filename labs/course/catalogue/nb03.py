"""Notebook 03, Twenty milliseconds."""

from __future__ import annotations

from labs.course.model import Chapter, Exercise, Option, Question

EXERCISES: tuple[Exercise, ...] = ()

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

CHAPTER = Chapter("03", "Twenty milliseconds", 30, EXERCISES, QUIZ)
