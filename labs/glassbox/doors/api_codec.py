"""Messages to bytes and back, by the same code that clients use: vpp_papi's own."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

from vpp_papi.vpp_papi import VPPApiJSONFiles
from vpp_papi.vpp_serializer import FixedList, VLAList, VPPType

from labs.glassbox.doors.api_messages import MODULES
from labs.glassbox.doors.api_messages_core import SOCKCLNT_CREATE, SOCKCLNT_CREATE_REPLY

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

_FIRST_NUMBER = 100
_HEADER = ("_vl_msg_id", "client_index", "context")
_CONTEXT_AT = {"sockclnt_create": 2}
_USUAL_CONTEXT_AT = 6
_STUMBLES = (struct.error, ValueError, TypeError, LookupError, ArithmeticError, AttributeError)


class MalformedError(Exception):
    """These bytes are no message."""


class ValueRefusedError(Exception):
    """A message is well formed, but a value in it makes no sense."""


class Codec:
    """The messages that are served, their numbers, and their bytes.

    Parameters
    ----------
    served : container of str
        Names of requests.

    Attributes
    ----------
    definitions : str
        What clients learn from, as JSON.
    numbers : dict of str to int
        Name -> number of a message.
    table : list of dict
        The names with checksums, and numbers, that a client is given when it comes.
    first_numbers : dict of str to int
        A module's name with its checksum -> its first number.
    versions : list of dict
        Of the modules.
    """

    def __init__(self, served: Container[str]) -> None:
        modules = [module.definition(served) for module in MODULES]
        self.definitions = json.dumps(modules)
        self._messages, _ = VPPApiJSONFiles.process_json_array_str(self.definitions)
        self.numbers: dict[str, int] = {}
        self.first_numbers: dict[str, int] = {}
        number = _FIRST_NUMBER
        keys: dict[str, str] = {}
        for module in MODULES:
            self.first_numbers[f"{module.name}_{module.crc:08x}"] = number
            for message in (m for call in module.calls for m in call.messages):
                if message.name in self._messages:
                    self.numbers[message.name] = number
                    keys[message.name] = message.key
                    number += 1
        # Clients use these two before they have the table.
        self.numbers["sockclnt_create"] = SOCKCLNT_CREATE
        self.numbers["sockclnt_create_reply"] = SOCKCLNT_CREATE_REPLY
        self.versions = [
            dict(zip(("major", "minor", "patch"), map(int, module.version.split(".")), strict=True))
            | {"name": f"{module.name}.api"}
            for module in MODULES
        ]
        self._names = {number: name for name, number in self.numbers.items()}
        self.table = [{"index": self.numbers[name], "name": key} for name, key in keys.items()]

    def name_of(self, data: bytes) -> str:
        """Return the name of a message.

        Raises
        ------
        MalformedError
            It has no number that was given out.
        """
        name = self._names.get(int.from_bytes(data[:2], "big"))
        if name is None or len(data) < len("id") + 4:
            raise MalformedError
        return name

    def context_of(self, name: str, data: bytes) -> int:
        """Return the number by which a client knows what is answered."""
        at = _CONTEXT_AT.get(name, _USUAL_CONTEXT_AT)
        return int.from_bytes(data[at : at + 4], "big")

    def unpack(self, name: str, data: bytes) -> dict[str, Any]:
        """Return a message's own fields: addresses as `ipaddress` objects, the rest as papi has them.

        Raises
        ------
        MalformedError
            The bytes are not as many as the message needs, or not the right ones.
        ValueRefusedError
            They are, but a value in them cannot be.
        """
        message = self._messages[name]
        try:
            # First without conversions: papi's own state is not right again after an error in one.
            _, size = message.unpack(data, ntc=True)
        except _STUMBLES:
            raise MalformedError from None
        # papi counts no length for an empty string at the end.
        if size != len(data) and data[size:] != bytes(4):
            raise MalformedError
        try:
            values, _ = message.unpack(data)
        except _STUMBLES:
            raise ValueRefusedError from None
        if _holds_nothing(values):
            raise ValueRefusedError
        # A named tuple of papi's does not have the names that begin with an underscore.
        pairs = zip(message.fields, values, strict=True)
        return {key: value for key, value in pairs if key not in _HEADER}

    def pack(self, name: str, fields: Mapping[str, Any]) -> bytes:
        """Return a message's bytes; fields that are not given are zero.

        Raises
        ------
        ValueError
            A field has no such value.
        """
        message = self._messages[name]
        whole = _completed(message, {**fields, "_vl_msg_id": self.numbers[name]})
        unknown = set(whole) - set(message.fields)
        if unknown:
            raise ValueError(f"{name} has no {', '.join(sorted(unknown))}")
        return bytes(message.pack(whole))


def _completed(kind: Any, fields: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - papi is untyped
    """Return fields as papi can pack them: lengths counted, arrays filled, text in ASCII."""
    whole = {key: _plain(value) for key, value in fields.items()}
    for name, packer in zip(kind.fields, kind.packers, strict=True):
        value = whole.get(name)
        if isinstance(packer, VPPType):
            whole[name] = _completed_if_mapping(packer, value)
        elif isinstance(packer, VLAList | FixedList):
            inner = packer.packer
            values = list(value or ())
            if isinstance(packer, VLAList):
                whole[packer.length_field] = len(values)
            else:
                filler: Any = {} if isinstance(inner, VPPType) else 0
                values += [filler] * (packer.num - len(values))
            if isinstance(inner, VPPType):
                values = [_completed_if_mapping(inner, each) for each in values]
            whole[name] = values
    return whole


def _completed_if_mapping(kind: Any, value: Any) -> Any:  # noqa: ANN401 - papi is untyped
    return _completed(kind, value or {}) if value is None or isinstance(value, dict) else value


def _holds_nothing(value: Any) -> bool:  # noqa: ANN401 - papi is untyped
    """Return whether papi could not make sense of a part: an address is of a family that is none."""
    return value is None or (isinstance(value, tuple | list) and any(map(_holds_nothing, value)))


def _plain(value: Any) -> Any:  # noqa: ANN401 - as the message defines it
    return value.encode("ascii", errors="replace").decode() if isinstance(value, str) else value
