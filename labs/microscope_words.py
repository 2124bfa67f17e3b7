"""The messages of a memif handshake, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.memif.messages import (
    MODES,
    Ack,
    AddRegion,
    AddRing,
    Connect,
    Connected,
    Disconnect,
    Hello,
    Init,
    printable,
)

if TYPE_CHECKING:
    from labs.memif.messages import Message

_NAMES: dict[type[Message], str] = {
    Ack: "ACK",
    Hello: "HELLO",
    Init: "INIT",
    AddRegion: "ADD_REGION",
    AddRing: "ADD_RING",
    Connect: "CONNECT",
    Connected: "CONNECTED",
    Disconnect: "DISCONNECT",
}
_MODES = {number: name for name, number in MODES.items()}


def name_of(message: Message) -> str:
    """Return what the protocol calls a message."""
    return _NAMES[type(message)]


def told_by(message: Message) -> str:
    """Return what a message says; a secret is not repeated."""
    said = ""
    match message:
        case Hello():
            said = (
                f"{printable(message.name)} speaks memif {_version(message.min_version)} to "
                f"{_version(message.max_version)}; takes {message.max_s2m_ring + 1} s2m and "
                f"{message.max_m2s_ring + 1} m2s rings of up to {1 << message.max_log2_ring_size} slots"
            )
        case Init():
            mode = _MODES.get(message.mode, str(message.mode))
            said = (
                f"{printable(message.name)} speaks memif {_version(message.version)}; asks for interface "
                f"{message.id}, mode {mode}, with {'a' if message.secret else 'no'} secret"
            )
        case AddRegion():
            said = f"region {message.index}: {message.size} bytes"
        case AddRing():
            said = (
                f"{'s2m' if message.is_s2m else 'm2s'} {message.index}: {1 << message.log2_size} slots "
                f"at {message.offset} in region {message.region}"
            )
        case Connect() | Connected():
            said = f"as {printable(message.interface)}"
        case Disconnect():
            said = printable(message.reason)
    return said


def _version(number: int) -> str:
    return f"{number >> 8}.{number & 0xFF}"
