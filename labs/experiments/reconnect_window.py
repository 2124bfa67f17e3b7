"""One window of the experiment `reconnect`: a node is killed under traffic, started anew, and timed."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from labs.bench.load import Load
from labs.bench.way import find_way
from labs.errors import LabError
from labs.experiments.method import Span
from labs.vpp.sockets import DoorError

if TYPE_CHECKING:
    from labs.lab import Lab
    from labs.node import Node

RATE = 100_000.0
"""Packets a second."""
MODE = "interrupt"
"""How the end that survives waits at first."""
_BEFORE, _DEAD, _AFTER = 1.0, 0.5, 1.2  # seconds: of traffic, without the node, of traffic again
_LOOK = 0.005
_COMES_BACK_WITHIN = 20.0


@dataclass(frozen=True)
class Way:
    """Nodes in the order in which packets go through them; a `Load` asks for no more of a lab."""

    lab: Lab
    backwards: bool

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes, from the one that sends to the one that receives."""
        names = list(self.lab.nodes)
        return {name: self.lab.nodes[name] for name in (reversed(names) if self.backwards else names)}


@dataclass
class Look:
    """Looks at both ends of a link all the time, in a thread of its own.

    Attributes
    ----------
    noticed : float or None
        When the survivor said for the first time that the link was down, on `time.monotonic`.
    first : float or None
        When the node that was started anew had received a packet.
    last_count : int
        What the one that was killed had received, as far as it could be read.
    reasons : tuple of str
        Why the link went down, in the survivor's words.
    """

    lab: Lab
    survivor: str
    interface: str
    killed: str
    at: str
    noticed: float | None = None
    first: float | None = None
    last_count: int = 0
    reasons: tuple[str, ...] = ()
    _dead: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="labs-reconnect", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def killed_now(self, node: Node) -> None:
        """End the node, and look from now on for the news of it."""
        with contextlib.suppress(LabError, DoorError, KeyError):
            self.last_count = node.counters()[self.at].rx_packets
        self._gone = node
        node.kill()
        self._dead.set()

    def _run(self) -> None:
        while not self._over.wait(_LOOK):
            if not self._dead.is_set():
                continue
            with contextlib.suppress(LabError, DoorError, KeyError):
                if self.noticed is None:
                    self._look_at_survivor()
                elif self.first is None:
                    self._look_at_killed()

    def _look_at_survivor(self) -> None:
        state = self.lab[self.survivor].memifs().interface(self.interface)
        if state is not None and not state.connected:
            self.noticed = time.monotonic()
            self.reasons = tuple(each for each in (state.local_reason, state.remote_reason) if each)

    def _look_at_killed(self) -> None:
        fresh = self.lab.nodes[self.killed]
        if fresh is not self._gone and fresh.counters()[self.at].rx_packets:
            self.first = time.monotonic()


def is_killed(role: str) -> str:
    """Return in words which end of the link a window is about."""
    return f"the {role} is killed"


def window(lab: Lab, role: str) -> dict[str, Any]:
    """Send packets to one end of the lab, kill the node there, start it anew, and time what happens.

    Parameters
    ----------
    lab : Lab
        Two nodes, started, with one link.
    role : {"client", "server"}
        Which end of the link is killed; packets go towards it.

    Returns
    -------
    dict
        Seconds from the kill until the survivor ``noticed``, the node was ``up`` with its links, and the
        ``first`` packet came; packets ``offered``, ``received`` and ``lost``; ``blocked_s``: what was lost,
        by the rate.
    """
    link = lab.current.links[0]
    killed = link.client if role == "client" else link.server
    way = Way(lab, backwards=killed != list(lab.nodes)[-1])
    hop = find_way(way.nodes).last
    load = Load(way)  # type: ignore[arg-type] # it asks for the nodes only
    load.rate = RATE
    sender = lab[hop.sender]
    sender.rx_mode(MODE)
    with Look(lab, hop.sender, hop.by, hop.receiver, hop.at) as look, Span(lab) as span:
        begin = _made(sender)
        load.start()
        time.sleep(_BEFORE)
        look.killed_now(lab[killed])
        gone = time.monotonic()
        time.sleep(_DEAD)
        try:
            lab.rebuild_node(killed)
            up = time.monotonic()
            while look.first is None and time.monotonic() < up + _COMES_BACK_WITHIN:
                time.sleep(_LOOK)
            time.sleep(_AFTER)
        finally:
            load.stop()
    time.sleep(0.6)  # node counters move every half second
    offered = _made(sender) - begin
    received = look.last_count + lab[killed].counters()[hop.at].rx_packets
    lost = max(offered - received, 0)
    return {
        "setting": is_killed(role),
        "role": role,
        "killed": killed,
        "noticed": _since(gone, look.noticed),
        "up": up - gone,
        "first": _since(gone, look.first),
        "reasons": list(look.reasons),
        "offered": offered,
        "received": received,
        "lost": lost,
        "blocked_s": lost / RATE,
        "dead_s": _DEAD,
        "mode_before": MODE,
        "mode_after": sender.rx_modes().get(hop.by, "none"),
        **span.to_dict(),
    }


def _made(node: Node) -> int:
    """Return how many packets a node's generator has made."""
    found = node.stats.node_counters().get("pg-input")
    return found.vectors if found else 0


def _since(begin: float, then: float | None) -> float | None:
    return None if then is None else then - begin
