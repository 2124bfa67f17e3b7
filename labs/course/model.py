"""What the course's exercises, questions and notebooks are made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.lab import Lab

QUESTIONS_IN_A_QUIZ = 3
_ID = re.compile(r"\d\d-[a-z0-9]+(-[a-z0-9]+)*")
_CELL_BREAK = re.compile(r"^# %%.*\n", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """What a check found.

    Parameters
    ----------
    passed : bool
        Whether the task is done.
    reason : str
        One sentence: what is right, or what is not yet.
    """

    passed: bool
    reason: str

    def __repr__(self) -> str:
        return f"✓ {self.reason}" if self.passed else f"not yet: {self.reason}"


@dataclass(frozen=True)
class Exercise:
    """A task that a learner does on a running lab.

    Parameters
    ----------
    id : str
        The notebook's number and a few words: ``03-pin-apart``.
    title : str
    minutes : int
        How long it takes a learner.
    task : str
        What to do, in Markdown.
    stub, solution : str
        The learner's cells as given, and as solved. A line ``# %%`` begins a further cell.
    hints : tuple of str
        From a nudge to nearly the answer, in Markdown.
    setup : str
        Cells that make the state the task begins with; they leave the lab in ``lab``.
    check : callable
        Looks at the running lab and says whether the task is done; see `labs.course.checks.run_check`.

    Raises
    ------
    ValueError
        The exercise is badly written.
    """

    id: str
    title: str
    minutes: int
    task: str
    stub: str
    hints: tuple[str, ...]
    solution: str
    setup: str
    check: Callable[[Lab], Result]

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ValueError(f"exercise id {self.id!r} is not like '03-pin-apart'")
        empty = [
            name for name in ("title", "task", "stub", "solution", "setup") if not getattr(self, name).strip()
        ]
        if empty or self.minutes < 1 or not self.hints:
            raise ValueError(f"exercise {self.id} lacks {', '.join(empty) or 'minutes or hints'}")

    @property
    def notebook(self) -> str:
        """The number of the notebook it belongs to, as ``03``."""
        return self.id[:2]


def cells(source: str) -> tuple[str, ...]:
    """Split source at its ``# %%`` lines into cells, as jupytext's percent format does."""
    return tuple(cell for part in _CELL_BREAK.split(source) if (cell := part.strip("\n")))


@dataclass(frozen=True)
class Option:
    """One answer to choose.

    Parameters
    ----------
    text, why : str
        The answer, and what is right or wrong about it; one line each, `code` in backticks.
    right : bool
    """

    text: str
    why: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A question with three or four answers, one of them right.

    Parameters
    ----------
    id : str
        As an exercise's: the notebook's number and a few words.
    text : str
        One line, `code` in backticks.
    options : tuple of Option

    Raises
    ------
    ValueError
        The question is badly written.
    """

    id: str
    text: str
    options: tuple[Option, ...]

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ValueError(f"question id {self.id!r} is not like '03-why-busy'")
        if len(self.options) not in (3, 4) or sum(option.right for option in self.options) != 1:
            raise ValueError(f"question {self.id} needs three or four options, one of them right")
        if not all(option.text.strip() and option.why.strip() for option in self.options):
            raise ValueError(f"question {self.id} has an option without text or explanation")


@dataclass(frozen=True)
class Chapter:
    """What the teaching parts know of one notebook.

    Parameters
    ----------
    number, title : str
        ``03`` and the notebook's title.
    minutes : int
    exercises : tuple of Exercise
    quiz : tuple of Question
    """

    number: str
    title: str
    minutes: int
    exercises: tuple[Exercise, ...]
    quiz: tuple[Question, ...]

    def __post_init__(self) -> None:
        ids = [each.id for each in self.exercises] + [each.id for each in self.quiz]
        strangers = [each for each in ids if not each.startswith(f"{self.number}-")]
        if strangers:
            raise ValueError(f"notebook {self.number} holds {', '.join(strangers)}")
        if len(self.quiz) != QUESTIONS_IN_A_QUIZ:
            raise ValueError(f"the quiz of notebook {self.number} has {len(self.quiz)} questions, not three")
