"""One client at the API's door: its messages in, their answers out."""

from __future__ import annotations

import logging
import os
import struct
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.doors.api_codec import Codec, MalformedError, ValueRefusedError
from labs.glassbox.doors.api_messages import CALLS
from labs.glassbox.doors.connection import Connection

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

OWN = (
    "sockclnt_create",
    "sockclnt_delete",
    "control_ping",
    "get_first_msg_id",
    "get_api_json",
    "api_versions",
    "memclnt_keepalive",
    "want_interface_events",
)
"""The requests that a session answers by itself."""

UNSPECIFIED, INVALID_VALUE, INVALID_REGISTRATION = -1, -7, -31  # src/vnet/error.h

_FRAME = struct.Struct(">QII")  # what stands before each message: nothing, its length, nothing
_LONGEST = 1 << 20

_log = logging.getLogger(__name__)


class ApiRefusal(LabError):  # noqa: N818 - it is no fault
    """A handler raises it to refuse a request.

    Parameters
    ----------
    retval : int
        VPP's number for the reason (src/vnet/error.h); negative.
    message : str
        Why, for the log.
    """

    def __init__(self, retval: int, message: str = "") -> None:
        super().__init__(message or f"The request was refused with {retval}.")
        self.retval = retval


class ApiSession(Connection):
    """Messages in, answers out, in order.

    Parameters
    ----------
    sock : socket.socket
        The client.
    codec : Codec
    handlers : mapping of str to callable
        As for `ApiDoor`.
    index : int
        What the client is to be called.
    """

    def __init__(
        self, sock: socket.socket, codec: Codec, handlers: Mapping[str, Callable[..., Any]], index: int
    ) -> None:
        super().__init__(sock)
        self._codec = codec
        self._handlers = handlers
        self._index = index
        self._input = bytearray()
        self._is_known = False
        self._is_leaving = False
        self._listener: int | None = None

    def take(self, data: bytes) -> None:
        """Keep what makes up the next messages."""
        self._input += data

    def has_work(self) -> bool:
        """Return whether a message is complete, or never will be."""
        length = self._next_length()
        return length is not None and (length > _LONGEST or len(self._input) >= _FRAME.size + length)

    def work(self) -> None:
        """Answer one message. A client that sends what is none is sent away."""
        length = self._next_length() or 0
        if length > _LONGEST:
            self.drop()
            return
        data = bytes(self._input[_FRAME.size : _FRAME.size + length])
        del self._input[: _FRAME.size + length]
        try:
            name = self._codec.name_of(data)
            if name not in CALLS or not (self._is_known or name == "sockclnt_create"):
                raise MalformedError  # noqa: TRY301 - as if it had no such number
            self._answer(name, self._codec.context_of(name, data), data)
        except MalformedError:
            self.drop()
        if self._is_leaving:
            self.end()

    def tell(self, event: str, fields: Mapping[str, Any]) -> None:
        """Send an event, if the client has asked for such; not if it reads too slowly."""
        if self._listener is not None and not self.is_congested:
            self._send(event, {**fields, "client_index": self._index, "pid": self._listener})

    def _next_length(self) -> int | None:
        if len(self._input) < _FRAME.size:
            return None
        length: int = _FRAME.unpack_from(self._input)[1]
        return length

    def _answer(self, name: str, context: int, data: bytes) -> None:
        call = CALLS[name]
        retval = 0
        outcome: Any = None
        try:
            fields = self._codec.unpack(name, data)
            own = getattr(self, f"_{name}", None) if name in OWN else None
            outcome = (own or self._handlers[name])(**fields)
            answers = self._replies(call.is_stream, outcome, context)
            packed = [self._codec.pack(call.reply.name, answer) for answer in answers]
        except MalformedError:
            raise
        except ValueRefusedError:
            retval = INVALID_VALUE
        except ApiRefusal as refusal:
            retval = refusal.retval
        except Exception:  # noqa: BLE001 - a fault of one request must not stop the data plane
            _log.exception("the request %s failed", name)
            retval = UNSPECIFIED
        if not retval:
            for each in packed:
                self._frame(each)
        elif not call.is_stream:
            self._send(call.reply.name, {"context": context, "retval": retval})

    @staticmethod
    def _replies(is_stream: bool, outcome: Any, context: int) -> list[dict[str, Any]]:  # noqa: ANN401, FBT001 - a handler's
        replies = (outcome or []) if is_stream else [outcome or {}]
        return [{**reply, "context": context} for reply in replies]

    def _send(self, name: str, fields: Mapping[str, Any]) -> None:
        self._frame(self._codec.pack(name, fields))

    def _frame(self, message: bytes) -> None:
        self.send(_FRAME.pack(0, len(message), 0) + message)

    # What every server of the API answers, whatever is behind it.

    def _sockclnt_create(self, name: str) -> dict[str, Any]:
        _log.debug("API client %d is %s", self._index, name)
        self._is_known = True
        return {"index": self._index, "message_table": self._codec.table}

    def _sockclnt_delete(self, index: int) -> dict[str, Any]:
        if index != self._index:
            return {"response": INVALID_REGISTRATION}
        self._is_leaving = True
        return {"response": 0}

    def _control_ping(self) -> dict[str, Any]:
        return {"client_index": self._index, "vpe_pid": os.getpid()}

    def _get_first_msg_id(self, name: str) -> dict[str, Any]:
        number = self._codec.first_numbers.get(name)
        return {"retval": INVALID_VALUE} if number is None else {"first_msg_id": number}

    def _get_api_json(self) -> dict[str, Any]:
        return {"json": self._codec.definitions}

    def _api_versions(self) -> dict[str, Any]:
        return {"api_versions": self._codec.versions}

    def _memclnt_keepalive(self) -> dict[str, Any]:
        return {}

    def _want_interface_events(self, enable_disable: int, pid: int) -> dict[str, Any]:
        self._listener = pid if enable_disable else None
        return {}
