"""Probes at the nodes of a lab: where they run, what the nodes are told, and the latency they see."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from labs import connectivity, health, kernel, placement, probing_port
from labs.errors import LabError
from labs.traffic.probe import Probe
from labs.traffic.probe_measurement import LINK_DOWN
from labs.traffic.probe_plan import WAITS, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from labs.node import Node
    from labs.probing_port import Port, Slot
    from labs.traffic.probe_measurement import Measurement
    from labs.traffic.probe_run import ProbeRun


_ENDS_WITHIN = 1.0
"""Seconds; an engine may learn of a node's end a moment after its link is gone."""


class NodeProbe:
    """Measures the latency of a node, or of the way to another, by an endpoint of our own on the wire.

    The node gets a memif of its own for it, which `Node.rx_mode` sets like its others; `commands` are the
    equal lines. It is used again by the next probe of the node, and goes with the node, or by `close`.

    Parameters
    ----------
    place : Path
        The lab's run directory.
    nodes : mapping of str to Node
        The lab's nodes, always as they are now.
    node : str
        Where requests go in.
    to : str, optional
        Where they come out again; the same node for the way through one. Without it the node answers.
    wait : {"poll", "nap", "sleep"}, optional
        See `labs.traffic.Probe`. Without it: ``poll`` on a core on which no node is pinned, ``nap`` on one
        of another node, ``sleep`` on that of the node itself.
    core : int, optional
        The core of the probe's thread. Without it: one on which no node is pinned, else one of another node.
    size : int
        Bytes of a frame.
    back : bool
        Let `to` answer, through the same nodes back: the round trip instead of one way.
    standing : bool
        It goes on measuring, beside others: it has a memif of its own.

    Raises
    ------
    LabError
        There is no such node, no way between the two, or no such core or way to wait.
    LinkDown
        The memif does not connect.
    """

    def __init__(
        self,
        place: Path,
        nodes: Mapping[str, Node],
        node: str,
        to: str | None = None,
        *,
        wait: str | None = None,
        core: int | None = None,
        size: int = 64,
        back: bool = False,
        standing: bool = False,
    ) -> None:
        self._place, self._nodes = place, nodes
        self._node, self._to, self._back = node, to, back and to not in {None, node}
        self._wait, self._core, self._size = wait, core, size
        self._slot = probing_port.STANDING if standing else probing_port.NEAR
        self.last: ProbeRun | None = None
        """The last run, also one that was interrupted."""
        if wait is not None:
            one_of("wait", wait, tuple(WAITS))
        if core is not None:
            placement.check("the probe", (core,))
        self._ready()

    @property
    def name(self) -> str:
        """What is measured."""
        if self._to is None:
            return self._node
        if self._back:
            return f"{self._node} ⇄ {self._to}"
        return f"through {self._node}" if self._to == self._node else f"{self._node} → {self._to}"

    @property
    def commands(self) -> list[str]:
        """What a learner would type to make the nodes' part of it."""
        near, far, routes = self._ends()
        lines = [(port.node, line) for port in (near, far) if port for line in port.lines]
        return [f"{node.handle.shell} {line}" for node, line in (*lines, *routes)]

    def __repr__(self) -> str:
        ways = {None: "round trips to", self._node: "the way through"}
        what = f"{ways[self._to]} {self._node}" if self._to in ways else f"the way {self.name}"
        return f"A probe of {what}: run(seconds=2).summary() measures, commands shows the equal lines."

    def run(self, seconds: float = 1.0, interval: float = 200e-6, **options: Any) -> ProbeRun:  # noqa: ANN401 - `Probe.run` types them
        """Measure; a node that ends meanwhile ends the run, and what there is is returned.

        Parameters
        ----------
        seconds, interval, **options
            As for `labs.traffic.Probe.run`: ``poisson``, ``outstanding``, ``patience``, ``floor``.

        Raises
        ------
        NodeDied
            A node has ended before.
        LinkDown
            The memif is not connected, or not up.
        """
        probe, where = self._probe()
        try:
            run = probe.run(seconds, interval, **options)
        finally:
            if probe.last is not None:
                self.last = self._explained(replace(probe.last, where=where))
        return self.last or run

    def start(self, seconds: float = 1.0, interval: float = 200e-6, **options: Any) -> Measurement:  # noqa: ANN401 - likewise
        """Begin to measure and return at once; see `run` and `labs.traffic.Probe.start`."""
        return self._probe()[0].start(seconds, interval, **options)

    def close(self) -> None:
        """Take the memif and the routes away again, of nodes that run; safe to call twice."""
        probing_port.close(self._nodes[self._node], self._slot)
        if self._to is not None and not self._back:
            probing_port.close(self._nodes[self._to], probing_port.FAR)
        probing_port.forget_routes(self._nodes.values(), self)

    def _probe(self) -> tuple[Probe, str]:
        near, far = self._ready()
        core, wait = self._seat()
        probe = Probe(
            near.link,
            source=near.address(2),
            target=self._answering() if self._back else far.address(2) if far else near.address(1),
            source_mac=near.mac(2),
            target_mac=near.mac(1),
            receive_on=far.link if far else None,
            size=self._size,
            wait=wait,
            core=core,
            name=self.name,
        )
        return probe, self._where(core, wait)

    def _ready(self) -> tuple[Port, Port | None]:
        """Return the ports, connected, and see that the routes are there."""
        near, far, routes = self._ends()
        for port in (near, far):
            if port:
                port.must_be_up()
        for node, line in routes:
            probing_port.add_route(node, line, self)
        return near, far

    def _ends(self) -> tuple[Port, Port | None, list[tuple[Node, str]]]:
        for name in (self._node, self._to):
            if name is not None and name not in self._nodes:
                raise LabError(f"This lab has no node {name!r}.", f"its nodes are {', '.join(self._nodes)}.")
        near = self._port(self._node, self._slot)
        if self._to is None:
            return near, None, []
        if self._back:
            there = self._routes(f"{self._answering()}/32", self._node, self._to)[
                :-1
            ]  # the last is beside it
            return near, None, there + self._routes(near.network, self._to, self._node)
        far = self._port(self._to, probing_port.FAR)
        return near, far, self._routes(far.network, self._node, self._to)

    def _answering(self) -> str:
        """Return the address at which the far node answers: that of its side towards us."""
        assert self._to is not None  # noqa: S101 - only then it answers
        has = {name: node.addresses() for name, node in self._nodes.items()}
        return connectivity.address_on_the_way(self._node, self._to, has)

    def _port(self, name: str, slot: Slot) -> Port:
        names = list(self._nodes)
        return probing_port.at(self._nodes[name], self._place, slot, names.index(name), len(names))

    def _routes(self, network: str, first: str, last: str) -> list[tuple[Node, str]]:
        """Return what the nodes on the way from `first` to `last`, where `network` is, have to be told."""
        has = {name: node.addresses() for name, node in self._nodes.items()}
        hops = pairwise(connectivity.path(first, last, has))
        vias = [
            (here, connectivity.shared_address(here, has[here], there, has[there])) for here, there in hops
        ]
        return [(self._nodes[here], f"ip route add {network} via {via}") for here, via in vias]

    def _seat(self) -> tuple[int | None, str]:
        """Choose the probe's core and how it waits: it must not fight with the node that it measures."""
        pinned = {name: set(node.cores()) for name, node in self._nodes.items() if node.spec.cores}
        allowed = kernel.allowed_cores()
        free = [core for core in allowed if not any(core in cores for cores in pinned.values())]
        measured = set().union(*(pinned.get(name, set()) for name in (self._node, self._to) if name))
        others = [core for core in allowed if core not in measured]
        core = self._core
        if core is None and pinned:
            core = next(iter(free or others), None)
        if core is None:  # nodes and probe go where the kernel puts them
            wait = "poll" if not pinned and len(allowed) > len(self._nodes) else "sleep"
        else:
            wait = "poll" if core in free else "nap" if core in others else "sleep"
        return core, self._wait or wait

    def _where(self, core: int | None, wait: str) -> str:
        words = {"poll": "polls", "nap": "naps between requests", "sleep": "sleeps until it is woken"}
        names = dict.fromkeys(name for name in (self._node, self._to) if name)
        nodes = ", ".join(
            f"{name} {_modes(self._nodes[name])} on {placement.describe(self._nodes[name].cores())}"
            for name in names
        )
        at = placement.describe((core,)) if core is not None else "any core"
        return f"{nodes}; the probe {words[wait]} on {at}."

    def _explained(self, run: ProbeRun) -> ProbeRun:
        """Return a run with the node's end as its reason, if that is what ended it."""
        nodes = [self._nodes[name] for name in (self._node, self._to) if name]
        deadline = time.monotonic() + _ENDS_WITHIN
        while run.ended.startswith(LINK_DOWN) and time.monotonic() < deadline:
            if dead := next((node for node in nodes if not node.alive), None):
                return replace(run, ended=health.obituary(dead.handle).message.partition("\n")[0])
            time.sleep(0.05)
        return run


def _modes(node: Node) -> str:
    """Return how a node waits for packets, in a word or two."""
    return " and ".join(sorted(set(node.rx_modes().values()))) or "unconnected"
