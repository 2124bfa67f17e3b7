"""The links that the experiment `links` compares: one peer at one end, a receiver at the other."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.experiments import testpmd
from labs.experiments.exposed import shared
from labs.experiments.method import Span
from labs.experiments.testpmd import Testpmd
from labs.experiments.throughput_window import work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from labs.lab import Lab
    from labs.node import Node

RING = 1024
KINDS = {
    "memif": "memif, copied",
    "memif-zc": "memif, zero-copy",
    "vhost": "vhost-user",
}
"""The kinds of link. The one who sends makes the shared memory, in each."""
OURS, THEIRS = "02:fe:00:00:00:20", "02:fe:00:00:00:21"
_SOCKET_ID = 250
_CONNECTS_WITHIN = 10.0
_SETTLE = 0.5
_GIGA = 1e9


@dataclass(frozen=True)
class Setting:
    """What is compared: who receives (``testpmd`` or ``node``), over which kind of link, of which size."""

    receiver: str
    kind: str
    size: int

    def __str__(self) -> str:
        who = "testpmd to testpmd" if self.receiver == "testpmd" else "testpmd to the node"
        return f"{KINDS[self.kind]}, {who}, {self.size} bytes"


@dataclass
class End:
    """The receiving end of a link that is up: how it is counted, whose process it is, what it did."""

    pid: int
    received: Callable[[], int]
    node: Node | None = None

    @property
    def also(self) -> dict[str, int]:
        """The receiver's process, where it is no node of the lab."""
        return {} if self.node else {"receiver": self.pid}


class Beds:
    """Makes links one after the other, measures each, and takes it away again.

    Parameters
    ----------
    lab : Lab
        Of one node or more, started; its first node receives where the node is to.
    token : str
        The lab's, for the reaper.
    inside : str
        What a node calls the lab's run directory.
    seconds : float
        Length of a window.
    cores : tuple of int
        The sender's core, and the receiver's.
    """

    def __init__(self, lab: Lab, token: str, inside: str, seconds: float, cores: tuple[int, int]) -> None:
        self._lab, self._token, self._inside = lab, token, inside
        self._seconds, self._cores = seconds, cores

    def window(self, setting: Setting) -> dict[str, Any]:
        """Make a link, send over it, count at both ends, and look who maps whose memory."""
        socket = self._lab.folder / f"links-{setting.kind}.sock"
        socket.unlink(missing_ok=True)  # a peer that had to be killed has left it
        receiving = self._testpmd if setting.receiver == "testpmd" else self._node
        with receiving(setting, socket) as end, self._sender(setting, socket) as sender:
            sender.do(f"set txpkts {setting.size}")
            sender.do("start")
            _wait_for_packets(end, setting)
            time.sleep(_SETTLE)
            before = end.node.stats.node_counters() if end.node else {}
            sent, received, began = sender.packets("TX"), end.received(), time.monotonic()
            with Span(self._lab, {"sender": sender.child.pid, **end.also}) as span:
                time.sleep(self._seconds)
            length = time.monotonic() - began
            rate = (end.received() - received) / length
            told = work(before, end.node.stats.node_counters()) if end.node else {}
            return {
                **vars(setting),
                "setting": str(setting),
                "sent": (sender.packets("TX") - sent) / length,
                "received": rate,
                "gbit_per_s": 8 * setting.size * rate / _GIGA,
                **told,
                "lent": [vars(each) for each in shared(sender.child.pid, end.pid)],
                "command": " ".join(sender.command),
                **span.to_dict(),
            }

    def _sender(self, setting: Setting, socket: Path) -> Testpmd:
        device = {
            "memif": lambda: testpmd.memif(socket, "client", RING),
            "memif-zc": lambda: testpmd.memif(socket, "client", RING, zero_copy=True),
            "vhost": lambda: testpmd.virtio_user(socket, RING, THEIRS),
        }[setting.kind]()
        options = (f"--eth-peer=0,{OURS}", f"--txpkts={setting.size}")
        # without a copy DPDK lends its own memory, and a memif takes that in one file only
        eal = ("--single-file-segments",) if setting.kind == "memif-zc" else ()
        return self._peer("sender", device, "txonly", self._cores[0], options, eal)

    @contextmanager
    def _testpmd(self, setting: Setting, socket: Path) -> Iterator[End]:
        device = testpmd.vhost(socket) if setting.kind == "vhost" else testpmd.memif(socket, "server", RING)
        with self._peer("receiver", device, "rxonly", self._cores[1]) as peer:
            peer.do("start")
            yield End(peer.child.pid, lambda: peer.packets("RX"))

    def _peer(
        self,
        name: str,
        device: str,
        forward: str,
        core: int,
        options: tuple[str, ...] = (),
        eal: tuple[str, ...] = (),
    ) -> Testpmd:
        place, cores = self._lab.folder, (core, core)
        return Testpmd(place, self._token, [device], forward, cores, name, RING, options, eal)

    @contextmanager
    def _node(self, setting: Setting, socket: Path) -> Iterator[End]:
        """Give the node its end of a link, with a route that drops what comes, and take it away again."""
        node = next(iter(self._lab.nodes.values()))
        make, name, unmake = self.lines(setting.kind, f"{self._inside}/{socket.name}")
        with ExitStack() as stack:
            for line in unmake:
                stack.callback(_quietly, node, line)
            for line in (*make, *rest(name)):
                node.cli(line)
            stack.callback(_quietly, node, "ip route del 198.18.0.0/15 via drop")
            yield End(node.handle.pid, lambda: node.counters()[name].rx_packets, node)

    @staticmethod
    def lines(kind: str, socket: str) -> tuple[list[str], str, list[str]]:
        """Return the lines that make a node's end of a link, the interface's name, and those that unmake it.

        The last are in the order in which an `ExitStack` is to be given them: the last first.
        """
        if kind == "vhost":
            name = "VirtualEthernet0/0/0"
            return (
                [f"create vhost-user socket {socket} server hwaddr {OURS}"],
                name,
                [f"delete vhost-user {name}"],
            )
        name = f"memif{_SOCKET_ID}/0"
        return (
            [
                f"create memif socket id {_SOCKET_ID} filename {socket}",
                f"create interface memif id 0 socket-id {_SOCKET_ID} ring-size {RING} hw-addr {OURS} master",
            ],
            name,
            [f"delete memif socket id {_SOCKET_ID}", f"delete interface memif {name}"],
        )


def rest(name: str) -> list[str]:
    """Return the lines that are the same for every kind: up, an address, and a way for what comes.

    testpmd's packets go from 198.18.0.1 to 198.18.0.2, addresses set aside for measuring (RFC 2544).
    """
    return [
        f"set interface state {name} up",
        f"set interface ip address {name} 10.20.0.1/24",
        "ip route add 198.18.0.0/15 via drop",
    ]


def _wait_for_packets(end: End, setting: Setting) -> None:
    """Return when packets come.

    Raises
    ------
    LabError
        None do: the ends have not met, or what is sent is thrown away before it is counted.
    """
    first, deadline = end.received(), time.monotonic() + _CONNECTS_WITHIN
    while end.received() == first:
        if time.monotonic() > deadline:
            raise LabError(
                f"Nothing came over {KINDS[setting.kind]} within {_CONNECTS_WITHIN:g} s.",
                "see `show memif` or `show vhost-user` on the node, and `show errors` for drops.",
            )
        time.sleep(0.05)


def _quietly(node: Node, line: str) -> None:
    try:
        node.cli(line)
    except LabError:
        return
