"""The eight messages of memif 2.0, byte for byte.

Every message is 128 bytes: a type of 16 bits, then the fields below, little-endian and packed. What stands
behind the fields, and behind the zero that ends a string, means nothing and may be anything.
Source: VPP 26.06, src/plugins/memif/memif.h and socket.c; DPDK, drivers/net/memif/memif.h.
"""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass, fields
from typing import ClassVar

from labs.memif.errors import BadMessage

SIZE = 128
"""Bytes in every message."""
VERSION = 0x0200
"""memif 2.0: major in the high byte, minor in the low one."""
NAME_SIZE = 32
SECRET_SIZE = 24
REASON_SIZE = 96
S2M = 1
"""Flag of `AddRing`: the client ("slave") sends on this ring."""
ETHERNET, IP, PUNT_INJECT = 0, 1, 2
MODES = {"ethernet": ETHERNET, "ip": IP}


class Message:
    """One message.

    A field of type `str` is sent as bytes that end in a zero; a `bytes` field is a string that need not
    be text (the secret).
    """

    kind: ClassVar[int]
    layout: ClassVar[struct.Struct]
    descriptors: ClassVar[int] = 0
    """How many file descriptors travel with the message."""

    def pack(self) -> bytes:
        """Return the message's 128 bytes.

        Raises
        ------
        BadMessage
            A value that its field cannot hold.
        """
        values = [
            _string(type(self), name, value, size) if size else value
            for name, value, size in zip(_names(type(self)), astuple(self), _sizes(type(self)), strict=True)  # type: ignore[call-overload] # every subclass is a dataclass
        ]
        try:
            packed = struct.pack("<H", self.kind) + self.layout.pack(*values)
        except struct.error:
            raise BadMessage(f"{self} holds a number that its field cannot hold.") from None
        return packed.ljust(SIZE, b"\0")


@dataclass(frozen=True)
class Ack(Message):
    """The server has taken the last message."""

    kind: ClassVar[int] = 1
    layout: ClassVar[struct.Struct] = struct.Struct("<")


@dataclass(frozen=True)
class Hello(Message):
    """What the server can do; its first words."""

    name: str = ""
    min_version: int = VERSION
    max_version: int = VERSION
    max_region: int = 0
    max_m2s_ring: int = 0
    max_s2m_ring: int = 0
    max_log2_ring_size: int = 0

    kind: ClassVar[int] = 2
    layout: ClassVar[struct.Struct] = struct.Struct("<32sHHHHHB")


@dataclass(frozen=True)
class Init(Message):
    """Which interface the client wants, and with which secret."""

    version: int = VERSION
    id: int = 0
    mode: int = ETHERNET
    secret: bytes = b""
    name: str = ""

    kind: ClassVar[int] = 3
    layout: ClassVar[struct.Struct] = struct.Struct("<HIB24s32s")


@dataclass(frozen=True)
class AddRegion(Message):
    """A region of shared memory; its file descriptor comes along."""

    index: int = 0
    size: int = 0

    kind: ClassVar[int] = 4
    layout: ClassVar[struct.Struct] = struct.Struct("<HQ")
    descriptors: ClassVar[int] = 1


@dataclass(frozen=True)
class AddRing(Message):
    """Where a ring lies; the eventfd of its doorbell comes along."""

    flags: int = 0
    index: int = 0
    region: int = 0
    offset: int = 0
    log2_size: int = 0
    private_header: int = 0

    kind: ClassVar[int] = 5
    layout: ClassVar[struct.Struct] = struct.Struct("<HHHIBH")
    descriptors: ClassVar[int] = 1

    @property
    def is_s2m(self) -> bool:
        """Whether the client sends on this ring."""
        return bool(self.flags & S2M)


@dataclass(frozen=True)
class Connect(Message):
    """All is laid out: the client asks to begin."""

    interface: str = ""

    kind: ClassVar[int] = 6
    layout: ClassVar[struct.Struct] = struct.Struct("<32s")


@dataclass(frozen=True)
class Connected(Message):
    """The server has mapped everything: packets may flow."""

    interface: str = ""

    kind: ClassVar[int] = 7
    layout: ClassVar[struct.Struct] = struct.Struct("<32s")


@dataclass(frozen=True)
class Disconnect(Message):
    """Either side ends the link and says why."""

    code: int = 0
    reason: str = ""

    kind: ClassVar[int] = 8
    layout: ClassVar[struct.Struct] = struct.Struct("<I96s")


KINDS: dict[int, type[Message]] = {
    each.kind: each for each in (Ack, Hello, Init, AddRegion, AddRing, Connect, Connected, Disconnect)
}


def unpack(data: bytes) -> Message:
    """Return the message in `data`.

    Raises
    ------
    BadMessage
        `data` is no message: too short or long, of an unknown type, or with a string that does not end.
    """
    if len(data) != SIZE:
        raise BadMessage(
            f"The peer sent a message of {len(data)} bytes; memif's have {SIZE}.", reason="bad message size"
        )
    (kind,) = struct.unpack_from("<H", data)
    if (cls := KINDS.get(kind)) is None:
        raise BadMessage(f"The peer sent a message of unknown type {kind}.", reason="unknown message type")
    values = cls.layout.unpack_from(data, 2)
    taken = [
        _text(cls, name, value) if isinstance(value, bytes) else value
        for name, value in zip(_names(cls), values, strict=True)
    ]
    return cls(*taken)


def clip(text: str, size: int) -> str:
    """Return `text` cut so that it fits a string field of `size` bytes, zero included."""
    return text.replace("\0", " ").encode("utf-8", "replace")[: size - 1].decode("utf-8", "ignore")


def printable(text: str) -> str:
    """Return a peer's text without what would move the reader's cursor."""
    return "".join(each if each.isprintable() else "?" for each in text)


def _names(cls: type[Message]) -> list[str]:
    return [each.name for each in fields(cls)]  # type: ignore[arg-type] # every subclass is a dataclass


def _sizes(cls: type[Message]) -> list[int]:
    """Return the bytes of each string field, 0 for a number."""
    blank = cls.layout.unpack(bytes(cls.layout.size))
    return [len(each) if isinstance(each, bytes) else 0 for each in blank]


def _string(cls: type[Message], name: str, value: str | bytes, size: int) -> bytes:
    data = value.encode("utf-8") if isinstance(value, str) else value
    if len(data) >= size or b"\0" in data:
        raise BadMessage(
            f"The {name} of {cls.__name__} cannot be {value!r}.",
            f"use at most {size - 1} bytes, and no zero byte.",
        )
    return data


def _text(cls: type[Message], name: str, value: bytes) -> str | bytes:
    text, end, _ = value.partition(b"\0")
    if not end:
        raise BadMessage(
            f"The peer sent {cls.__name__.upper()} with a {name} that does not end.",
            reason=f"unterminated {name}",
        )
    return text if name == "secret" else text.decode("utf-8", "replace")
