"""Packets from templates: what scapy, or anyone, has made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labs.errors import LabError
from labs.traffic import stamp
from labs.traffic.headers import one_of, within
from labs.traffic.packets import MAX_FRAME, Packets, assemble

if TYPE_CHECKING:
    from numpy.typing import NDArray


def from_templates(templates: Any, stamp_at: int | None, mode: str) -> Packets:  # noqa: ANN401 - scapy need not be there
    """Return packets made from templates: see `Packets.of`."""
    one_of("mode", mode, ("ethernet", "ip"))
    single = isinstance(templates, bytes | bytearray) or hasattr(templates, "__bytes__")
    parts = [templates] if single else list(templates)
    if not parts:
        raise LabError("There is no packet to send.", "give at least one template.")
    within("stamp_at", -1 if stamp_at is None else stamp_at, -1, MAX_FRAME)
    at = _common_place(parts) if stamp_at is None else stamp_at
    frames = [_frame(_without_checksums(each) if at >= 0 else each) for each in parts]
    shortest = min(each.size for each in frames)
    if at >= 0 and at + stamp.SIZE > shortest:
        raise LabError(
            f"A template of {shortest} bytes has no room for a stamp of {stamp.SIZE} bytes at byte {at}.",
            "make it longer, or move the stamp with stamp_at.",
        )
    longest_head = max(each.size for each in frames)
    heads = np.zeros((len(frames), 1, longest_head), np.uint8)
    for head, frame in zip(heads, frames, strict=True):
        head[0, : frame.size] = frame
    return assemble(heads, frames, range(len(frames)), at, mode)


def _frame(template: Any) -> NDArray[np.uint8]:  # noqa: ANN401 - scapy need not be there
    if not isinstance(template, bytes | bytearray) and not hasattr(template, "__bytes__"):
        raise LabError(f"A {type(template).__name__} is no packet.", "give bytes or scapy's packets.")
    frame = np.frombuffer(bytes(template), np.uint8)
    within("a template's size in bytes", frame.size, 1, MAX_FRAME)
    return frame


def _common_place(parts: list[Any]) -> int:
    """Return where the stamp begins in each of the templates; -1 if not in all, or not at the same byte."""
    places = {_place(each) for each in parts}
    return places.pop() if len(places) == 1 else -1


def _place(template: Any) -> int:  # noqa: ANN401 - scapy need not be there
    """Return where a stamp can begin in a scapy packet; -1 for nowhere."""
    headers = _udp_headers(template)
    if not headers or any(each.underlayer is None or each.underlayer.name != "IP" for each in headers):
        return -1  # in IPv6 a UDP packet must have a checksum
    room = len(bytes(headers[-1].payload))
    return len(bytes(template)) - room if room >= stamp.SIZE else -1


def _without_checksums(template: Any) -> Any:  # noqa: ANN401 - scapy need not be there
    """Return a scapy packet with no UDP checksums; anything else as it is."""
    if not _udp_headers(template):
        return template
    copy = template.copy()
    for each in _udp_headers(copy):
        each.chksum = 0
    return copy


def _udp_headers(template: Any) -> list[Any]:  # noqa: ANN401 - scapy need not be there
    """Return the UDP layers of a scapy packet, outermost first."""
    if not hasattr(template, "iterpayloads"):
        return []
    return [layer for layer in template.iterpayloads() if layer.name == "UDP"]
