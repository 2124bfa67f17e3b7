"""A short way to write down messages of VPP's binary API, and the long one that its clients want.

Fields are written ``type name``, parted by commas: ``string name[64]``, ``u32 count, thing things[count]``,
``bool is_add = true``. A type that is not one of the basic ones is VPP's ``vl_api_NAME_t``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container

PLAIN_REPLY = 0xE8D4E804
"""The checksum of every reply that holds a return value and nothing else."""

_BASIC = frozenset(("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f64", "bool", "string"))
_FIELD = re.compile(r"(?P<type>\w+) (?P<name>\w+)(?:\[(?P<length>\w*)\])?(?: = (?P<default>\w+))?")
_ID = "u16 _vl_msg_id"
_REQUEST = f"{_ID}, u32 client_index, u32 context"
_REPLY = f"{_ID}, u32 context, i32 retval"
_DETAILS = f"{_ID}, u32 context"


@dataclass(frozen=True)
class Message:
    """A message: its name, the checksum of its definition, and all its fields."""

    name: str
    crc: int
    fields: str

    @property
    def key(self) -> str:
        """Return the name by which clients and server agree on a message."""
        return f"{self.name}_{self.crc:08x}"

    def definition(self) -> list[Any]:
        """Return the message as VPP's JSON has it."""
        return [self.name, *_definitions(self.fields), {"crc": f"0x{self.crc:08x}"}]


@dataclass(frozen=True)
class Call:
    """What a client may ask, what it is answered, and what it may be told later."""

    request: Message
    reply: Message
    is_stream: bool = False
    events: tuple[Message, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages of the call."""
        return (self.request, self.reply, *self.events)

    def service(self) -> dict[str, Any]:
        """Return the call as VPP's JSON has it."""
        service: dict[str, Any] = {"reply": self.reply.name}
        if self.is_stream:
            service["stream"] = True
        if self.events:
            service["events"] = [event.name for event in self.events]
        return service


@dataclass(frozen=True)
class Module:
    """The messages and types of one of VPP's .api files, or some of them.

    Attributes
    ----------
    name, version, crc
        Of the file.
    calls : tuple of Call
    types, unions : dict of str to str
        Name to fields.
    enums : dict of str to (str, dict)
        Name to basic type and values.
    aliases : dict of str to str
        Name to one type, as ``u8[6]``.
    """

    name: str
    version: str
    crc: int
    calls: tuple[Call, ...] = ()
    types: dict[str, str] = field(default_factory=dict)
    unions: dict[str, str] = field(default_factory=dict)
    enums: dict[str, tuple[str, dict[str, int]]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def definition(self, served: Container[str]) -> dict[str, Any]:
        """Return the module as VPP's JSON has it, with those calls whose requests are `served`."""
        calls = [call for call in self.calls if call.request.name in served]
        return {
            "module": self.name,
            "vl_api_version": f"0x{self.crc:08x}",
            "options": {"version": self.version},
            "enums": [
                [name, *map(list, values.items()), {"enumtype": kind}]
                for name, (kind, values) in self.enums.items()
            ],
            "enumflags": [],
            "unions": [[name, *_definitions(fields)] for name, fields in self.unions.items()],
            "types": [[name, *_definitions(fields)] for name, fields in self.types.items()],
            "aliases": {name: _alias(kind) for name, kind in self.aliases.items()},
            "messages": [message.definition() for call in calls for message in call.messages],
            "services": {call.request.name: call.service() for call in calls},
            "imports": [],
            "counters": [],
            "paths": [],
        }


def call(name: str, crc: int, fields: str = "", reply_fields: str = "", reply_crc: int = PLAIN_REPLY) -> Call:
    """Return a call with one reply, which begins with a return value."""
    return Call(
        Message(name, crc, _joined(_REQUEST, fields)),
        Message(f"{name}_reply", reply_crc, _joined(_REPLY, reply_fields)),
    )


def dump(name: str, crc: int, fields: str, details: str, details_crc: int, details_fields: str) -> Call:
    """Return a call that is answered by any number of details."""
    return Call(
        Message(name, crc, _joined(_REQUEST, fields)),
        Message(details, details_crc, _joined(_DETAILS, details_fields)),
        is_stream=True,
    )


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _definitions(fields: str) -> list[list[Any]]:
    return [_definition(text.strip()) for text in fields.split(",") if text.strip()]


def _definition(text: str) -> list[Any]:
    """Return one field as VPP's JSON has it."""
    match = _FIELD.fullmatch(text)
    if match is None:
        raise ValueError(f"not a field: {text!r}")
    made: list[Any] = [_type(match["type"]), match["name"]]
    length = match["length"]
    if length is not None:
        made += [int(length)] if length.isdigit() else [0, length] if length else [0]
    if match["default"] is not None:
        default = match["default"]
        made.append({"default": int(default, 0) if default[0].isdigit() else default})
    return made


def _alias(kind: str) -> dict[str, Any]:
    name, _, length = kind.removesuffix("]").partition("[")
    return {"type": _type(name)} | ({"length": int(length)} if length else {})


def _type(name: str) -> str:
    return name if name in _BASIC else f"vl_api_{name}_t"
