"""The packet generator's streams: packets made from a description."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.commands.columns import centred
from labs.glassbox.commands.command import command
from labs.glassbox.commands.packet_text import describe
from labs.glassbox.commands.runtime import science
from labs.glassbox.commands.words import Words, amount, number, word
from labs.glassbox.commands.words import interface as interface_of
from labs.glassbox.streams import HEAD, Stream
from labs.glassbox.vm import VECTOR

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.packet_headers import Description
    from labs.glassbox.interfaces import Interface

_NOT_OURS = ("pcap", "buffer-flags", "buffer-offload-flags", "worker", "tx-interface")
_MOST_KINDS = 4096
_SIZE = re.compile(r"(\d+)\s*([-+])\s*(\d+)\b")


@dataclass
class _Wish:
    """What a line says of a stream."""

    name: str = ""
    node: str = ""
    text: str | None = None
    interface: Interface | None = None
    source: str = ""
    most: int = VECTOR
    limit: int = 0
    rate: float = 0.0
    size: int = 64
    parameters: set[str] = field(default_factory=set)


@command(
    "packet-generator new",
    help="packet-generator new { name S limit N rate PPS size A-A node N source pgN data { ... } }",
)
def new_stream(box: Box, words: Words) -> str:
    """Make a stream; it is sent when it is enabled."""
    inside = words.block()
    if inside is not None:
        words.end()
        words = Words(inside)
    wish = _Wish()
    while not words.is_over:
        _read(box, words, wish)
    if wish.text is None:
        raise LabError("no packet data given")
    if not wish.node:
        raise LabError("output interface or node not given")
    first = "ip4" if wish.node.startswith("ip4-") else "ethernet" if _takes_frames(wish.node) else ""
    description = describe(wish.text, first)
    packet, heads = _packets(description, wish.size)
    name = wish.name or _free_name(box)
    came_by = wish.interface or (
        box.add_interface(wish.source, "pg") if wish.source else box.interfaces.named("local0")
    )
    box.streams.add(
        Stream(name, packet, wish.limit, wish.rate, came_by, wish.node, heads=heads, most=wish.most)
    )
    return ""


@command(
    "packet-generator configure", help="packet-generator configure <stream> [limit N] [rate PPS] [size A-A]"
)
def configure_stream(box: Box, words: Words) -> str:
    """Change a stream's limit or rate."""
    stream = _stream(box, words, "expecting stream name; got")
    wish = _Wish(limit=stream.limit, rate=stream.rate, size=len(stream.packet))
    while not words.is_over:
        if not _read_parameter(words, wish):
            raise words.unknown()
    if wish.size != len(stream.packet):
        raise LabError(
            "The glass box cannot change a stream's size.", "make the stream anew with packet-generator new."
        )
    box.streams.set_limit(stream, wish.limit)
    box.streams.set_rate(stream, wish.rate)
    return ""


@command("packet-generator delete", help="Delete stream with given name")
def delete_stream(box: Box, words: Words) -> str:
    """Delete a stream."""
    stream = _stream(box, words, "expected stream name")
    words.end()
    box.streams.remove(stream.name)
    return ""


@command("packet-generator enable-stream", help="Enable packet generator streams")
def enable_stream(box: Box, words: Words) -> str:
    """Send a stream from its first packet on; all streams, if none is named."""
    return _switch(box, words, is_on=True)


@command("packet-generator disable-stream", help="Disable packet generator streams")
def disable_stream(box: Box, words: Words) -> str:
    """Stop a stream; all streams, if none is named."""
    return _switch(box, words, is_on=False)


@command("show packet-generator", help="show packet-generator [verbose]")
def show_streams(box: Box, words: Words) -> str:
    """List the streams."""
    words.take("verbose")
    if not box.streams.by_name:
        return "no streams currently defined"
    lines = [f"{'Name':16}{centred('Enabled', 12)}{centred('Count', 16)}Parameters"]
    for stream in box.streams.by_name.values():
        enabled = "Yes" if box.streams.is_enabled(stream) else "No"
        size = len(stream.packet)
        lines.append(
            f"{stream.name:16}{centred(enabled, 12)}{centred(str(box.streams.sent(stream)), 16)}"
            f"limit {stream.limit}, rate {science(stream.rate, 2)} pps, size {size}-{size}, "
            f"node {stream.node}, interface {stream.interface.name}"
        )
    return "\n".join(lines)


def _read(box: Box, words: Words, wish: _Wish) -> None:
    """Read one parameter of a new stream."""
    start = words.at
    if (name := words.read(word, "name")) is not None:
        wish.name = name
    elif (text := words.block("data")) is not None:
        wish.text = text
    elif words.take("node"):
        wish.node = words.word()
        if box.interfaces.has(wish.node):
            wish.node += "-output"
        if wish.node not in box.graph.names:
            words.at = start
            raise words.unknown()
    elif words.take("source") or words.take("interface"):
        if not _read_source(box, words, wish):
            words.at = start
            raise words.unknown()
    elif words.peek() in _NOT_OURS:
        raise LabError(f"The glass box does not know {words.peek()}.", "write the packet in data { ... }.")
    elif not (_read_bound(words, wish) or _read_parameter(words, wish)):
        raise words.unknown()


def _read_source(box: Box, words: Words, wish: _Wish) -> bool:
    """Read where packets seem to come from; a ``pgN`` that is not there is made, as VPP does."""
    wish.interface = words.read(interface_of(box.interfaces))
    if wish.interface is None and re.fullmatch(r"pg\d{1,9}", words.peek()):
        wish.source = words.word()
    return bool(wish.interface or wish.source)


def _read_bound(words: Words, wish: _Wish) -> bool:
    """Read how many packets one turn may make, or the size of a buffer, which ours have as they are."""
    most = words.read(number, "maxframe")
    if most is not None:
        wish.most = min(wish.most, max(most, 1))
    return most is not None or words.read(number, "buffer-size") is not None


def _read_parameter(words: Words, wish: _Wish) -> bool:
    """Read a limit, a rate or a size; return whether there was one."""
    start = words.at
    if (limit := words.read(amount, "limit")) is not None:
        wish.limit = int(limit)
    elif (rate := words.read(amount, "rate")) is not None:
        wish.rate = rate
    elif words.take("size") and (sizes := _SIZE.match(words.text, words.at)):
        words.move(sizes.end() - sizes.start())
        wish.size, most = int(sizes[1]), int(sizes[3])
        if most < wish.size:
            raise LabError("max-size < min-size")
        if most != wish.size:
            raise LabError("The glass box makes packets of one size.", f"write size {most}-{most}.")
    else:
        words.at = start
        return False
    return True


def _takes_frames(node: str) -> bool:
    return node.startswith(("ethernet-", "l2-")) or node.endswith("-output")


def _packets(description: Description, size: int) -> tuple[bytes, tuple[bytes, ...]]:
    """Return the first of the packets that are sent again and again, and how each of them begins."""
    if description.header_size > size:
        raise LabError(f"min-size < total header size {description.header_size}")
    if description.count > _MOST_KINDS:
        raise LabError(
            f"That makes {description.count} different packets, and a stream of the glass box has "
            f"{_MOST_KINDS} at most.",
            "make the ranges shorter.",
        )
    heads = tuple(description.packet(size, number)[:HEAD] for number in range(description.count))
    return description.packet(size), heads


def _free_name(box: Box) -> str:
    return next(
        name
        for each in range(len(box.streams.by_name) + 1)
        if (name := f"stream{each}") not in box.streams.by_name
    )


def _stream(box: Box, words: Words, refusal: str) -> Stream:
    if words.peek() not in box.streams.by_name:
        raise LabError(f"{refusal} `{words.shown}'")
    return box.streams.named(words.word())


def _switch(box: Box, words: Words, *, is_on: bool) -> str:
    """Enable or disable the streams that are named, or all."""
    chosen = []
    while not words.is_over:
        if words.peek() not in box.streams.by_name:
            raise words.unknown()
        chosen.append(box.streams.named(words.word()))
    for stream in chosen or box.streams.by_name.values():
        if is_on and stream.interface.kind == "pg":
            box.set_up(stream.interface, is_up=True)
        box.streams.enable(stream, is_on=is_on)
    return ""
