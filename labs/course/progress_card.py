"""The progress card: the table, the download link, the restore button, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets as widgets

from labs.course.elements import FileButton, LiveRegion
from labs.course.style import NOTE, said, stylesheet

if TYPE_CHECKING:
    from labs.course.progress import Progress


class ProgressCard:
    """The widgets of the progress table.

    Parameters
    ----------
    shown : Progress
    """

    def __init__(self, shown: Progress) -> None:
        self._shown = shown
        self.table = widgets.HTML()
        self.link = widgets.HTML()
        self.refresh = widgets.Button(description="Refresh", tooltip="Read the file again")
        self.refresh.on_click(lambda _: self._press_refresh())
        self.upload = FileButton(label="Restore from a file …")
        self.upload.on_file(self._restore)
        self.answer = LiveRegion(role="status")
        self.answer.add_class("labs-answer")
        row = widgets.HBox([self.refresh, self.upload, self.link])
        row.add_class("labs-row")
        head = widgets.HTML(f"{stylesheet()}<h3>Your progress</h3>")
        self.box = widgets.VBox([head, self.table, row, self.answer])
        self.box.add_class("labs-card")
        self._draw()
        self.answer.value = "".join(said(NOTE, text) for text in shown.notices())

    def _draw(self) -> None:
        self.table.value = self._shown.table_html()
        self.link.value = self._shown.download_link()

    def _press_refresh(self) -> None:
        self._draw()
        notices = self._shown.notices() or ["The table is up to date."]
        self.answer.value = "".join(said(NOTE, text) for text in notices)

    def _restore(self, name: str, content: bytes) -> None:
        sentence = self._shown.restore(content, name)
        self._draw()
        self.answer.value = said(NOTE, sentence)
