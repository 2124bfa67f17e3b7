"""How the bench looks: a palette that reads on light and dark, a style for each line, one stylesheet."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

# Okabe and Ito's palette (https://jfly.uni-koeln.de/color/). Blue is lightened, orange and sky blue darkened,
# and yellow is left out, so that each has a contrast of 3:1 on white and on JupyterLab's dark grey.
BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = (
    "#1F7FC0",
    "#D55E00",
    "#009E73",
    "#C06A9A",
    "#B97F00",
    "#3A97CF",
)
GREY = "#7D8590"
LIGHT, DARK = "#FFFFFF", "#212121"
"""What JupyterLab's themes put behind the bench."""

_SOLID, _DASHED, _DOTTED, _MIXED = (), (7.0, 4.0), (2.0, 3.0), (9.0, 3.0, 2.0, 3.0)


@dataclass(frozen=True)
class Style:
    """How one line is drawn.

    Parameters
    ----------
    colour : str
        As ``#RRGGBB``.
    dash : tuple of float
        Lengths of strokes and gaps in pixels; empty for a solid line.
    symbol : str
        What stands on the line every few seconds: circle, square, triangle, diamond, cross or bar.
    width : float
        In pixels.
    """

    colour: str
    dash: tuple[float, ...] = _SOLID
    symbol: str = "circle"
    width: float = 1.75


# Colour tells the instrument or the node, the dash tells the figure: p50 is always the strong solid line.
SERIES: dict[str, Style] = {
    "probe_p50": Style(BLUE, _SOLID, "circle", 2.5),
    "probe_p99": Style(BLUE, _DASHED, "square", 1.5),
    "probe_max": Style(BLUE, _DOTTED, "triangle", 1.25),
    "ping_p50": Style(VERMILLION, _SOLID, "diamond", 2.5),
    "ping_max": Style(VERMILLION, _DOTTED, "cross", 1.25),
    "sent": Style(ORANGE, _DASHED, "square", 2.0),
    "received": Style(GREEN, _SOLID, "circle", 2.0),
    "lost": Style(PURPLE, _DOTTED, "cross", 2.0),
    "notebook": Style(GREY, _MIXED, "bar", 1.5),
}
"""The lines that every bench has, by column."""

_NODES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
_NODE_SYMBOLS = ("circle", "diamond", "square", "triangle", "bar", "cross")
_CORES = (GREEN, PURPLE, ORANGE, SKY, BLUE, VERMILLION)
_CORE_DASHES = (_DOTTED, _MIXED, (5.0, 2.0), (1.0, 2.0))


def node_style(number: int, *, waits: bool = False) -> Style:
    """Return the style of a lab's node by its place in the lab: solid for running, dashed for waiting."""
    place = number % len(_NODES)
    dash, width = (_DASHED, 1.5) if waits else (_SOLID, 2.25)
    return Style(_NODES[place], dash, _NODE_SYMBOLS[place], width)


def core_style(number: int) -> Style:
    """Return the style of a core by its place among the allowed cores."""
    dash = _CORE_DASHES[number // len(_CORES) % len(_CORE_DASHES)]
    return Style(_CORES[number % len(_CORES)], dash, "bar", 1.25)


CSS = files("labs.bench").joinpath("theme.css").read_text(encoding="utf-8")
"""The stylesheet of all parts of the bench."""


def stylesheet() -> str:
    """Return the stylesheet as an HTML element."""
    return f"<style>{CSS}</style>"
