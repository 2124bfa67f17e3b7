"""Notebook 00, Start here."""

from __future__ import annotations

from labs.course.model import Chapter, Exercise, Option, Question

EXERCISES: tuple[Exercise, ...] = ()

QUIZ = (
    Question(
        "00-which-engine",
        "Which engine runs your VPPs if you do not choose one?",
        (
            Option(
                "The first one that works on this machine.",
                "engines are tried in a fixed order, and `lab.start()` says which one it took and why.",
                right=True,
            ),
            Option(
                "Docker, always.",
                "Docker is tried first, but where it is missing VPP runs as plain processes.",
            ),
            Option(
                "The one that you used last.", "nothing is remembered; `LABS_ENGINE` chooses one by name."
            ),
        ),
    ),
    Question(
        "00-when-solution",
        "When does the solution of an exercise open?",
        (
            Option("Once the check has passed.", "then nobody who is stuck could see it."),
            Option(
                "After your first check, whether it passed or not.",
                "one attempt opens it. The hints are there before that, one at a time.",
                right=True,
            ),
            Option("After the last hint.", "hints and solution are separate; you need not read them all."),
        ),
    ),
    Question(
        "00-what-claimed",
        "What may a verdict in these notebooks claim?",
        (
            Option(
                "That a ping takes a certain number of microseconds.",
                "such a figure belongs to one machine. It is shown, with its unit, and never claimed.",
            ),
            Option(
                "That VPP is the fastest of its kind.",
                "nothing here compares products; each notebook compares two settings of one lab.",
            ),
            Option(
                "That one setting is many times faster than another.",
                "a verdict is a relation between two measurements, which holds on every sane machine.",
                right=True,
            ),
        ),
    ),
)

CHAPTER = Chapter("00", "Start here", 15, EXERCISES, QUIZ)
