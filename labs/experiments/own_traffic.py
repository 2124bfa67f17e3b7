"""Our own generator and sink at a node: a second source for its counters, and the most that it takes."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, Self

from labs import probing_port
from labs.bench.load import refused
from labs.errors import LabError
from labs.kernel import allowed_cores
from labs.traffic import Generator, Sink, udp

if TYPE_CHECKING:
    from pathlib import Path

    from labs.node import Node
    from labs.probing_port import Port, Slot
    from labs.traffic.packets import Packets

NETWORK = "198.19.0.0/16"
"""Where our packets go: the half of RFC 2544's range that neither the bench nor a probe uses."""
_ADDRESS = "198.19.0.1"
_LEFT = 0.2  # seconds in which the last packets arrive


class OwnTraffic:
    """A node, our generator on one memif of it and our sink on another.

    Parameters
    ----------
    place : Path
        The lab's run directory.
    node : Node
        Started, and alone on its core.
    """

    def __init__(self, place: Path, node: Node) -> None:
        self.node = node
        self._place = place
        self._routed = ""
        others: list[int | None] = [core for core in allowed_cores() if core not in node.cores()] or [None]
        self._cores: tuple[int | None, int | None] = (others[0], others[-1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take the memifs and the route away, as far as the node still runs."""
        with contextlib.suppress(LabError):
            self._route("")
        for slot in (probing_port.GENERATOR, probing_port.SINK):
            with contextlib.suppress(LabError):
                probing_port.close(self.node, slot)

    def straight_in(self, seconds: float, size: int = 64) -> dict[str, Any]:
        """Send flat out into the node, which drops all of it.

        Returns
        -------
        dict
            ``sent`` and ``received`` packets a second: by our generator, and by the node's own counter.
        """
        near = self._port(probing_port.GENERATOR)
        self._route("drop")
        generator = Generator(near.link, self._packets(near, size), core=self._cores[0])
        before = self._received(near)
        report = generator.run(seconds)
        time.sleep(_LEFT)
        return {
            "sent": report.packets / report.seconds,
            "received": (self._received(near) - before) / report.seconds,
            "seconds": report.seconds,
        }

    def through(self, rate: float, seconds: float) -> dict[str, Any]:
        """Send packets through the node at a rate, and count them at both ends of it, by both sides.

        Returns
        -------
        dict
            Packets: ``sent`` by our generator, ``in`` and ``out`` by the node's interface counters,
            ``refused`` by the node for want of a slot, and ``came`` by our sink; ``seconds``.
        """
        near, far = self._port(probing_port.GENERATOR), self._port(probing_port.SINK)
        self._route(f"{far.address(2)} {far.interface}")
        packets = self._packets(near, 64)
        generator = Generator(near.link, packets, rate, core=self._cores[0])
        before = self._counts(near, far)
        with Sink(far.link, packets, mode="interrupt", core=self._cores[1]) as sink:
            report = generator.run(seconds)
            time.sleep(_LEFT)
            came = sink.stop()
        after = self._counts(near, far)
        counted = {name: after[name] - before[name] for name in before}
        return {"sent": report.packets, "came": came.packets, "seconds": report.seconds, **counted}

    def _port(self, slot: Slot) -> Port:
        port = probing_port.at(self.node, self._place, slot, 0, 1)
        port.must_be_up()
        return port

    def _packets(self, near: Port, size: int) -> Packets:
        return udp(near.address(2), _ADDRESS, size, src_mac=near.mac(2), dst_mac=near.mac(1))

    def _route(self, via: str) -> None:
        """Send our packets somewhere, or nowhere; in place of where they went before."""
        if self._routed == via:
            return
        if self._routed:
            self.node.cli(f"ip route del {NETWORK} via {self._routed}")
        self._routed = ""
        if via:
            self.node.cli(f"ip route add {NETWORK} via {via}")
        self._routed = via

    def _received(self, near: Port) -> int:
        return self.node.counters()[near.interface].rx_packets

    def _counts(self, near: Port, far: Port) -> dict[str, int]:
        counters = self.node.counters()
        return {
            "in": counters[near.interface].rx_packets,
            "out": counters[far.interface].tx_packets,
            "refused": refused(self.node, far.interface),
        }
