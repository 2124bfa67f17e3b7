"""The glass box: a graph, its tables, and what a learner can set on them."""

from __future__ import annotations

import contextlib
import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox import clock, nodes
from labs.glassbox.bridges import Bridges
from labs.glassbox.counters import Counters
from labs.glassbox.graph import Graph
from labs.glassbox.interfaces import Interface, Interfaces
from labs.glassbox.memifs import Memifs
from labs.glassbox.pinging import Ping
from labs.glassbox.pool import Pool
from labs.glassbox.routes import Routes
from labs.glassbox.streams import Streams
from labs.glassbox.vm import (
    ARP_ANNOUNCED,
    ARP_LEARNED,
    BAD_CODE,
    BAD_RING,
    BELLS,
    ECHO_REPLY,
    FILES,
    NEWS,
    NEWS_LENGTH,
    NEWS_READ,
    PACKETS,
    RECORDS,
    TICKS_PER_MS,
    TRACED,
    make_tables,
    make_vm,
)

if TYPE_CHECKING:
    from labs.glassbox.memif_queues import Memif
    from labs.glassbox.startup import Startup
    from labs.glassbox.vm import Vm
    from labs.glassbox.workers import Workers

assert nodes  # noqa: S101 - importing them has declared them


class Box:
    """Everything of one glass box but its doors and its loop.

    Parameters
    ----------
    folder : str or Path
        The run directory: relative socket names go there.
    workers : int
        Threads beside the main one.

    Attributes
    ----------
    vms : list of Vm
        Each thread's view; the main thread's is the first.
    born : int
        When it was made, in ticks.
    graph, counters, interfaces, routes, memifs, streams, bridges
        See their classes.
    pings : dict
        The pings that go on, by their identifier.
    startup, workers
        What it was started with, and its other threads; None where it runs inside another program.
    """

    def __init__(self, folder: str | Path, workers: int = 0) -> None:
        self.folder = Path(folder)
        self.born = clock.now()
        self.counters = Counters(1 + workers)
        tables = make_tables()
        self.pool = Pool(1 + workers)
        self.vms = [
            make_vm(
                thread,
                tables,
                self.counters.rows(thread),
                self.pool.addresses(thread),
                (1 + workers) * PACKETS,
            )
            for thread in range(1 + workers)
        ]
        self.pool.serve(self.vms)
        self.graph = Graph(self.vm)
        self.graph.on_new = self.counters.name_nodes
        self.graph.add_all()
        self.interfaces = Interfaces(tables["interfaces"], self.graph, self.counters)
        self.routes = Routes(tables, self.interfaces)
        self.memifs = Memifs(self.vms, self.interfaces, self.folder, self.pool)
        per_ms = clock.ticks_per_ms()
        for thread, vm in enumerate(self.vms):
            vm.state[TICKS_PER_MS] = per_ms
            vm.state[BELLS], vm.state[FILES] = self.memifs.queues.bells(thread).fileno(), -1
        self.streams = Streams(self.vm, self.graph)
        self.bridges = Bridges(tables["macs"], self.interfaces)
        self.pings: dict[int, Ping] = {}
        self._next_ping = 1
        self.startup: Startup | None = None
        self.workers: Workers | None = None

    @property
    def vm(self) -> Vm:
        """The main thread's view."""
        return self.vms[0]

    def set_up(self, interface: Interface, *, is_up: bool) -> None:
        """Set an interface up or down; what is so already stays as it is, with its queues and their modes."""
        if interface.is_up == is_up:
            return
        interface.is_up = is_up
        self.interfaces.write(interface)
        if interface.index in self.memifs.by_index:
            self.memifs.set_up(interface)
        elif interface.kind in ("pg", "loop"):
            interface.is_linked = is_up

    def add_interface(self, name: str, kind: str, mac: bytes | None = None) -> Interface:
        """Make a packet generator's interface (``pg``) or a loopback (``loop``)."""
        interface = self.interfaces.add(name, kind, mac)
        self.routes.refresh(interface)
        return interface

    def add_memif(self, number: int, **settings: object) -> Memif:
        """Make a memif interface; see `labs.glassbox.memifs.Memifs.create`."""
        memif = self.memifs.create(number, **settings)  # type: ignore[arg-type]  # as there
        self.routes.refresh(memif.interface)
        return memif

    def remove_interface(self, interface: Interface) -> None:
        """Delete an interface, with its link, its routes and its neighbours."""
        if interface.index == 0:
            raise LabError("local0 cannot be deleted.")
        if memif := self.memifs.by_index.get(interface.index):
            self.memifs.delete(memif)
        for name, stream in list(self.streams.by_name.items()):
            if stream.interface is interface:
                self.streams.remove(name)
        self.routes.drop_interface(interface)
        self.bridges.leave(interface)
        self.interfaces.remove(interface)

    def ping(
        self, target: ipaddress.IPv4Address, source: Interface | None = None, **knobs: float | bool
    ) -> Ping:
        """Begin to ping an address; the lines of the ping say so if there is no way.

        Parameters
        ----------
        target : IPv4Address
        source : Interface, optional
            Whose address to send from; by default that of the interface the route leads to.
        **knobs
            See `labs.glassbox.pinging.Ping`: ``repeat``, ``interval`` (seconds), ``size`` (bytes), ``burst``.
        """
        number, self._next_ping = self._next_ping, self._next_ping % 0xFFFF + 1
        return Ping(self, target, number, source=source, **knobs)  # type: ignore[arg-type]  # knobs are as named

    @property
    def has_news(self) -> bool:
        """Whether the data plane has something to tell."""
        return any(vm.state[NEWS] != vm.state[NEWS_READ] or vm.state[BAD_RING] for vm in self.vms)

    def hear(self) -> None:
        """Read what the data plane has to tell, and act on it. Its threads must stand still."""
        for vm in self.vms:
            state = vm.state
            while state[NEWS_READ] < state[NEWS]:
                kind, first, second, third = vm.news[state[NEWS_READ] % NEWS_LENGTH].tolist()
                state[NEWS_READ] += 1
                if kind in (ARP_LEARNED, ARP_ANNOUNCED):
                    address = ipaddress.IPv4Address(second)
                    if kind == ARP_LEARNED or (first, address) in self.routes.neighbours:
                        self._learn(first, address, third.to_bytes(6, "little"))
                elif kind == ECHO_REPLY and (ping := self.pings.get(first >> 16)):
                    ping.answered(first & 0xFFFF, second, third >> 16, third & 0xFFFF)
            if state[BAD_RING]:
                self.memifs.break_off(int(state[BAD_RING]), int(state[BAD_CODE]))
                state[BAD_RING] = 0

    def clear_trace(self) -> None:
        """Forget what was traced, and trace no more."""
        for vm in self.vms:
            vm.state[TRACED] = vm.state[RECORDS] = 0
        self.vm.nodes["traces"] = 0

    def close(self) -> None:
        """End all links and hand out no more counters."""
        self.memifs.close()
        self.counters.segment.close()
        self.pool.close()

    def _learn(self, interface: int, address: ipaddress.IPv4Address, mac: bytes) -> None:
        """Believe what a neighbour said of itself, if it can be true and there is room for it."""
        there = next((each for each in self.interfaces if each.index == interface), None)
        if not there or all(address not in each.network for each in there.addresses):
            return
        _, route = self.routes.lookup(address)
        if route.kind in ("attached", "via") and route.interface == interface:
            with contextlib.suppress(LabError):
                self.routes.learn(interface, address, mac)
