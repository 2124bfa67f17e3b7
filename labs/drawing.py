"""Draw a lab: its nodes on their cores, the links between them, and the same in words."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import groupby

from labs.placement import Cores, describe

_WIDTH, _HEIGHT, _GAP, _MARGIN = 190, 84, 190, 28
_TOP = 44
_TITLE = 420


@dataclass(frozen=True)
class End:
    """One end of a memif, as its node tells it.

    Parameters
    ----------
    socket : str
        The socket's file name; with `id` it tells which ends belong together.
    id : int
    interface, role, address : str
        `role` is ``server`` or ``client``; `address` is empty where there is none.
    connected : bool
    peer : str
        What the other end calls itself, while it is connected: it need not be a node of the lab.
    """

    socket: str
    id: int
    interface: str
    role: str
    address: str
    connected: bool
    peer: str = ""

    @property
    def outside(self) -> str:
        """Whom it meets where that is no node of the lab, in words."""
        return f"connected to {self.peer}" if self.connected and self.peer else "meets no other end"


@dataclass(frozen=True)
class NodeView:
    """One node as it is now: `cores` is None for a node that has ended, `answers` false for a silent one."""

    name: str
    cores: Cores | None
    pinned: bool
    ends: tuple[End, ...] = ()
    answers: bool = True

    @property
    def placed(self) -> str:
        """Where it runs, in words."""
        if self.cores is None:
            return "ended"
        return describe(self.cores) if self.pinned else f"free to move on {describe(self.cores)}"


@dataclass(frozen=True)
class LabView:
    """A lab as it is now: a title and its nodes."""

    title: str
    nodes: tuple[NodeView, ...]

    def links(self) -> list[tuple[int, End, int, End]]:
        """Return pairs of ends that meet on one socket with one id, with the numbers of their nodes."""
        ends = [(number, end) for number, node in enumerate(self.nodes) for end in node.ends]
        return [
            (i, a, j, b)
            for at, (i, a) in enumerate(ends)
            for j, b in ends[at + 1 :]
            if i != j and (a.socket, a.id) == (b.socket, b.id)
        ]

    def loose(self) -> list[tuple[int, End]]:
        """Return the ends that meet no other, with the numbers of their nodes."""
        met = {(number, end) for i, a, j, b in self.links() for number, end in ((i, a), (j, b))}
        ends = [(number, end) for number, node in enumerate(self.nodes) for end in node.ends]
        return [each for each in ends if each not in met]


def text(lab: LabView) -> str:
    """Return the drawing in words, a line for each node and each link."""
    lines = [lab.title]
    lines += [
        f"  {node.name}: {node.placed}{'' if node.answers else ', does not answer'}" for node in lab.nodes
    ]
    for i, a, j, b in lab.links():
        state = "connected" if a.connected and b.connected else "not connected"
        left = f"{lab.nodes[i].name} {a.interface} ({a.role}{', ' + a.address if a.address else ''})"
        right = f"{lab.nodes[j].name} {b.interface} ({b.role}{', ' + b.address if b.address else ''})"
        lines.append(f"  {left} ── {right}: {state}")
    lines += [
        f"  {lab.nodes[number].name} {end.interface} ({end.role}): {end.outside}"
        for number, end in lab.loose()
    ]
    return "\n".join(lines)


def svg(lab: LabView) -> str:
    """Return the drawing as an SVG element that follows the page's colours, with the words as its label."""
    count = len(lab.nodes)
    width = 2 * _MARGIN + max(count * _WIDTH + (count - 1) * _GAP, _TITLE)
    height = _TOP + _HEIGHT + 56 if count else _TOP
    parts = [_words(_MARGIN, 18, lab.title, "start", _QUIET)]
    parts += _core_bands(lab.nodes)
    parts += [piece for link in lab.links() for piece in _link(*link)]
    parts += [piece for number, node in enumerate(lab.nodes) for piece in _node(number, node)]
    parts += _loose_ends(lab)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(text(lab))}" '
        f'viewBox="0 0 {width} {height}" width="{width}" style="max-width:100%;height:auto" '
        f'font-family="var(--jp-ui-font-family, sans-serif)" font-size="13">{"".join(parts)}</svg>'
    )


_INK = "var(--jp-ui-font-color1, #222)"
_QUIET = "var(--jp-ui-font-color2, #555)"
_PAPER = "var(--jp-layout-color1, #fff)"
_EDGE = "var(--jp-border-color1, #999)"
_ACCENT = "var(--jp-brand-color1, #0b6bcb)"
_ALARM = "var(--jp-error-color1, #b00020)"


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


def _left(number: int) -> int:
    return _MARGIN + number * (_WIDTH + _GAP)


def _core_bands(nodes: tuple[NodeView, ...]) -> list[str]:
    """Draw a band behind neighbours that share their cores; dashed where they are free to move."""
    parts = []
    for (cores, pinned), group in groupby(enumerate(nodes), key=lambda item: (item[1].cores, item[1].pinned)):
        members = [number for number, _ in group]
        if cores is None:
            continue
        x = _left(members[0]) - 14
        width = _left(members[-1]) + _WIDTH + 14 - x
        parts.append(_box(x, _TOP - 14, width, _HEIGHT + 52, _EDGE, "none", "" if pinned else "6 5"))
        parts.append(_words(x + width / 2, _TOP + _HEIGHT + 26, nodes[members[0]].placed, colour=_QUIET))
    return parts


def _node(number: int, node: NodeView) -> list[str]:
    x, middle = _left(number), _left(number) + _WIDTH / 2
    state = "✕ ended" if node.cores is None else "● running" if node.answers else "◌ does not answer"
    well = node.cores is not None and node.answers
    return [
        _box(x, _TOP, _WIDTH, _HEIGHT, _ACCENT if well else _ALARM, _PAPER, "" if well else "4 4"),
        _words(middle, _TOP + 36, node.name, extra=' font-size="17" font-weight="600"'),
        _words(middle, _TOP + 60, state),
    ]


def _loose_ends(lab: LabView) -> list[str]:
    """Tell below a node's state of its ends that meet no other node."""
    parts = []
    for number in range(len(lab.nodes)):
        ends = [end for at, end in lab.loose() if at == number]
        whom = {end: end.peer.partition(" of ")[0] if end.connected else "" for end in ends}
        words = "; ".join(
            f"{', '.join(end.interface for end in ends if whom[end] == each)}: {each or 'no other end'}"
            for each in dict.fromkeys(whom.values())
        )
        if words:
            x = _left(number) + _WIDTH / 2
            parts.append(_words(x, _TOP + 76, words, colour=_QUIET, extra=' font-size="11"'))
    return parts


def _link(i: int, a: End, j: int, b: End) -> list[str]:
    """Draw one link: solid when connected, dashed when not, with role and address at each end."""
    if i > j:
        i, a, j, b = j, b, i, a
    up = a.connected and b.connected
    x1, x2, y = _left(i) + _WIDTH, _left(j), _TOP + _HEIGHT / 2
    style = 'stroke-width="3"' if up else 'stroke-width="2" stroke-dasharray="5 5"'
    parts = [
        f'<line x1="{x1}" y1="{y}" x2="{x2}" y2="{y}" stroke="{_ACCENT}" {style}/>',
        _words((x1 + x2) / 2, y - 30, "memif, connected" if up else "memif, not connected"),
    ]
    for x, anchor, end in ((x1 + 18, "start", a), (x2 - 18, "end", b)):
        parts.append(_words(x, y - 10, end.role, anchor, extra=' font-size="11"'))
        parts.append(_words(x, y + 18, end.address, anchor, extra=' font-size="11"'))
    return parts
