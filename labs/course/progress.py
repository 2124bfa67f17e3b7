"""What a learner has done so far, as a table, a file to download, and a file to restore."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labs.course import catalogue
from labs.course.progress_file import BadProgress, NewerProgress, parse, render
from labs.course.prose import inline
from labs.course.records import join, nothing
from labs.course.store import Store, store
from labs.course.style import page

if TYPE_CHECKING:
    from labs.course.model import Chapter
    from labs.course.records import Records

HEADINGS = ("Notebook", "Minutes", "Opened", "Exercises passed", "Questions right at first")


@dataclass(frozen=True)
class Row:
    """How far a learner is with one notebook.

    Parameters
    ----------
    notebook : str
        Number and title.
    minutes : int
    opened : bool
    passed, exercises : int
        Exercises passed, and all of them.
    right, questions : int
        Questions whose first answer was right, and all of them.
    """

    notebook: str
    minutes: int
    opened: bool
    passed: int
    exercises: int
    right: int
    questions: int

    def texts(self) -> tuple[str, ...]:
        """Return the row's cells, in the order of `HEADINGS`."""
        return (
            self.notebook,
            str(self.minutes),
            "✓ yes" if self.opened else "– no",  # noqa: RUF001 - a dash is meant
            f"{self.passed} of {self.exercises}" if self.exercises else "none here",
            f"{self.right} of {self.questions}",
        )


class Progress:
    """A learner's progress through the course.

    In a notebook it shows as a table with a download link and a restore button. Nothing leaves the machine.

    Parameters
    ----------
    kept_in : Store
    """

    def __init__(self, kept_in: Store) -> None:
        self.store = kept_in

    def rows(self) -> list[Row]:
        """Return a row for each notebook of the course."""
        records = self.store.read()
        return [_row(chapter, records) for chapter in catalogue.CHAPTERS]

    def notices(self) -> list[str]:
        """Return what a learner should know of the file: that it was set aside, or cannot be written."""
        return [text for text in (self.store.notice, self.store.trouble) if text]

    def download_link(self) -> str:
        """Return an HTML link that holds the file itself, so that no server is asked for it."""
        content = base64.b64encode(render(join(nothing(), self.store.read().data)).encode()).decode()
        name = html.escape(self.store.path.name)
        return f'<a download="{name}" href="data:application/json;base64,{content}">Download {name}</a>'

    def restore(self, content: bytes, name: str = "The file") -> str:
        """Add the records of another progress file to this one, and return what that changed, in a sentence.

        Parameters
        ----------
        content : bytes
            The file's content. If it is no progress file, nothing changes, and the sentence says why.
        name : str
            What to call it.
        """
        try:
            records = parse(content)
        except (BadProgress, NewerProgress) as fault:
            return f"Nothing was restored: {name} {fault.message}."
        before = self.store.read().data
        after = self.store.record(records).data
        if self.store.trouble:
            return self.store.trouble
        if before == after:
            return f"{name} holds nothing that is not here already."
        return f"Restored {name}: it was added to what is here, and nothing was taken away."

    def __repr__(self) -> str:
        table = [HEADINGS, *(row.texts() for row in self.rows())]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
        return "\n".join([*lines, "", f"Kept in {self.store.path}.", *self.notices()])

    def table_html(self) -> str:
        """Return the table as HTML."""
        heads = "".join(f'<th scope="col">{text}</th>' for text in HEADINGS)
        body = "".join(_row_html(row) for row in self.rows())
        caption = f"Kept in <code>{inline(self.store.path.name)}</code>, on this machine only."
        return (
            f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        )

    def to_html(self) -> str:
        """Return the table and the download link for a page that has no widgets."""
        notices = "".join(f"<p>{inline(text)}</p>" for text in self.notices())
        return page(f"<h3>Your progress</h3>{self.table_html()}{notices}<p>{self.download_link()}</p>")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:  # noqa: ANN401 - IPython passes what it likes
        from labs.course.progress_card import ProgressCard  # noqa: PLC0415 - a terminal needs no widgets

        widget = ProgressCard(self).box._repr_mimebundle_() or {}
        return {**widget, "text/plain": repr(self), "text/html": self.to_html()}


def _row(chapter: Chapter, records: Records) -> Row:
    return Row(
        notebook=f"{chapter.number} {chapter.title}",
        minutes=chapter.minutes,
        opened=records.was_visited(chapter.number),
        passed=sum(bool(records.passed(each.id)) for each in chapter.exercises),
        exercises=len(chapter.exercises),
        right=sum(records.first_right(each.id) for each in chapter.quiz),
        questions=len(chapter.quiz),
    )


def _row_html(row: Row) -> str:
    first, *others = map(inline, row.texts())
    return f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{text}</td>" for text in others) + "</tr>"


def progress() -> Progress:
    """Show what you have done so far, and download or restore it."""
    return Progress(store())
