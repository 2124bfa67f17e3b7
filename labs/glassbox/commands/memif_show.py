"""show memif: the layout of VPP 26.06's src/plugins/memif/cli.c."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.glassbox.commands.command import command
from labs.glassbox.commands.words import interface

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words
    from labs.glassbox.interfaces import Interface
    from labs.glassbox.memif_queues import Memif
    from labs.memif.connection import Connection
    from labs.memif.queue import Queue


@command("show memif", help="show memif [<interface>] [descriptors]")
def show_memif(box: Box, words: Words) -> str:
    """Print the sockets, and of each memif interface its state, its memory and its rings."""
    chosen: list[Interface] = []
    wants_descriptors = False
    while not words.is_over:
        if words.take("descriptors"):
            wants_descriptors = True
        elif (found := words.read(interface(box.interfaces))) is not None:
            chosen.append(found)
        else:
            raise words.unknown()
    text = f"sockets\n  {'id':<3} {'listener':<11} filename\n"
    for number, name in sorted(box.memifs.sockets.items()):
        text += f"  {number:<3} {_listener(box, number):<11} {name}\n"
    text += "\n"
    for memif in box.memifs.by_index.values():
        if not chosen or memif.interface in chosen:
            text += _interface(memif, wants_descriptors=wants_descriptors)
    return text


def _listener(box: Box, socket_id: int) -> str:
    users = [each for each in box.memifs.by_index.values() if each.socket_id == socket_id]
    return f"yes ({len(users)})" if users and users[0].role == "master" else "no"


def _interface(memif: Memif, *, wants_descriptors: bool) -> str:
    link: Any = memif.link
    connection: Connection | None = link._connection  # noqa: SLF001 - it may be gone at any moment, and that is no error
    lines = [f"interface {memif.interface.name}"]
    if connection:
        lines += [
            f'  remote-name "{connection.peer_name}"',
            f'  remote-interface "{connection.peer_interface}"',
        ]
    lines += [
        f"  socket-id {memif.socket_id} id {memif.id} mode {'ip' if memif.is_ip else 'ethernet'}",
        f"  flags{_flags(memif, is_connected=connection is not None)}",
        f"  listener-fd {_listening(link)} conn-fd {_descriptor(connection)}",
        _counts(memif, connection),
    ]
    local, remote = link.reasons
    lines += [f'  local-disc-reason "{local}"'] if local else []
    lines += [f'  remote-disc-reason "{remote}"'] if remote else []
    if connection:
        for region in connection.regions:
            lines.append(f"  region {region.index} size {region.size} fd {getattr(region, 'descriptor', -1)}")
        for queues in (connection.tx, connection.rx):
            for number, queue in enumerate(queues):
                lines += _ring(number, queue)
                lines += _descriptors(queue, connection) if wants_descriptors else []
    return "\n".join(lines) + "\n"


def _flags(memif: Memif, *, is_connected: bool) -> str:
    flags = {
        "admin-up": memif.interface.is_up,
        "slave": memif.role == "slave",
        "connected": is_connected,
        "zero-copy": memif.is_zero_copy,
    }
    return "".join(f" {name}" for name, is_set in flags.items() if is_set)


def _listening(link: Any) -> int:  # noqa: ANN401 - a server or a client
    """Return the listening socket's file descriptor; 0 for none, as VPP prints it."""
    listener = getattr(link, "_listener", None)
    return int(listener._socket.fileno()) if listener else 0  # noqa: SLF001 - nobody else asks for it


def _descriptor(connection: Connection | None) -> int:
    """Return the control socket's file descriptor; 0 for none, as VPP prints it."""
    return max(connection.channel.fileno(), 0) if connection else 0


def _counts(memif: Memif, connection: Connection | None) -> str:
    rings = connection.rings if connection else []
    to_master = sum(ring.place.is_s2m for ring in rings)
    size = memif.settings["buffer_size"] if connection and memif.role == "slave" else 0
    return (
        f"  num-s2m-rings {to_master} num-m2s-rings {len(rings) - to_master} "
        f"buffer-size {size} num-regions {len(connection.regions) if connection else 0}"
    )


def _ring(number: int, queue: Queue) -> list[str]:
    place, ring = queue.ring.place, queue.ring
    return [
        f"    {'slave-to-master' if place.is_s2m else 'master-to-slave'} ring {number}:",
        f"      region {place.region} offset {place.offset} ring-size {ring.size} int-fd {queue.doorbell}",
        f"      head {ring.head} tail {ring.tail} flags 0x{ring.flags:04x} interrupts {queue.counters.rung}",
    ]


def _descriptors(queue: Queue, connection: Connection) -> list[str]:
    """Return the table of a ring's slots; only what names memory of this link has an address."""
    lines = [
        "    descriptor table:",
        "  id    flags region len         address         offset        user address",
        "  ===== ===== ====== ======== ================== ========== ==================",
    ]
    starts = [region.address for region in connection.regions]
    for slot, each in enumerate(queue.ring.descriptors):
        flags, region, length, offset = (int(each[name]) for name in ("flags", "region", "length", "offset"))
        start = starts[region] if region < len(starts) else 0
        lines.append(
            f"  {slot:<5} {flags:<5} {region:<6} {length:<7}  "
            f"0x{start:016x} {offset:<10} 0x{start + offset:016x}"
        )
    return [*lines, ""]
