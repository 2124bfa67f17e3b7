"""papi's client, made to fit: quick to connect, bounded in time, and clear about why it fails."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any

from vpp_papi import VPPApiClient

from labs.vpp.sockets import explain, knock, timed_out, vanished

if TYPE_CHECKING:
    from pathlib import Path

DOOR = "API"
TIMEOUT = 10.0
_GOODBYE = 0.5  # seconds to wait for a VPP's answer when leaving: it may be dead or stopped
_LAST_MOMENT = 0.1  # seconds that papi's reading thread may take to end when VPP has hung up

# papi's table of types belongs to the process, and clients fill it as they learn definitions.
_learning = threading.Lock()


class Client(VPPApiClient):  # type: ignore[misc]  # papi is untyped
    """A papi client that asks VPP for its API's definitions when they are first needed.

    papi asks for them while it connects. That takes a fifth of a second of parsing, which a lab that
    starts does not need: the few messages that papi brings along suffice to see that VPP answers.
    """

    has_definitions = False

    def get_api_definitions(self) -> None:
        """Learn nothing yet; papi calls this while it connects."""

    def learn(self) -> None:
        """Get the definitions from VPP: they fit its version and the plugins it has loaded."""
        if not self.has_definitions:
            with _learning:
                super().get_api_definitions()
                self._register_functions()
            self.has_definitions = True


def open_client(path: Path, name: str, timeout: float) -> Client:
    """Return a connected client whose VPP has answered a call.

    Parameters
    ----------
    path : Path
        The API socket.
    name : str
        What VPP shall call the client.
    timeout : float
        Seconds for each of VPP's answers.

    Raises
    ------
    DoorError
        The socket does not open, or VPP does not answer on it.
    """
    knock(path, DOOR, socket.SOCK_STREAM)
    with _learning:
        client = Client(bootstrapapi=True, use_socket=True, server_address=str(path), read_timeout=timeout)
    try:
        client.connect(name)
        client.api.control_ping()
    except (client.VPPIOError, client.transport.VppTransportSocketIOError):
        failure = failure_of(client, path)
        hang_up(client)
        raise failure from None
    except OSError as error:
        hang_up(client)
        raise explain(error, path, DOOR) from None
    except (AttributeError, TypeError, ValueError, client.VPPApiError):
        hang_up(client)
        raise vanished(path, DOOR) from None  # papi tries to unpack the nothing that a closed socket gives
    client.transport.read_timeout = TIMEOUT
    return client


def failure_of(client: Client, path: Path) -> Exception:
    """Return the error for a call that got no answer.

    papi raises the same for silence and for a closed connection, but its reading thread ends with
    the latter.
    """
    thread = client.transport.message_thread
    if thread is not None and thread.ident is not None:  # else VPP hung up before papi began to read
        thread.join(_LAST_MOMENT)
    is_gone = thread is None or not thread.is_alive()
    return (vanished if is_gone else timed_out)(path, DOOR)


def hang_up(client: Client) -> None:
    """Disconnect, without waiting long for a VPP that is dead or stopped."""
    client.transport.read_timeout = _GOODBYE
    try:
        client.disconnect()
    except (OSError, AttributeError, TypeError, ValueError, client.VPPApiError):
        client.transport.connected = False  # so that papi does not try again when Python ends
    thread = client.transport.message_thread
    if thread is None or not thread.is_alive():
        # Their pipes and feeder threads would else stay until Python next collects its garbage.
        client.transport.sque.close()
        client.transport.q.close()


def fields_of(client: Client, name: str) -> dict[str, str]:
    """Return a message's arguments: name -> type in VPP's words."""
    message: Any = client.messages.get(name)
    if message is None:
        return {}
    pairs = zip(message.fields, message.fieldtypes, strict=True)
    return {field: kind for field, kind in pairs if field not in ("_vl_msg_id", "client_index", "context")}
