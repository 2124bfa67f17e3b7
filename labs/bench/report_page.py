"""The page of a report: one file of HTML that asks no network for anything."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from plotly.offline import get_plotlyjs

from labs.bench import theme

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SAMPLE = 34  # pixels of line in a legend


def page(title: str, body: str, spec: Mapping[str, Any]) -> str:
    """Return a whole page.

    Parameters
    ----------
    title : str
        Plain text.
    body : str
        HTML.
    spec : mapping
        What its plots show; empty for a page without.

    Notes
    -----
    Its own policy forbids the page all requests and all scripts but these two, by their hashes: a recording
    that comes from elsewhere cannot bring one.
    """
    scripts = [get_plotlyjs(), _read("report.js")] if spec else []
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'"
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "font-src data:; base-uri 'none'; form-action 'none'"
    )
    data = f'<script type="application/json" id="labs-plots-data">{_embedded(spec)}</script>' if spec else ""
    code = "".join(f"<script>{script}</script>" for script in scripts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{theme.CSS}{_read('report.css')}</style></head>"
        f"<body>{body}{data}{code}</body></html>\n"
    )


def section(title: str, content: str) -> str:
    """Return a part of the page under a heading; empty without content."""
    return f"<section><h2>{escape(title)}</h2>{content}</section>" if content else ""


def plots(title: str, spec: Mapping[str, Any], words: str) -> str:
    """Return the place for the plots and their legend, whose buttons hide and show a line.

    Parameters
    ----------
    title : str
    spec : mapping
    words : str
        What the plots show, for those who do not see them.
    """
    if not spec:
        return ""
    legends = "".join(
        f'<div class="legend" role="group" aria-label="Lines of: {escape(panel["title"])}" '
        f'style="height:{panel["height"]}px">{_legend(number, panel["lines"])}</div>'
        for number, panel in enumerate(spec["panels"])
    )
    return (
        f'<section><div class="plots-head"><h2>{escape(title)}</h2>'
        '<p class="quiet">Drag across the plots to look closer. '
        '<button type="button" class="small" id="labs-all">Show all</button></p></div>'
        "<noscript><p>The plots need JavaScript; the tables below do not.</p></noscript>"
        f'<div class="plots"><div id="labs-plots" role="img" aria-label="{escape(words)}"></div>'
        f'<div class="plots-side" style="padding-top:{spec["strip"]}px;--gap:{spec["gap"]}px">{legends}</div>'
        "</div></section>"
    )


def _legend(panel: int, lines: Sequence[Mapping[str, Any]]) -> str:
    return "".join(
        f'<button type="button" aria-pressed="true" data-line="{panel}.{number}">{_sample(line)}'
        f'<span>{escape(str(line["name"]))}</span><span class="value"></span></button>'
        for number, line in enumerate(lines)
    )


def _sample(line: Mapping[str, Any]) -> str:
    """Return a short piece of a line with its symbol, as an SVG element."""
    colour, middle = line["colour"], _SAMPLE / 2
    dash = "" if line["dash"] == "solid" else f' stroke-dasharray="{line["dash"].replace("px", "")}"'
    stroke = f'<path d="M0 7h{_SAMPLE}" stroke="{colour}" stroke-width="{line["width"]}"{dash}/>'
    stroke = "" if line.get("points") else stroke
    shape = {
        "circle": f'<circle cx="{middle}" cy="7" r="3.5" fill="{colour}"/>',
        "square": f'<rect x="{middle - 3.5}" y="3.5" width="7" height="7" fill="{colour}"/>',
        "diamond": f'<path d="M{middle} 2.5l4.5 4.5l-4.5 4.5l-4.5-4.5z" fill="{colour}"/>',
        "triangle-up": f'<path d="M{middle} 2.5l4.2 7.5h-8.4z" fill="{colour}"/>',
        "x-thin-open": f'<path d="M{middle - 3.5} 3.5l7 7m0-7l-7 7" stroke="{colour}" stroke-width="1.5"/>',
        "line-ns-open": f'<path d="M{middle} 2.5v9" stroke="{colour}" stroke-width="1.5"/>',
    }[line["symbol"]]
    return f'<svg width="{_SAMPLE}" height="14" aria-hidden="true">{stroke}{shape}</svg>'


def _read(name: str) -> str:
    return files("labs.bench").joinpath(name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _embedded(spec: Mapping[str, Any]) -> str:
    """Return JSON that cannot end the element it stands in."""
    return json.dumps(spec, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
