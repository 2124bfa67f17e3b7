"""A lab of nodes that run nowhere: their counters, heartbeats and processes are what a test says."""

from __future__ import annotations

from types import SimpleNamespace

from labs.bench.notes import Notes
from labs.bench.recording import Recorder
from labs.bench.wiring import Wire
from labs.errors import NodeDied
from labs.vpp.counters import InterfaceCounters
from labs.vpp.sockets import DoorError

WIRE = Wire("vpp1", "memif0/0", "vpp2", "memif0/0")


class FakeStats:
    def __init__(self, node):
        self.node = node
        self.refused = {}

    def error(self, name):
        return self.refused.get(name, 0)

    def check(self):
        self.node.must_run()
        if self.node.still:
            self.node.heartbeats_asked += 1
            raise DoorError("VPP's heartbeat has stood still for 2.0 s.", "look", fault="stopped")


class FakeNode:
    def __init__(self, name, interfaces=("memif0/0",)):
        self.name = name
        self.counts = {interface: InterfaceCounters() for interface in interfaces}
        self.alive, self.still = True, False
        self.heartbeats_asked = 0
        self.stats = FakeStats(self)
        self.handle = SimpleNamespace(pid=0)

    def must_run(self):
        if not self.alive:
            raise NodeDied(f"{self.name} is not running: it was ended.\nIts last lines were:\n x", "restart")

    def counters(self, *, brief=False):  # noqa: ARG002 - what is fake is always brief
        self.must_run()
        return dict(self.counts)

    def count(self, interface="memif0/0", **fields):
        """Let an interface count so much more."""
        before = self.counts.get(interface, InterfaceCounters())
        grown = {name: getattr(before, name) + value for name, value in fields.items()}
        self.counts[interface] = InterfaceCounters(**{**vars(before), **grown})

    def refuse(self, packets, interface="memif0/0"):
        name = f"/err/{interface}-tx/no_free_slots"
        self.stats.refused = {name: self.stats.refused.get(name, 0) + packets}


class FakeLab:
    def __init__(self, *names):
        self.nodes = {name: FakeNode(name) for name in names or ("vpp1", "vpp2")}

    def __getitem__(self, name):
        return self.nodes[name]


class Clock:
    """Time that goes on when a test says so; stands for the module `time`."""

    def __init__(self, now=1000.0):
        self.now = now

    def monotonic(self):
        return self.now

    process_time = monotonic


def desk():
    """Return a recorder and notes."""
    return Recorder(), Notes()
