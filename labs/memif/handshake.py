"""The handshake, from either side, as it reads on the wire.

::

    client                                server
      | -------- (connects) ----------------> |
      | <------- HELLO ---------------------- |
      | -------- INIT ----------------------> |   ACK
      | -------- ADD_REGION + memfd --------> |   ACK, for each region
      | -------- ADD_RING + eventfd --------> |   ACK, for each ring
      | -------- CONNECT -------------------> |
      | <------- CONNECTED ------------------ |

The client makes all the memory; the server only ever maps it. Source: VPP 26.06, plugins/memif/socket.c.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from labs.memif.connection import MAX_REGIONS, Connection, Offered
from labs.memif.doorbell import make_doorbell
from labs.memif.errors import BadMessage, MemifError
from labs.memif.layout import Layout
from labs.memif.messages import (
    MODES,
    NAME_SIZE,
    VERSION,
    Ack,
    AddRegion,
    AddRing,
    Connect,
    Connected,
    Hello,
    Init,
    Message,
    clip,
)
from labs.memif.queue import Queue
from labs.memif.regions import make_region
from labs.memif.ring import MAX_LOG2_SIZE, own_line
from labs.memif.wire import close_all, unexpected

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.memif.settings import Settings
    from labs.memif.wire import Channel

_MOST_MESSAGES = 2 * MAX_REGIONS + 2 * MAX_REGIONS


def connect(channel: Channel, settings: Settings) -> Connection:
    """Go through the client's side and return the connection.

    Raises
    ------
    MemifError
        The server refuses, is silent for too long, or does not keep to the protocol.
    """
    hello = channel.expect(Hello)
    if not hello.min_version <= VERSION <= hello.max_version:
        raise BadMessage(
            "The server speaks another version of memif.", reason="incompatible protocol version"
        )
    layout = Layout(
        queues_s2m=min(settings.queues, hello.max_s2m_ring + 1),
        queues_m2s=min(settings.queues, hello.max_m2s_ring + 1),
        log2_size=min(settings.log2_size, hello.max_log2_ring_size),
        buffer_size=settings.buffer_size,
        line=own_line(settings.line_size),
        has_buffers=settings.lends is None,
    )
    region, memory = make_region(0, layout.region_size, f"memif {settings.interface} region 0")
    regions = [region, settings.lends.region] if settings.lends else [region]
    queues: list[Queue] = []
    try:
        rings = layout.write(region)
        for number, ring in enumerate(rings):
            queue = Queue(
                ring,
                regions,
                make_doorbell(),
                is_client=True,
                table=layout.descriptors(number),
                lends=settings.buffer_size if settings.lends else 0,
            )
            queues.append(queue)
        _ask(channel, _init(settings))
        _ask(channel, AddRegion(index=0, size=region.size), memory)
        if settings.lends:
            _ask(channel, AddRegion(index=1, size=regions[1].size), settings.lends.descriptor)
        for ring, queue in zip(rings, queues, strict=True):
            _ask(channel, ring.place, queue.doorbell)
        channel.send(Connect(interface=clip(settings.interface, NAME_SIZE)))
        connected = channel.expect(Connected)
        for queue in queues:
            queue.offer_all()
    except BaseException:
        for queue in queues:
            queue.close()
        raise
    finally:
        close_all([memory])
    return Connection(
        channel,
        regions,
        rings,
        tx=[each for each in queues if each.sends],
        rx=[each for each in queues if not each.sends],
        peer_name=hello.name,
        peer_interface=connected.interface,
    )


def greet(channel: Channel, settings: Settings) -> Init:
    """Say HELLO to a client and return its INIT; both belong to the socket, not yet to an interface.

    Raises
    ------
    MemifError
        The client is silent for too long, or speaks another version.
    """
    channel.send(
        Hello(
            name=clip(settings.name, NAME_SIZE),
            max_region=MAX_REGIONS - 1,
            max_m2s_ring=settings.queues - 1,
            max_s2m_ring=settings.queues - 1,
            max_log2_ring_size=min(MAX_LOG2_SIZE, settings.log2_size),
        )
    )
    init = channel.expect(Init)
    if init.version != VERSION:
        raise BadMessage(
            f"The client speaks memif {init.version >> 8}.{init.version & 0xFF}.",
            reason="unsupported version",
        )
    return init


def admit(init: Init, settings: Settings) -> None:
    """Check that a client may have the interface it asks for.

    Raises
    ------
    MemifError
        It may not; its words are VPP's own where VPP has them.
    """
    if init.mode != MODES[settings.mode]:
        raise MemifError(f"The client wants mode {init.mode}, not {settings.mode}.", reason="mode mismatch")
    if settings.secret and not init.secret:
        raise MemifError("The client gave no secret.", reason="secret required")
    if settings.secret and not hmac.compare_digest(init.secret, settings.secret):
        raise MemifError("The client gave a wrong secret.", reason="incorrect secret")


def accept(
    channel: Channel, settings: Settings, init: Init, ready: Callable[[Connection], None]
) -> Connection:
    """Go through the server's side from the INIT on and return the connection.

    Parameters
    ----------
    ready : callable
        Takes the connection before the client hears that it stands: from then on packets may come.

    Raises
    ------
    MemifError
        The client is silent for too long, breaks the protocol, or offers memory that cannot be used.
    """
    offered = Offered(settings)
    channel.send(Ack())
    try:
        for _ in range(_MOST_MESSAGES):
            message, descriptors = channel.receive()
            if isinstance(message, AddRegion):
                offered.add_region(message, descriptors)
            elif isinstance(message, AddRing):
                offered.add_ring(message, descriptors)
            elif isinstance(message, Connect):
                connection = offered.connect(channel)
                break
            else:
                raise unexpected(message, "ADD_REGION, ADD_RING or CONNECT")
            channel.send(Ack())
        else:
            raise BadMessage("The client adds regions and rings without end.", reason="too many messages")
    finally:
        offered.drop()
    connection.peer_name, connection.peer_interface = init.name, message.interface
    ready(connection)
    channel.send(Connected(interface=clip(settings.interface, NAME_SIZE)))
    return connection


def _ask(channel: Channel, message: Message, descriptor: int = -1) -> None:
    channel.send(message, descriptor)
    channel.expect(Ack)


def _init(settings: Settings) -> Init:
    return Init(
        id=settings.id,
        mode=MODES[settings.mode],
        secret=settings.secret,
        name=clip(settings.name, NAME_SIZE),
    )
