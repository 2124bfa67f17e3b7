"""An exercise's card: its task, four buttons, and an answer that is read aloud."""

from __future__ import annotations

import contextvars
import html
import threading
from typing import TYPE_CHECKING

import ipywidgets as widgets

from labs.course.elements import LiveRegion
from labs.course.hints import NO_MORE, OPENS_LATER
from labs.course.model import cells
from labs.course.prose import to_html
from labs.course.style import BUSY, NOTE, RIGHT, WRONG, said, stylesheet

if TYPE_CHECKING:
    from labs.course.exercise import Practice


class ExerciseCard:
    """The widgets of one exercise.

    A check runs in a thread, so the page answers while it waits for a link. It writes to the answer's
    ``value`` only: an Output widget written from a thread loses text.

    Parameters
    ----------
    practice : Practice
    """

    def __init__(self, practice: Practice) -> None:
        self._practice = practice
        self._checking: threading.Thread | None = None
        self._opened = ""
        self.check = widgets.Button(
            description="Check",
            button_style="primary",
            tooltip="Look at the running lab and say what is done",
        )
        self.hint = widgets.Button(description="Hint", tooltip="Show one more hint")
        self.hint.add_class("labs-wide")
        self.solution = widgets.Button(description="Solution", tooltip=OPENS_LATER)
        self.again = widgets.Button(description="Start again", tooltip="Show what your cells held at first")
        self.locked = widgets.HTML()
        self.answer = LiveRegion(role="status")
        self.answer.add_class("labs-answer")
        self.below = LiveRegion(role="log")
        self.check.on_click(lambda _: self._press_check())
        self.hint.on_click(lambda _: self._press_hint())
        self.solution.on_click(lambda _: self._press_solution())
        self.again.on_click(lambda _: self._press_again())
        row = widgets.HBox([self.check, self.hint, self.solution, self.again, self.locked])
        row.add_class("labs-row")
        head = widgets.HTML(stylesheet() + self._head())
        self.box = widgets.VBox([head, row, self.answer, self.below])
        self.box.add_class("labs-card")
        self._show_lock()
        self._show_below()
        self.answer.value = self._so_far()

    def wait(self) -> None:
        """Return when no check is running."""
        if self._checking:
            self._checking.join()

    def _head(self) -> str:
        task = self._practice.task
        title = f"Exercise: {html.escape(task.title)} <small>{task.minutes} min</small>"
        return f"<h3>{title}</h3>{to_html(task.task)}"

    def _so_far(self) -> str:
        passed = self._practice.store.read().passed(self._practice.task.id)
        if passed:
            return said(RIGHT, f"Passed on {passed[:10]}. You can check again at any time.")
        return said(NOTE, "Not checked yet.")

    def _show_lock(self) -> None:
        self.solution.disabled = not self._practice.attempts
        self.locked.value = f"<small>{OPENS_LATER}</small>" if self.solution.disabled else ""

    def _press_check(self) -> None:
        if self._checking and self._checking.is_alive():
            return
        self.answer.value = said(BUSY, "Checking your lab …")
        # The context tells ipykernel which cell the thread's messages belong to.
        work = contextvars.copy_context().run
        self._checking = threading.Thread(target=work, args=(self._check,), daemon=True)
        self._checking.start()

    def _check(self) -> None:
        result = self._practice.check()
        shown = (
            said(RIGHT, f"Passed: {result.reason}")
            if result.passed
            else said(WRONG, f"Not yet: {result.reason}")
        )
        if trouble := self._practice.store.trouble:
            shown += said(NOTE, trouble)
        self.answer.value = shown
        self._show_lock()

    def _press_hint(self) -> None:
        if self._practice.ladder.left:
            self._practice.hint()
            self._show_below()
        else:
            self.answer.value = said(NOTE, NO_MORE)

    def _press_solution(self) -> None:
        if not self._practice.attempts:  # the progress file may have been deleted meanwhile
            self._show_lock()
            self.answer.value = said(NOTE, OPENS_LATER)
            return
        self._practice.solution()
        self._opened = "<h5>Solution</h5>" + _code(self._practice.task.solution)
        self._show_below()

    def _press_again(self) -> None:
        self._practice.start_again()
        self.answer.value = said(
            NOTE, "What your cells held at first is shown below. Your lab is as you left it."
        )
        self._opened = "<h5>Your cells at first</h5>" + _code(self._practice.task.stub)
        self._show_below()

    def _show_below(self) -> None:
        ladder = self._practice.ladder
        # The button stays enabled: one that is disabled under the keyboard's focus drops it.
        self.hint.description = "Hint" if ladder.left else "No more hints"
        hints = (
            f"<h5>Hint {number}</h5>{to_html(hint)}" for number, hint in enumerate(ladder.given, start=1)
        )
        self.below.value = "".join(hints) + self._opened


def _code(source: str) -> str:
    """Return cells as HTML, each with a button that copies it."""
    return "".join(
        '<div class="labs-code"><button type="button" data-copy>Copy</button>'
        f'<pre tabindex="0">{html.escape(cell)}</pre></div>'
        for cell in cells(source)
    )
