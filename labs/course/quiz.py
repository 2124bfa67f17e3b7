"""A notebook's quiz: three questions, and an explanation for every answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labs.course import catalogue, records
from labs.course.prose import inline
from labs.course.store import Store, store
from labs.course.style import page
from labs.errors import LabError

if TYPE_CHECKING:
    from labs.course.model import Chapter, Question

_LETTERS = "abcd"


@dataclass(frozen=True)
class Feedback:
    """What is to be said of an answer.

    Parameters
    ----------
    right : bool
    why : str
        The explanation of the answer that was chosen.
    """

    right: bool
    why: str

    def __str__(self) -> str:
        return f"{'Right' if self.right else 'Not quite'}: {self.why}"

    def __repr__(self) -> str:
        return f"{'✓' if self.right else '✗'} {self}"


class Quiz:
    """The questions of one notebook and one learner.

    In a notebook it shows as a card. Without widgets, ``.answer(1, "b")`` does the same.

    Parameters
    ----------
    chapter : Chapter
    kept_in : Store
        Where answers are recorded.
    """

    def __init__(self, chapter: Chapter, kept_in: Store) -> None:
        self.chapter = chapter
        self.store = kept_in

    def answer(self, question: int, letter: str) -> Feedback:
        """Answer a question.

        Parameters
        ----------
        question : int
            1 for the first.
        letter : str
            ``"a"`` for the first answer.

        Raises
        ------
        LabError
            There is no such question or answer.
        """
        questions = self.chapter.quiz
        if question not in range(1, len(questions) + 1):
            raise LabError(f"There is no question {question}.", f"they are numbered 1 to {len(questions)}.")
        asked = questions[question - 1]
        letters = _LETTERS[: len(asked.options)]
        if len(letter) != 1 or letter.lower() not in letters:
            raise LabError(
                f"Question {question} has no answer {letter!r}.", f"choose one of {', '.join(letters)}."
            )
        return self.choose(asked, letters.index(letter.lower()))

    def choose(self, question: Question, index: int) -> Feedback:
        """Answer a question with its option number `index`, counted from 0, and record it."""
        option = question.options[index]
        self.store.record(records.answered(question.id, right=option.right))
        return Feedback(option.right, option.why)

    def __repr__(self) -> str:
        lines = [f"Quiz {self.chapter.number}: {self.chapter.title}"]
        for number, question in enumerate(self.chapter.quiz, start=1):
            lines += ["", f"{number}. {question.text}"]
            lines += [
                f"   {letter}) {option.text}"
                for letter, option in zip(_LETTERS, question.options, strict=False)
            ]
        lines += ["", f'Without buttons: quiz("{self.chapter.number}").answer(1, "a")']
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return the questions for a page that has no widgets."""
        parts = [f"<h3>Quiz: {inline(self.chapter.title)}</h3>"]
        for number, question in enumerate(self.chapter.quiz, start=1):
            options = "".join(f"<li>{inline(option.text)}</li>" for option in question.options)
            parts.append(f'<p>{number}. {inline(question.text)}</p><ol type="a">{options}</ol>')
        parts.append(f'<p>Without buttons: <code>quiz("{self.chapter.number}").answer(1, "a")</code></p>')
        return page("".join(parts))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:  # noqa: ANN401 - IPython passes what it likes
        from labs.course.quiz_card import QuizCard  # noqa: PLC0415 - a terminal needs no widgets

        widget = QuizCard(self).box._repr_mimebundle_() or {}
        return {**widget, "text/plain": repr(self), "text/html": self.to_html()}


def quiz(notebook: str) -> Quiz:
    """Show a notebook's quiz.

    Parameters
    ----------
    notebook : str
        Its number: ``"03"``.

    Raises
    ------
    LabError
        There is no such notebook.
    """
    chapter = catalogue.find_chapter(notebook)
    kept_in = store()
    kept_in.record(records.visited(chapter.number))
    return Quiz(chapter, kept_in)
