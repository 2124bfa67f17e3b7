"""Columns as VPP's format functions line them up (src/vppinfra/format.c)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labs.glassbox.box import Box


def centred(value: object, width: int) -> str:
    """Return a value in the middle of `width` characters, the odd blank on the left, as VPP's ``%=``."""
    text = str(value)
    pad = max(width - len(text), 0)
    left = (pad + 1) // 2
    return " " * left + text + " " * (pad - left)


def mac_text(mac: bytes) -> str:
    """Return an Ethernet address as 02:fe:00:00:00:01."""
    return mac.hex(":")


def thread_name(thread: int) -> str:
    """Return what a thread of the glass box is called, as the kernel shows it."""
    return "glass_main" if thread == 0 else f"glass_wk_{thread - 1}"


def interface_name(box: Box, index: int) -> str:
    """Return an interface's name, or what VPP prints for one that is gone."""
    for each in box.interfaces:
        if each.index == index:
            return each.name
    return "DELETED"
