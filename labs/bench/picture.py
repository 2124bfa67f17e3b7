"""The bench's picture: nodes on their cores, links with what flows on them, and who has died."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import ipywidgets as widgets

from labs import drawing
from labs.views import Live

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from labs.views import LabView

PERIOD = 1.0
"""Seconds between two drawings that differ in their rates alone: figures that change faster are not read."""


class Picture:
    """The lab as it is, in a widget that is drawn anew only where something differs.

    Parameters
    ----------
    clock : callable
        Tells the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.widget = widgets.HTML()
        self.widget.add_class("labs-picture")
        self._clock = clock
        self._shape = ""
        self._drawn = 0.0

    @property
    def svg(self) -> str:
        """The picture as it was drawn last; empty before that."""
        return str(self.widget.value)

    def show(
        self,
        view: LabView,
        rates: Mapping[tuple[str, str], tuple[float, float]] | None = None,
        modes: Mapping[str, str] | None = None,
        *,
        running: bool = True,
    ) -> None:
        """Show the lab.

        Parameters
        ----------
        view : LabView
        rates : mapping of (str, str) to (float, float), optional
            Mpps by the names of two linked nodes, from the first to the second and back; NaN where unknown.
        modes : mapping of str to str, optional
            Each node's rx-mode, in a word or two.
        running : bool
            False while nothing is measured: then no rate is shown.
        """
        shape = drawing.text(view, Live({}, modes or {})) + str(running)
        now = self._clock()
        if shape == self._shape and now - self._drawn < PERIOD:
            return
        self._shape, self._drawn = shape, now
        value = drawing.svg(view, Live(rates or {}, modes or {}, running))
        if value != self.widget.value:
            self.widget.value = value
