"""Making and deleting memif interfaces and their sockets: VPP 26.06's src/plugins/memif/cli.c."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.commands.command import command
from labs.glassbox.commands.words import interface, mac, number, word

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words

_MOST_QUEUES = 255
_MOST_QUEUES_HERE = 16
_LARGEST_RING = 32768
_LONGEST_PATH = 106

_CREATE = (
    "create interface memif [id <id>] [socket-id <socket-id>] [ring-size <size>] [buffer-size <size>] "
    "[hw-addr <mac-address>] <master|slave> [rx-queues <number>] [tx-queues <number>] [mode ip] "
    "[secret <string>]"
)
_NUMBERS = {
    "id": "number",
    "socket-id": "socket_id",
    "ring-size": "ring_size",
    "buffer-size": "buffer_size",
    "rx-queues": "rx_queues",
    "tx-queues": "tx_queues",
}
_FLAGS: dict[tuple[str, ...], dict[str, Any]] = {
    ("master",): {"role": "master"},
    ("slave",): {"role": "slave"},
    ("mode", "ip"): {"is_ip": True},
    ("no-zero-copy",): {"zero_copy": False},
}


@command("create interface memif", help=_CREATE)
def create_memif(box: Box, words: Words) -> str:
    """Make a memif interface, a slave unless it is said to be a master."""
    settings: dict[str, Any] = {"number": 0, "role": "slave"}
    while not words.is_over:
        settings |= _setting(words)
    ring_size = settings.get("ring_size", 1)
    if ring_size < 1 or ring_size & (ring_size - 1):
        raise LabError("ring size must be power of 2")
    if ring_size > _LARGEST_RING:
        raise LabError(f"maximum ring size is {_LARGEST_RING}")
    for side in ("rx", "tx"):
        _check_queues(side, settings.get(f"{side}_queues", 1))
    box.add_memif(settings.pop("number"), **settings)
    return ""


@command("delete interface memif", help="delete interface memif {<interface> | sw_if_index <sw_idx>}")
def delete_memif(box: Box, words: Words) -> str:
    """Delete a memif interface; the other end hears of it."""
    if (index := words.read(number, "sw_if_index")) is not None:
        which = next((each for each in box.interfaces if each.index == index), None)
    else:
        which = words.read(interface(box.interfaces))
        if which is None:
            raise (
                LabError("please specify interface name or sw_if_index") if words.is_over else words.unknown()
            )
    words.end()
    if which is None or which.index not in box.memifs.by_index:
        raise LabError("not a memif interface")
    box.remove_interface(which)
    return ""


@command("create memif socket", help="create memif socket [id <id>] [filename <path>]")
def create_socket(box: Box, words: Words) -> str:
    """Give a number to a socket's file."""
    which, name = 0, ""
    while not words.is_over:
        if (found := words.read(number, "id")) is not None:
            which = found
        elif (path := words.read(word, "filename")) is not None:
            name = path
        else:
            raise words.unknown()
    if which == 0:
        raise LabError("Invalid socket id")
    if not name:
        raise LabError("Invalid socket filename")
    if len(str(box.folder / name)) > _LONGEST_PATH:
        raise LabError(f"File path '{box.folder / name}' too long")
    box.memifs.add_socket(which, name)
    return ""


@command("delete memif socket", help="delete memif socket [id <id>]")
def delete_socket(box: Box, words: Words) -> str:
    """Forget a socket that no interface uses."""
    which = words.read(number, "id") or 0
    words.end()
    if which == 0:
        raise LabError("Invalid socket id")
    box.memifs.remove_socket(which)
    return ""


def _setting(words: Words) -> dict[str, Any]:
    """Read one of the words that describe a new interface."""
    for name, key in _NUMBERS.items():
        if (value := words.read(number, name)) is not None:
            return {key: value}
    for names, settings in _FLAGS.items():
        if words.take(*names):
            return settings
    if (secret := words.read(word, "secret")) is not None:
        return {"secret": secret}
    if (address := words.read(mac, "hw-addr")) is not None:
        return {"mac": address}
    raise words.unknown()


def _check_queues(side: str, count: int) -> None:
    if not 1 <= count <= _MOST_QUEUES:
        raise LabError(f"{side} queue must be between 1 - {_MOST_QUEUES}")
    if count > _MOST_QUEUES_HERE:
        raise LabError(
            f"The glass box takes {_MOST_QUEUES_HERE} queues in each direction of a link, and no more.",
        )
