"""What a microscope shows, in words: one sheet for the page and for the terminal alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from labs.memif.messages import printable
from labs.microscope_words import name_of, told_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.memif.microscope import LinkView, RegionView, RingView
    from labs.microscope_source import Source

SLOTS = 6
"""Descriptors shown of a ring, from two before tail on."""
_BAR = 32
_GAP = "  "
_LEGEND = (
    "A slot is filled from when the sender hands it over until the receiver gives it back. "
    "VPP's client gives m2s slots back 32 at a time."
)  # VPP 26.06, src/plugins/memif/node.c, memif_device_input_zc_inline
_UNHEARD = " The handshake is over, and only the two ends have heard it."


@dataclass(frozen=True)
class Table:
    """A caption, the columns' names, and the rows."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self) -> list[str]:
        """Return it as text in columns."""
        cells = [self.header, *self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return [
            _GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]


@dataclass(frozen=True)
class RingSheet:
    """A ring: `fill` is None where it is not known who sends, `facts` are label, value and remark."""

    name: str
    who: str
    size: int
    fill: int | None
    filled: str
    facts: tuple[tuple[str, str, str], ...]
    slots: Table

    def lines(self) -> list[str]:
        """Return it as text."""
        done = 0 if self.fill is None else -(-self.fill * _BAR // self.size)
        facts = Table("", ("", "", ""), self.facts)
        return [
            f"ring {self.name}: {self.who}",
            f"  [{'█' * done}{'·' * (_BAR - done)}] {self.filled}",
            *(f"  {line}" for line in facts.lines()[1:]),
            f"  {self.slots.caption}",
            *(f"    {line}" for line in self.slots.lines()),
        ]


@dataclass(frozen=True)
class Sheet:
    """All that is shown at one moment.

    Attributes
    ----------
    tick : int
        Counts the looks.
    state : {"live", "frozen", "down", "over"}
    title, note : str
    rings : tuple of RingSheet
    tables : tuple of Table
        The regions, and the handshake where it is known.
    """

    tick: int
    state: str
    title: str
    note: str
    rings: tuple[RingSheet, ...] = ()
    tables: tuple[Table, ...] = ()
    legend: str = ""

    def text(self) -> str:
        """Return all of it as text."""
        lines = [f"Microscope: {self.title}", self.note]
        for ring in self.rings:
            lines += ["", *ring.lines()]
        if self.rings:
            lines += ["", self.legend]
        for table in self.tables:
            lines += ["", table.caption, *(f"  {line}" for line in table.lines())]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return it for the page."""
        return asdict(self)


def rings_of(view: LinkView, rates: Sequence[Sequence[float]], source: Source) -> tuple[RingSheet, ...]:
    """Return the rings' part of a sheet.

    Parameters
    ----------
    view : LinkView
    rates : sequence of (float, float)
        Slots a second that head and tail of each ring moved.
    source : Source
    """
    return tuple(_ring(ring, rate, source) for ring, rate in zip(view.rings, rates, strict=True))


def legend_of(view: LinkView) -> str:
    """Return what has to be said of the whole."""
    return _LEGEND if view.handshake else _LEGEND + _UNHEARD


def tables_of(view: LinkView, source: Source) -> tuple[Table, ...]:
    """Return the regions, and the handshake where it is known."""
    regions = Table(
        "Shared memory",
        ("region", "name", "size", "sealed against", "descriptor", "holds"),
        tuple(_region(each, view) for each in view.regions),
    )
    if not view.handshake:
        return (regions,)
    began = view.handshake[0].at
    us, them = (
        (source.client, source.server) if source.client.startswith("our") else (source.server, source.client)
    )
    rows = tuple(
        (
            f"{(each.at - began) * 1000:.2f} ms",
            us if each.by_us else them,
            name_of(each.message),
            "1 descriptor" if each.descriptors else "",
            told_by(each.message),
        )
        for each in view.handshake
    )
    return (regions, Table("Handshake", ("after", "from", "message", "brings", "says"), rows))


def _region(region: RegionView, view: LinkView) -> tuple[str, ...]:
    rings = [each.name for each in view.rings if each.region == region.index]
    return (
        str(region.index),
        printable(region.name) or "not known",
        f"{region.size} bytes",
        ", ".join(region.seals) or "nothing",
        str(region.descriptor) if region.descriptor >= 0 else "not known",
        f"rings {', '.join(rings)}" if rings else "packets",
    )


def _ring(ring: RingView, rate: Sequence[float], source: Source) -> RingSheet:
    direction = ring.name.split()[0]
    sender, receiver = {
        "s2m": (source.client, source.server),
        "m2s": (source.server, source.client),
    }.get(direction, ("", ""))
    known = ring.fill is not None
    head, tail = (
        f"{_pace(each)} by {who}" for each, who in zip(rate, (source.client, source.server), strict=True)
    )
    return RingSheet(
        name=ring.name,
        who=f"{sender} sends, {receiver} receives" if known else "who sends on it, the memory does not tell",
        size=ring.size,
        fill=ring.fill,
        filled=f"{ring.fill} of {ring.size} slots" if known else f"not known, of {ring.size} slots",
        facts=(
            ("head", str(ring.head), head),
            ("tail", str(ring.tail), tail),
            (
                "receiver",
                "sleeps" if ring.wants_doorbell else "polls",
                "wants interrupts: flags 0" if ring.wants_doorbell else "masks interrupts: flags 1",
            ),
            ("doorbell", *_doorbell(ring)),
        ),
        slots=_slots(ring),
    )


def _doorbell(ring: RingView) -> tuple[str, str]:
    return (
        "not known" if ring.unheard is None else f"{ring.unheard} unheard",
        "" if ring.rung is None else f"rings by us so far: {ring.rung}",
    )


def _slots(ring: RingView) -> Table:
    """Return the descriptors around tail, each with whether it holds a packet."""
    count = min(SLOTS, ring.size)
    rows = []
    for step in range(-min(2, count - 1), count - min(2, count - 1)):
        number = (ring.tail + step) % ring.size
        slot = ring.slots(number, 1)[0]
        marks = [name for name, at in (("head", ring.head), ("tail", ring.tail)) if at % ring.size == number]
        rows.append(
            (
                str(number),
                _state(ring, step),
                str(slot.region),
                str(slot.offset),
                str(slot.length),
                "1 next" if slot.goes_on else "0",
                f"← {', '.join(marks)}" if marks else "",
            )
        )
    return Table(
        "Descriptors around tail",
        ("slot", "state", "region", "offset", "bytes", "flags", "index"),
        tuple(rows),
    )


def _state(ring: RingView, step: int) -> str:
    if ring.fill is None:
        return "not known"
    ahead = step if ring.name.startswith("s2m") else -step - 1
    return "filled" if ahead % ring.size < ring.fill else "empty"


def _pace(rate: float) -> str:
    """Return slots a second, three digits of them."""
    if rate < 0.5:  # noqa: PLR2004 - rounds to none
        return "0 slots/s"
    digits = max(len(str(int(rate))) - 3, 0)
    return f"{int(round(rate, -digits)):,} slots/s"
