"""A quiz's card: each question with its answers, a button, and an explanation that is read aloud."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import ipywidgets as widgets

from labs.course.elements import Choice, LiveRegion
from labs.course.prose import inline
from labs.course.style import NOTE, RIGHT, WRONG, said, stylesheet

if TYPE_CHECKING:
    from labs.course.model import Question
    from labs.course.quiz import Quiz


class QuestionCard:
    """The widgets of one question.

    Parameters
    ----------
    sheet : Quiz
        Where the answer goes.
    question : Question
    number : int
        1 for the first.
    """

    def __init__(self, sheet: Quiz, question: Question, number: int) -> None:
        self._sheet = sheet
        self._question = question
        self.choice = Choice(
            legend=f"{number}. {inline(question.text)}",
            options=[inline(option.text) for option in question.options],
        )
        self.submit = widgets.Button(description="Submit", tooltip=f"Submit your answer to question {number}")
        self.submit.on_click(lambda _: self._press_submit())
        self.feedback = LiveRegion(role="status")
        self.feedback.add_class("labs-answer")
        row = widgets.HBox([self.submit])
        row.add_class("labs-row")
        self.box = widgets.VBox([self.choice, row, self.feedback])

    def _press_submit(self) -> None:
        if self.choice.index < 0:
            self.feedback.value = said(NOTE, "Choose an answer first.")
            return
        feedback = self._sheet.choose(self._question, self.choice.index)
        shown = said(RIGHT if feedback.right else WRONG, str(feedback))
        if trouble := self._sheet.store.trouble:
            shown += said(NOTE, trouble)
        self.feedback.value = shown


class QuizCard:
    """The widgets of one quiz.

    Parameters
    ----------
    sheet : Quiz
    """

    def __init__(self, sheet: Quiz) -> None:
        self.questions = [
            QuestionCard(sheet, question, number)
            for number, question in enumerate(sheet.chapter.quiz, start=1)
        ]
        head = widgets.HTML(f"{stylesheet()}<h3>Quiz: {html.escape(sheet.chapter.title)}</h3>")
        self.box = widgets.VBox([head, *(question.box for question in self.questions)])
        self.box.add_class("labs-card")
