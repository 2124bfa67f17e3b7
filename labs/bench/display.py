"""What a bench shows, whether it is live or a replay: picture, plots, words and commands."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from labs.bench.badge import Badge
from labs.bench.command_log import CommandLog, clock_of
from labs.bench.figures import sentence
from labs.bench.picture import Picture
from labs.bench.plots import Plots
from labs.bench.theme import stylesheet
from labs.course.elements import LiveRegion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from labs.bench.tables import Table


class Display:
    """The parts that show, and the sentence that states the present figures.

    Parameters
    ----------
    nodes : sequence of str
    cores : sequence of int
    clock : callable
        Turns a command's moment into words.

    Attributes
    ----------
    picture, badge, plots, commands
        Each with a ``widget``.
    """

    def __init__(
        self, nodes: Sequence[str], cores: Sequence[int], clock: Callable[[float], str] = clock_of
    ) -> None:
        self.nodes = list(nodes)
        self.picture = Picture()
        self.badge = Badge()
        self.plots = Plots(nodes, cores)
        self.commands = CommandLog(clock)
        self.style = widgets.HTML(stylesheet())
        self.status = LiveRegion(role="status")
        self.compared = LiveRegion(role="status")
        self.notes = LiveRegion(role="status")
        for region, name in ((self.status, "status"), (self.compared, "compared"), (self.notes, "notes")):
            region.add_class(f"labs-{name}")

    def parts(self, above: widgets.Widget, below: widgets.Widget | None = None) -> list[widgets.Widget]:
        """Return all widgets from top to bottom, with controls above and below the plots."""
        head = widgets.HBox([self.picture.widget, self.badge.widget])
        head.add_class("labs-head")
        rest = [self.compared, self.notes, self.commands.widget]
        return [
            self.style,
            head,
            above,
            self.status,
            self.plots.widget,
            *([below] if below else []),
            *rest,
        ]

    def state_figures(self, tables: Mapping[str, Table], now: float) -> None:
        """Say the present figures, which a screen reader hears when it has time."""
        _say(self.status, [sentence(tables, now, self.nodes)])

    def text(self) -> str:
        """Return what is shown, in words, for a page without widgets."""
        return (
            f"The bench of {', '.join(self.nodes)}. It needs a page that shows widgets, such as JupyterLab's."
        )

    def fallback(self) -> str:
        """Return picture, plots and words as they are now, as HTML for a page without widgets."""
        words = f"<p>{html.escape(self.text())}</p>"
        return f'{stylesheet()}<div class="labs-bench">{self.picture.svg}{self.plots.svg()}{words}</div>'

    def note(self, sentences: Iterable[str]) -> None:
        """Show what stands in the way."""
        _say(self.notes, list(sentences))

    def compare(self, text: str) -> None:
        """Show what a comparison has found."""
        _say(self.compared, [text] if text else [])


class Panel(widgets.VBox):  # type: ignore[misc]  # ipywidgets are untyped
    """What stands in the page: a display's parts, and words in their place where there are no widgets.

    Parameters
    ----------
    display : Display
    parts : list of Widget
    """

    def __init__(self, display: Display, parts: list[widgets.Widget]) -> None:
        self._display = display
        super().__init__(children=parts)
        self.add_class("labs-bench")

    def close(self) -> None:
        """Take it and all its parts out of the page: ipywidgets keeps what was not closed for ever."""
        for each in (*self.children, self.layout):
            _close(each)
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> Any:  # noqa: ANN401 - as ipywidgets has it
        shown = super()._repr_mimebundle_(**options)
        parts = shown[0] if isinstance(shown, tuple) else shown
        if parts is not None:  # what stands in a page without widgets
            parts["text/plain"] = self._display.text()
            parts["text/html"] = self._display.fallback()
        return shown


def _close(widget: widgets.Widget) -> None:
    parts = [getattr(widget, name, None) for name in ("layout", "style")]
    for each in (*getattr(widget, "children", ()), *parts):
        if isinstance(each, widgets.Widget):
            _close(each)
    widget.close()


def _say(region: LiveRegion, sentences: list[str]) -> None:
    value = "".join(f"<p>{html.escape(each)}</p>" for each in sentences)
    if region.value != value:
        region.value = value
