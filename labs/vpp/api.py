"""VPP's binary API from Python: every message a method, safe from any thread."""

from __future__ import annotations

import difflib
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs.errors import LabError, NodeDied, NotAvailable
from labs.vpp.api_client import TIMEOUT, Client, failure_of, fields_of, hang_up, open_client
from labs.vpp.api_errors import EAGAIN, ApiError
from labs.vpp.sockets import DoorError

if TYPE_CHECKING:
    from collections.abc import Callable

_POLL = 0.02
_NOT_YET = ("absent", "dead", "busy", "vanished")


class UnknownMessage(NotAvailable, AttributeError):  # noqa: N818 - reads as what it says
    """An API message that this VPP does not have."""


class Api:
    """A client of VPP's API socket (``socksvr { socket-name PATH }``).

    Every message of VPP is a method: ``api.show_version()``, ``api.sw_interface_dump()``. The
    definitions come from the VPP itself, so they fit its version and the plugins it has loaded.

    Parameters
    ----------
    path : str or Path
        The socket.
    name : str
        What VPP shall call this client.
    """

    def __init__(self, path: str | Path, name: str = "labs") -> None:
        self.path = Path(path)
        self.name = name
        self._lock = threading.Lock()
        self._client: Client | None = None

    def connect(self, deadline: float = TIMEOUT, alive: Callable[[], bool | None] | None = None) -> None:
        """Connect as soon as VPP answers a call; do nothing if connected.

        Parameters
        ----------
        deadline : float
            Seconds from now until VPP must have answered.
        alive : callable, optional
            Called at each try; False means that the process has ended. It may raise an error of its own.

        Raises
        ------
        NodeDied
            `alive` says that VPP has ended.
        DoorError
            VPP does not answer in time, or the socket may not be opened.
        """
        end = time.monotonic() + deadline
        with self._lock:
            while self._client is None:
                if alive is not None and alive() is False:
                    raise NodeDied(
                        "VPP ended before it answered on its API socket.",
                        "look at the last lines of its log.",
                    )
                left = end - time.monotonic()
                try:
                    self._client = open_client(self.path, self.name, max(left, _POLL))
                except DoorError as error:
                    if left <= 0 or error.fault not in _NOT_YET:
                        raise
                    time.sleep(_POLL)

    @property
    def is_connected(self) -> bool:
        """Whether a connection was made and not closed; VPP may have died since."""
        return self._client is not None

    @property
    def version(self) -> str:
        """VPP's version, as ``26.06-release``."""
        return str(self.call("show_version").version)

    def close(self) -> None:
        """Disconnect; `connect` may be called again."""
        with self._lock:
            client, self._client = self._client, None
            if client is not None:
                hang_up(client)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        with self._lock:
            fields = fields_of(self._knowing(name), name)

        def call(*args: object, **kwargs: object) -> Any:  # noqa: ANN401 - a reply is whatever VPP defines
            if args:
                raise LabError(f"The arguments of {name} need names.", _arguments_hint(fields))
            return self.call(name, **kwargs)

        call.__name__ = name
        call.__doc__ = f"{name}({', '.join(fields)})"
        return call

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(self.messages() if self.is_connected else ())]

    def messages(self) -> list[str]:
        """Return the names of the messages this VPP takes."""
        with self._lock:
            return _messages(self._learned())

    def call(self, name: str, /, **kwargs: Any) -> Any:  # noqa: ANN401 - as VPP defines the message
        """Send one message and return its reply, or the list of its details.

        Raises
        ------
        ApiError
            VPP's return value is negative.
        UnknownMessage
            This VPP has no such message.
        LabError
            An argument has a wrong name or type.
        DoorError
            VPP does not answer, or is gone.
        """
        details: list[Any] = []
        while True:
            reply = self.reply_to(name, **kwargs)
            if isinstance(reply, list):
                return reply
            # papi returns (reply, details), a plain tuple, where a reply alone is a named one
            last, more = reply if type(reply) is tuple else (reply, None)
            details += more or []
            retval = getattr(last, "retval", 0)
            if more is not None and retval == EAGAIN:
                kwargs["cursor"] = last.cursor
                continue
            if retval < 0:
                raise ApiError(name, retval)
            return last if more is None else details

    def reply_to(self, name: str, /, **kwargs: Any) -> Any:  # noqa: ANN401 - as VPP defines the message
        """Send one message and return what papi returns, whatever its return value says."""
        with self._lock:
            client = self._knowing(name)
            fields = fields_of(client, name)
            unknown = sorted(set(kwargs) - set(fields) - {"_timeout"})
            if unknown:
                raise LabError(f"{name} has no argument {', '.join(unknown)}.", _arguments_hint(fields))
            try:
                return getattr(client.api, name)(**kwargs)
            except OSError:
                raise failure_of(client, self.path) from None
            except (ValueError, TypeError) as error:
                raise LabError(
                    f"An argument of {name} has a value VPP cannot take: {error.__cause__ or error}.",
                    _arguments_hint(fields),
                ) from None

    def _connected(self) -> Client:
        if self._client is None:
            raise LabError(
                f"The API client of {self.path} is not connected.", "start the node, or call connect() first."
            )
        return self._client

    def _learned(self) -> Client:
        """Return the client, once it knows all of VPP's messages."""
        client = self._connected()
        try:
            client.learn()
        except (OSError, client.VPPApiError):
            raise failure_of(client, self.path) from None
        return client

    def _knowing(self, name: str) -> Client:
        """Return the client, once it knows the message `name`."""
        client = self._connected()
        if not hasattr(client.api, name) and not hasattr(self._learned().api, name):
            near = difflib.get_close_matches(name, _messages(client), n=3)
            close = f"close to it: {', '.join(near)}; " if near else ""
            raise UnknownMessage(
                f"VPP {_version(client)} has no API message {name!r}.",
                f"{close}a message of a plugin exists only when the plugin is loaded.",
            )
        return client


def _messages(client: Client) -> list[str]:
    return [name for name in vars(client.api) if not name.endswith("_pack")]


def _version(client: Client) -> str:
    try:
        return str(client.api.show_version().version)
    except (OSError, AttributeError):
        return "of unknown version"


def _arguments_hint(fields: dict[str, str]) -> str:
    if not fields:
        return "this message takes no arguments."
    return "its arguments are " + ", ".join(f"{name} ({kind})" for name, kind in fields.items()) + "."
