"""The binary API's door: VPP's messages over a unix socket, as papi speaks them."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.doors.api_codec import Codec
from labs.glassbox.doors.api_messages import CALLS
from labs.glassbox.doors.api_session import OWN, ApiRefusal, ApiSession
from labs.glassbox.doors.door import Door

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["ApiDoor", "ApiRefusal"]


class ApiDoor(Door):
    """Takes messages and answers them.

    Clients are told of those messages only that have a handler here, and of those by which they come
    and go. For them, no other exists.

    Parameters
    ----------
    path : str or Path
        The socket.
    handlers : mapping of str to callable
        A request's name -> what is called with its fields. It returns the reply's fields, or None for
        none; for a ``_dump`` a list of the details' fields. What it leaves out is zero. It refuses by
        raising `ApiRefusal`.

    Raises
    ------
    LabError
        The socket cannot be listened on.
    ValueError
        A handler is for a message that `api_messages` does not define.
    """

    def __init__(self, path: str | Path, handlers: Mapping[str, Callable[..., Any]]) -> None:
        unknown = sorted(set(handlers) - set(CALLS))
        if unknown:
            raise ValueError(f"these messages are not defined: {', '.join(unknown)}")
        self._handlers = dict(handlers)
        self._codec = Codec({*handlers, *OWN})
        self._arrived = 0
        super().__init__(path, socket.SOCK_STREAM)

    def admit(self, sock: socket.socket) -> ApiSession:
        """Return a session for a client that has come in."""
        self._arrived += 1
        return ApiSession(sock, self._codec, self._handlers, self._arrived)

    def publish(self, event: str, **fields: Any) -> None:  # noqa: ANN401 - as the message defines them
        """Tell the clients that want to know, as of ``sw_interface_event``.

        It is called from the loop's own thread, as from inside a handler.

        Raises
        ------
        LabError
            There is no such event.
        """
        if event not in self._codec.numbers:
            raise LabError(f"The glass box knows no event {event!r}.", "see the module api_messages.")
        for descriptor, session in list(self._connections.items()):
            if isinstance(session, ApiSession):
                session.tell(event, fields)
                session.flush()
                self._settle(descriptor, session)
