"""Hints one at a time, and the rule for when a solution opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.errors import LabError

if TYPE_CHECKING:
    from labs.course.model import Exercise

NO_MORE = "No more hints."
OPENS_LATER = "The solution opens after your first check."


class HintLadder:
    """The hints of one exercise and how far up a learner has gone.

    Parameters
    ----------
    hints : tuple of str
        From a nudge to nearly the answer.
    """

    def __init__(self, hints: tuple[str, ...]) -> None:
        self._hints = hints
        self.shown = 0

    @property
    def given(self) -> tuple[str, ...]:
        """The hints shown so far."""
        return self._hints[: self.shown]

    @property
    def left(self) -> int:
        """How many are still to come."""
        return len(self._hints) - self.shown

    def climb(self) -> str | None:
        """Return the next hint, or None if all have been shown."""
        if not self.left:
            return None
        self.shown += 1
        return self._hints[self.shown - 1]

    def label(self) -> str:
        """Return which hint was shown last, as ``Hint 1 of 3``."""
        return f"Hint {self.shown} of {len(self._hints)}"


_ladders: dict[str, HintLadder] = {}


def ladder_of(exercise: Exercise) -> HintLadder:
    """Return the ladder of an exercise, the same one through this kernel's life.

    A cell that shows the exercise again, or ``exercise("…").hint()`` run twice, goes on where it was.
    """
    ladder = _ladders.get(exercise.id)
    if ladder is None or ladder._hints != exercise.hints:  # noqa: SLF001 - edited hints begin anew
        ladder = _ladders[exercise.id] = HintLadder(exercise.hints)
    return ladder


def require_attempt(attempts: int) -> None:
    """Refuse the solution to a learner who has not tried.

    Raises
    ------
    LabError
        There has been no attempt.
    """
    if not attempts:
        raise LabError(OPENS_LATER, "try the task, then run .check(); a check that fails counts.")
