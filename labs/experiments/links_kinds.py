"""The kinds of link that the experiment `links` compares: what makes an end of each, and what that needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.experiments import testpmd_devices as devices
from labs.experiments.kernel_link import ENDS, TAP, TAP_LINES, VETH_LINES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from labs.lab import Lab
    from labs.node import Node

RING = 1024
OURS, THEIRS = "02:fe:00:00:00:20", "02:fe:00:00:00:21"
OUR_ADDRESS, THEIR_ADDRESS = "10.20.0.1", "10.20.0.2"
SINK = "198.18.0.2/32"
"""Where testpmd's packets go: from 198.18.0.1, both set aside for measuring (RFC 2544)."""
_SOCKET_ID = 250


@dataclass(frozen=True)
class Kind:
    """A kind of link.

    Parameters
    ----------
    words : str
        What it is called.
    sender, receiver : callable
        testpmd's device at either end, for the socket's path.
    eal : tuple of str
        What else DPDK has to be told at the sender's.
    make : callable or None
        The lines that make a node's end, for what the node calls the socket; None where a node can be none.
    host : tuple of str
        The lines that make a link of the kernel's; empty for shared memory.
    """

    words: str
    sender: Callable[[Path], str]
    receiver: Callable[[Path], str]
    eal: tuple[str, ...] = ()
    make: Callable[[str], list[str]] | None = None
    host: tuple[str, ...] = ()

    @property
    def is_kernel(self) -> bool:
        """Whether the kernel carries the packets, so that both ends need its permission."""
        return bool(self.host)

    @property
    def descriptors(self) -> int | None:
        """Of testpmd's own queues; None over the kernel's links, where it takes what it is given."""
        return None if self.is_kernel else RING


def _memif(socket: str) -> list[str]:
    return [
        f"create memif socket id {_SOCKET_ID} filename {socket}",
        f"create interface memif id 0 socket-id {_SOCKET_ID} ring-size {RING} hw-addr {OURS} master",
    ]


def _vhost(socket: str) -> list[str]:
    return [f"create vhost-user socket {socket} server hwaddr {OURS}"]


KINDS = {
    "memif": Kind(
        "memif, copied",
        lambda socket: devices.memif(socket, "client", RING),
        lambda socket: devices.memif(socket, "server", RING),
        make=_memif,
    ),
    "memif-zc": Kind(
        "memif, zero-copy",
        lambda socket: devices.memif(socket, "client", RING, zero_copy=True),
        lambda socket: devices.memif(socket, "server", RING),
        # without a copy DPDK lends its own memory, and a memif takes that in one file only
        eal=("--single-file-segments",),
        make=_memif,
    ),
    "vhost": Kind(
        "vhost-user",
        lambda socket: devices.virtio_user(socket, RING, THEIRS),
        devices.vhost,
        make=_vhost,
    ),
    "veth": Kind(
        "the kernel's veth",
        lambda _: devices.af_packet(ENDS[0]),
        lambda _: devices.af_packet(ENDS[1]),
        host=VETH_LINES,
    ),
    "tap": Kind(
        "the kernel's tap",
        lambda _: devices.tap(TAP),
        lambda _: devices.af_packet(TAP),
        host=TAP_LINES,
    ),
}
"""In each but the last two, the one who sends makes the shared memory."""


def interface_of(kind: str, told: str) -> str:
    """Return the interface that a node has made, from what it said to the last line that made it."""
    return f"memif{_SOCKET_ID}/0" if KINDS[kind].make is _memif else told.rsplit(maxsplit=1)[-1]


def up(interface: str) -> list[str]:
    """Return the lines that are the same for every kind: up, an address, and a way for what comes."""
    return [
        f"set interface state {interface} up",
        f"set interface ip address {interface} {OUR_ADDRESS}/24",
        f"ip route add {SINK} via drop",
    ]


def away(kind: str, interface: str) -> list[str]:
    """Return the lines that take a node's end away again."""
    route = f"ip route del {SINK} via drop"
    if KINDS[kind].make is _memif:
        return [
            route,
            f"delete interface memif {interface}",
            f"delete memif socket id {_SOCKET_ID}",
        ]
    return [route, f"delete vhost-user {interface}"]


def refusal(kind: str, lab: Lab, node: Node) -> str:
    """Return why a node cannot be the end of a kind of link with testpmd; empty where it can."""
    if KINDS[kind].is_kernel:
        return (
            f"{node.name} has no privilege, and so no end of a veth or a tap: both need the right to make "
            "network interfaces (CAP_NET_ADMIN), and VPP's tap the device /dev/vhost-net, too."
        )
    if kind == "vhost" and "vhost" not in node.spec.plugins:
        return f"{node.name} has no vhost-user."
    if kind == "memif-zc" and lab.engine == "glassbox":
        return (
            "The glass box maps sealed memory only, which nobody can shrink under its feet, and the memory "
            "that DPDK lends is not sealed."
        )
    return ""
