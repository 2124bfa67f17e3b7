"""Draw a lab: its nodes on their cores, the links between them, and the same in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from labs.views import End, LabView, Live, NodeView, mpps

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["End", "LabView", "Live", "NodeView", "svg", "text"]

_WIDTH, _MARGIN = 190, 28
_TOP = 44
_TITLE = 420
_TRACK = 52  # from one of several links between two nodes to the next

_INK = "var(--jp-ui-font-color1, #222)"
_QUIET = "var(--jp-ui-font-color2, #555)"
_PAPER = "var(--jp-layout-color1, #fff)"
_EDGE = "var(--jp-border-color1, #999)"
_ACCENT = "var(--jp-brand-color1, #0b6bcb)"
_ALARM = "var(--jp-error-color1, #b00020)"
_SMALL = ' font-size="11"'


def text(lab: LabView, live: Live | None = None) -> str:
    """Return the drawing in words, a line for each node and each link."""
    lines = [lab.title]
    for node in lab.nodes:
        silent = "" if node.answers else ", does not answer"
        mode = f", rx-mode {live.modes[node.name]}" if live and node.name in live.modes else ""
        lines.append(f"  {node.name}: {node.placed}{silent}{mode}")
    for i, a, j, b in lab.links():
        names = lab.nodes[i].name, lab.nodes[j].name
        state = "connected" if a.connected and b.connected else "not connected"
        left, right = (
            f"{name} {end.interface} ({end.role}{', ' + end.address if end.address else ''})"
            for name, end in zip(names, (a, b), strict=True)
        )
        forth, back = live.between(*names) if live else (math.nan, math.nan)
        rate = f", {mpps(forth)} forth, {mpps(back)} back" if not math.isnan(forth + back) else ""
        lines.append(f"  {left} ── {right}: {state}{rate}")
    lines += [
        f"  {lab.nodes[number].name} {end.interface} ({end.role}): {end.outside}"
        for number, end in lab.loose()
    ]
    return "\n".join(lines)


def svg(lab: LabView, live: Live | None = None) -> str:
    """Return the drawing as an SVG element that follows the page's colours, with the words as its label.

    Parameters
    ----------
    lab : LabView
    live : Live, optional
        Is drawn on its links and nodes.
    """
    place = _Place.of(lab, live)
    parts = [_words(_MARGIN, 18, lab.title, "start", _QUIET)]
    parts += _core_bands(lab.nodes, place)
    seen: dict[tuple[int, int], int] = {}
    for i, a, j, b in lab.links():
        track = seen[i, j] = seen.get((i, j), -1) + 1
        parts += _link(lab, (i, a, j, b), track, place, live)
    for number, node in enumerate(lab.nodes):
        parts += _node(number, node, place, live.modes.get(node.name, "") if live else "")
    parts += _loose_ends(lab, place)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(text(lab, live))}" '
        f'viewBox="0 0 {place.width} {place.total}" width="{place.width}" style="max-width:100%;height:auto" '
        f'font-family="var(--jp-ui-font-family, sans-serif)" font-size="13">{"".join(parts)}</svg>'
    )


@dataclass(frozen=True)
class _Place:
    """Where things stand: the height of a node, the gap between two, and the whole."""

    height: int
    gap: int
    width: int
    total: int

    @classmethod
    def of(cls, lab: LabView, live: Live | None) -> _Place:
        pairs = [(i, j) for i, _, j, _ in lab.links()]
        tracks = max((pairs.count(pair) for pair in pairs), default=1)
        height = max(104 if live else 84, tracks * _TRACK)
        gap = 300 if live else 190
        count = len(lab.nodes)
        width = 2 * _MARGIN + max(count * _WIDTH + (count - 1) * gap, _TITLE)
        return cls(height, gap, width, _TOP + height + 56 if count else _TOP)

    def left(self, number: int) -> int:
        return _MARGIN + number * (_WIDTH + self.gap)


def _words(
    x: float, y: float, words: str, anchor: str = "middle", colour: str = _INK, extra: str = ""
) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}"{extra}>{escape(words)}</text>'


def _box(x: float, y: float, width: float, height: float, stroke: str, fill: str, dashes: str) -> str:
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="9" '
        f'fill="{fill}" stroke="{stroke}" stroke-width="2"{dash}/>'
    )


def _core_bands(nodes: tuple[NodeView, ...], place: _Place) -> Iterator[str]:
    """Draw a band behind neighbours that share their cores; dashed where they are free to move."""
    for (cores, pinned), group in groupby(enumerate(nodes), key=lambda item: (item[1].cores, item[1].pinned)):
        members = [number for number, _ in group]
        if cores is None:
            continue
        x = place.left(members[0]) - 14
        width = place.left(members[-1]) + _WIDTH + 14 - x
        yield _box(x, _TOP - 14, width, place.height + 52, _EDGE, "none", "" if pinned else "6 5")
        placed = nodes[members[0]].placed
        yield _words(x + width / 2, _TOP + place.height + 26, placed, colour=_QUIET)


def _node(number: int, node: NodeView, place: _Place, mode: str) -> Iterator[str]:
    x, middle = place.left(number), place.left(number) + _WIDTH / 2
    state = "✕ ended" if node.cores is None else "● running" if node.answers else "◌ does not answer"
    well = node.cores is not None and node.answers
    yield _box(x, _TOP, _WIDTH, place.height, _ACCENT if well else _ALARM, _PAPER, "" if well else "4 4")
    if node.cores is None:  # crossed out: to be seen from afar, and without colour
        for y1, y2 in ((_TOP + 8, _TOP + place.height - 8), (_TOP + place.height - 8, _TOP + 8)):
            yield (
                f'<path d="M{x + 10} {y1}L{x + _WIDTH - 10} {y2}" stroke="{_ALARM}" stroke-width="1.5" '
                'opacity="0.35"/>'
            )
    bold = ' font-size="17" font-weight="600"'
    yield _words(middle, _TOP + 36, node.name, extra=bold)
    strong = "" if well else ' font-weight="600"'
    yield _words(middle, _TOP + 60, state, colour=_INK if well else _ALARM, extra=strong)
    if mode and node.cores is not None:
        yield _words(middle, _TOP + 80, f"rx-mode: {mode}", colour=_QUIET)


def _loose_ends(lab: LabView, place: _Place) -> Iterator[str]:
    """Tell at the foot of a node of its ends that meet no other node."""
    for number in range(len(lab.nodes)):
        ends = [end for at, end in lab.loose() if at == number]
        whom = {end: end.peer.partition(" of ")[0] if end.connected else "" for end in ends}
        words = "; ".join(
            f"{', '.join(end.interface for end in ends if whom[end] == each)}: {each or 'no other end'}"
            for each in dict.fromkeys(whom.values())
        )
        if words:
            x = place.left(number) + _WIDTH / 2
            yield _words(x, _TOP + place.height - 8, words, colour=_QUIET, extra=_SMALL)


def _link(
    lab: LabView, link: tuple[int, End, int, End], track: int, place: _Place, live: Live | None
) -> Iterator[str]:
    """Draw one link: solid when connected, dashed when not, with role and address at each end."""
    i, a, j, b = link
    count = sum(1 for first, _, second, _ in lab.links() if (first, second) == (i, j))
    up = a.connected and b.connected
    x1, x2 = place.left(i) + _WIDTH, place.left(j)
    y = _TOP + place.height / 2 + (track - (count - 1) / 2) * _TRACK
    style = 'stroke-width="3"' if up else 'stroke-width="2" stroke-dasharray="5 5"'
    yield f'<line x1="{x1}" y1="{y}" x2="{x2}" y2="{y}" stroke="{_ACCENT if up else _ALARM}" {style}/>'
    state = "memif, connected" if up else "memif, not connected"
    middle = (x1 + x2) / 2
    if live:
        forth, back = live.between(lab.nodes[i].name, lab.nodes[j].name)
        yield _words(middle, y - 10, f"{mpps(forth)} →", extra=' font-weight="600"')
        yield _words(middle, y + 20, f"← {mpps(back)}", extra=' font-weight="600"')
    if count == 1:
        yield _words(middle, y - 34 if live else y - 30, state, colour=_QUIET if live and up else _INK)
    for x, anchor, end in ((x1 + 18, "start", a), (x2 - 18, "end", b)):
        yield _words(x, y - 10, end.role, anchor, extra=_SMALL)
        yield _words(x, y + 18, end.address, anchor, extra=_SMALL)
