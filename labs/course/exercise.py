"""An exercise as a learner works on it: check, hints, and the solution after an attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.course import catalogue, records
from labs.course.checks import run_check
from labs.course.hints import NO_MORE, ladder_of, require_attempt
from labs.course.model import cells
from labs.course.prose import Prose, inline, to_html
from labs.course.store import Store, store
from labs.course.style import page
from labs.errors import LabError

if TYPE_CHECKING:
    from labs.course.model import Exercise, Result
    from labs.lab import Lab


class Practice:
    """One exercise and one learner.

    In a notebook it shows as a card with buttons. Without widgets, ``.check()``, ``.hint()`` and
    ``.solution()`` do the same.

    Parameters
    ----------
    task : Exercise
    lab : Lab, optional
        The running lab to check.
    kept_in : Store
        Where attempts and passes are recorded.
    """

    def __init__(self, task: Exercise, lab: Lab | None, kept_in: Store) -> None:
        self.task = task
        self.lab = lab
        self.store = kept_in
        self.ladder = ladder_of(task)

    @property
    def attempts(self) -> int:
        """How often the exercise was checked, in this kernel and before."""
        return self.store.read().attempts(self.task.id)

    def check(self) -> Result:
        """Look at the running lab and say whether the task is done.

        A check that found no lab to look at is no attempt.
        """
        result = run_check(self.task, self.lab)
        if self.lab is not None:
            self.store.record(records.attempted(self.task.id, passed=result.passed))
        return result

    def hint(self) -> Prose:
        """Return the next hint."""
        hint = self.ladder.climb()
        if hint is None:
            return Prose(NO_MORE)
        self.store.record(records.hinted(self.task.id, self.ladder.shown))
        return Prose(f"{self.ladder.label()}: {hint}")

    def solution(self) -> Prose:
        """Return cells that solve the task.

        Raises
        ------
        LabError
            The task has not been tried yet.
        """
        require_attempt(self.attempts)
        self.store.record(records.solution_shown(self.task.id))
        return _source(self.task.solution)

    def start_again(self) -> Prose:
        """Forget the hints shown in this kernel, and return the learner's cells as they were at first."""
        self.ladder.shown = 0
        return _source(self.task.stub)

    def __repr__(self) -> str:
        task = self.task
        return (
            f"Exercise {task.id}: {task.title} ({task.minutes} min)\n\n{task.task.strip()}\n\n"
            f'Without buttons: exercise("{task.id}", lab).check(), .hint(), .solution()'
        )

    def to_html(self) -> str:
        """Return the card without buttons, for a page that has no widgets."""
        task = self.task
        return page(
            f"<h3>{inline(task.title)} <small>{task.minutes} min</small></h3>{to_html(task.task)}"
            f'<p>Without buttons: <code>exercise("{task.id}", lab).check()</code>, '
            "<code>.hint()</code>, <code>.solution()</code></p>"
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:  # noqa: ANN401 - IPython passes what it likes
        from labs.course.exercise_card import ExerciseCard  # noqa: PLC0415 - a terminal needs no widgets

        widget = ExerciseCard(self).box._repr_mimebundle_() or {}
        return {**widget, "text/plain": repr(self), "text/html": self.to_html()}


def _source(text: str) -> Prose:
    parts = cells(text)
    return Prose("\n\n".join(parts), "\n\n".join(f"```python\n{part}\n```" for part in parts))


def exercise(id: str, lab: Lab | None = None) -> Practice:  # noqa: A002 - the word a learner knows it by
    """Show an exercise.

    Parameters
    ----------
    id : str
        As the notebook gives it: ``02-swap-roles``.
    lab : Lab, optional
        The running lab that the check looks at.

    Raises
    ------
    LabError
        There is no such exercise.
    """
    task = catalogue.find_exercise(id)
    if lab is not None and not hasattr(type(lab), "wait_link"):
        raise LabError(
            f"exercise needs the lab, and was given a {type(lab).__name__}.", f'exercise("{id}", lab)'
        )
    kept_in = store()
    kept_in.record(records.visited(task.notebook))
    return Practice(task, lab, kept_in)
