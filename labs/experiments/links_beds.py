"""The links that the experiment `links` compares: one peer at one end, a receiver at the other."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from labs.engines.child import unprivileged
from labs.errors import LabError
from labs.experiments import links_kinds as kinds
from labs.experiments.kernel_link import kernel_link
from labs.experiments.links_kinds import KINDS
from labs.experiments.links_seen import Seen, capabilities
from labs.experiments.method import Span
from labs.experiments.testpmd import Testpmd
from labs.experiments.throughput_window import work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from labs.lab import Lab
    from labs.node import Node

_CONNECTS_WITHIN = 10.0
_SETTLE = 0.3
_GIGA, _MICRO, _NANO = 1e9, 1e-6, 1e-9
_PINGS, _BETWEEN = 100, 0.002
"""Echo requests to the peer, and seconds between two."""
_SENDS, _ANSWERS = "txonly", "icmpecho"


@dataclass(frozen=True)
class Setting:
    """What is compared: who receives (``testpmd`` or ``node``), over which kind of link, of which size."""

    receiver: str
    kind: str
    size: int

    def __str__(self) -> str:
        who = "testpmd to testpmd" if self.receiver == "testpmd" else "testpmd to the node"
        return f"{KINDS[self.kind].words}, {who}, {self.size} bytes"

    @property
    def link(self) -> tuple[str, str]:
        """What two settings have in common that are measured over one link."""
        return self.receiver, self.kind


@dataclass
class End:
    """The receiving end of a link: how it is counted, whose process it is, what it did."""

    pid: int
    received: Callable[[], int]
    node: Node | None = None

    @property
    def also(self) -> dict[str, int]:
        """The receiver's process, where it is no node of the lab."""
        return {} if self.node else {"receiver": self.pid}


@dataclass
class Link:
    """A link that is up."""

    end: End
    sender: Testpmd
    seen: Seen


class Beds:
    """Makes links one after the other, and measures each; one stays as long as its kind is asked for.

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
        self._standing = ExitStack()
        self._which: tuple[str, str] | None = None
        self._link: Link | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take the last link away."""
        self._away()

    def window(self, setting: Setting) -> dict[str, Any]:
        """Send over a link, count at both ends, and look who maps whose memory."""
        link = self._to(setting)
        end, sender = link.end, link.sender
        _send(sender, setting.size)
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
            **link.seen.now(sender.child.pid, setting.kind, end),
            "ping_us": _ping(sender, end.node) if end.node else None,
            "capabilities": [capabilities(each) for each in (sender.child.pid, end.pid)],
            "command": " ".join(sender.command),
            **span.to_dict(),
        }

    def _to(self, setting: Setting) -> Link:
        """Return the link of a setting: the one that stands, or a new one in its place."""
        if self._link is None or self._which != setting.link:
            self._away()
            self._link = self._standing.enter_context(self._made(setting))
            self._which = setting.link
        return self._link

    def _away(self) -> None:
        self._which = self._link = None
        self._standing.close()

    @contextmanager
    def _made(self, setting: Setting) -> Iterator[Link]:
        """Make a link: the receiver first, for it listens."""
        kind = KINDS[setting.kind]
        socket = self._lab.folder / f"links-{setting.kind}.sock"
        socket.unlink(missing_ok=True)  # a peer that had to be killed has left it
        with ExitStack() as stack:
            within = (
                stack.enter_context(kernel_link(self._token, kind.host)) if kind.is_kernel else unprivileged()
            )
            receiving = self._testpmd if setting.receiver == "testpmd" else self._node
            end = stack.enter_context(receiving(setting.kind, socket, within))
            seen = Seen(end.pid)
            device, core, options = kind.sender(socket), self._cores[0], (f"--eth-peer=0,{kinds.OURS}",)
            sender = stack.enter_context(
                self._peer("sender", device, _SENDS, core, kind.descriptors, within, options, kind.eal)
            )
            yield Link(end, sender, seen)

    @contextmanager
    def _testpmd(self, kind: str, socket: Path, within: Sequence[str]) -> Iterator[End]:
        device, ring = KINDS[kind].receiver(socket), KINDS[kind].descriptors
        with self._peer("receiver", device, "rxonly", self._cores[1], ring, within) as peer:
            peer.do("start")
            yield End(peer.child.pid, lambda: peer.packets("RX"))

    def _peer(
        self,
        name: str,
        device: str,
        forward: str,
        core: int,
        ring: int | None,
        within: Sequence[str],
        options: tuple[str, ...] = (),
        eal: tuple[str, ...] = (),
    ) -> Testpmd:
        place, cores = self._lab.folder, (core, core)
        return Testpmd(place, self._token, [device], forward, cores, name, ring, options, eal, within)

    @contextmanager
    def _node(self, kind: str, socket: Path, _: Sequence[str]) -> Iterator[End]:
        """Give the node its end of a link, with a route that drops what comes, and take it away again."""
        node = next(iter(self._lab.nodes.values()))
        make = KINDS[kind].make
        assert make is not None  # noqa: S101 - `links_kinds.refusal` has seen to it
        interface = ""
        try:
            for line in make(f"{self._inside}/{socket.name}"):
                interface = kinds.interface_of(kind, node.cli(line))
            for line in kinds.up(interface):
                node.cli(line)
            yield End(node.handle.pid, lambda: node.counters()[interface].rx_packets, node)
        finally:
            for line in kinds.away(kind, interface) if interface else []:
                with suppress(LabError):
                    node.cli(line)


def _send(sender: Testpmd, size: int) -> None:
    """Let packets of a size come."""
    sender.do("stop")
    sender.do(f"set fwd {_SENDS}")
    sender.do(f"set txpkts {size}")
    sender.do("start")


def _ping(sender: Testpmd, node: Node) -> float | None:
    """Let the peer answer instead of send, and return the median round trip in µs; None if none came."""
    sender.do("stop")
    sender.do(f"set fwd {_ANSWERS}")
    sender.do("start")
    with suppress(LabError):
        answered = node.ping(kinds.THEIR_ADDRESS, _PINGS, _BETWEEN)
        return answered.p50 * 1e3
    return None


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
                f"Nothing came over {KINDS[setting.kind].words} within {_CONNECTS_WITHIN:g} s.",
                "see `show memif` or `show vhost-user` on the node, and `show errors` for drops.",
            )
        time.sleep(0.05)
