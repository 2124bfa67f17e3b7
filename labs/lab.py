"""A lab: nodes and links that a learner starts, looks at, changes and stops."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from labs import drawing, engines, kernel, placement, running
from labs.errors import LabError
from labs.instruments import Instruments
from labs.launch import Launch
from labs.rebuilding import Rebuilding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from labs.engines.base import Engine
    from labs.node import Node
    from labs.topology import Topology

STOPS = "lab.stop"
"""What listeners are told before the nodes are ended."""


class Lab(Instruments, Rebuilding):
    """Nodes and links, on whichever engine is here.

    Parameters
    ----------
    topology : Topology
        What to build.
    engine : str, optional
        The engine to use; without it ``LABS_ENGINE``, else the first that can be used.

    Notes
    -----
    Making a lab whose name is already in use in this kernel stops the other one first, so a cell that makes
    a lab can be run again.
    """

    def __init__(self, topology: Topology, engine: str | None = None) -> None:
        self.topology = topology
        self._engine = engine
        self._launch: Launch | None = None
        self.listeners: list[Callable[[str, list[str]], None]] = []
        """Told of each change by a cell, after it, and of `STOPS` before: what it was, and equal lines."""
        running.stop(topology.name)

    @property
    def name(self) -> str:
        """The lab's name."""
        return self.topology.name

    @property
    def nodes(self) -> dict[str, Node]:
        """The running nodes by name.

        Raises
        ------
        LabError
            The lab is not started.
        """
        return self._running().nodes

    @property
    def engine(self) -> str:
        """The name of the engine the lab runs on; empty while it is stopped."""
        return self._launch.engine.name if self._launch else ""

    @property
    def version(self) -> str:
        """The data plane and its version, as its first node tells it; empty while the lab is stopped."""
        return next(iter(self.nodes.values())).version if self._launch else ""

    @property
    def folder(self) -> Path:
        """The run directory, where the nodes' sockets are.

        Raises
        ------
        LabError
            The lab is not started.
        """
        return self._running().rundir.path

    @property
    def cores(self) -> placement.Cores:
        """The cores this session may use."""
        return kernel.allowed_cores()

    def __getitem__(self, node: str) -> Node:
        if node not in self.nodes:
            raise LabError(f"This lab has no node {node!r}.", f"its nodes are {', '.join(self.nodes)}.")
        return self.nodes[node]

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def start(self) -> None:
        """Start the nodes and connect their links; print what runs, on which engine, and why.

        Raises
        ------
        NotAvailable
            No engine can be used here.
        LabError
            The lab could not be started; nothing of it is left.
        """
        if self._launch is not None:
            print(f"The lab {self.name!r} is running already ({self.version}, {self.engine}).")
            return
        began = time.perf_counter()
        running.stop(self.name)
        try:
            engine, why = engines.choose(self._engine)
            self._bring_up(engine)
        except KeyboardInterrupt:
            raise LabError(
                "The start was interrupted.", "nothing was left running; run the cell again."
            ) from None
        took = time.perf_counter() - began
        where = ", ".join(
            f"{node.name} {placement.describe(node.spec.cores and node.cores())}"
            for node in self.nodes.values()
        )
        print(f"{self.version} on engine {engine.name} ({why}): {where}. Ready in {took:.1f} s.")

    def _running(self) -> Launch:
        if self._launch is None:
            raise LabError(f"The lab {self.name!r} is not started.", "run lab.start() first.")
        return self._launch

    def _bring_up(self, engine: Engine) -> None:
        starting = Launch.prepare(self.topology, engine)
        try:
            starting.run()
            self._launch = starting
            if self.topology.links:
                self.wait_link()
        except BaseException:
            self._launch = None
            starting.stop()
            raise
        running.add(self)

    def stop(self) -> None:
        """End all nodes and remove what they leave; safe to call twice."""
        if self._launch:
            self.tell(STOPS, [])
            self._launch.stop()
            self._launch = None
            running.drop(self)

    def reset(self) -> None:
        """Stop the lab and start it as it was at first."""
        self.stop()
        self.start()

    def place(self, state: str | None = None, **cores: int | Iterable[int] | None) -> placement.Placed:
        """Move nodes to cores, live; see `pin`, which prints what this returns.

        Raises
        ------
        LabError
            A core is outside those this session may use, or the kernel did not do what was asked.
        """
        if (state is None) == (not cores):
            raise LabError("Say either a state or cores.", 'lab.pin("same"), or lab.pin(vpp1=0, vpp2=1).')
        specs = [node.spec for node in self.nodes.values()]
        asked = placement.by_name(cores, self.nodes) if state is None else placement.by_state(state, specs)
        for name in asked:
            self[name].must_run()  # else some would have moved before the news
        commands = [line for name, wanted in asked.items() for line in self[name].pin(wanted)]
        actual = {name: self[name].cores() for name in asked}
        placement.confirm(asked, actual)
        return placement.Placed(asked, actual, commands)

    def pin(self, state: str | None = None, **cores: int | Iterable[int] | None) -> None:
        """Move nodes to cores, live, and print the equal commands and what the kernel says now.

        Parameters
        ----------
        state : {"same", "apart", "free"}, optional
            All nodes on one core, a core each, or free to move.
        **cores : int or iterable of int or None
            Cores by node name; None is free to move.
        """
        placed = self.place(state, **cores)
        for command in placed.commands:
            print(f"$ {command}")
        now = ", ".join(f"{name} {placement.describe(actual)}" for name, actual in placed.actual.items())
        print(f"The kernel now says: {now}.")
        self.tell(f"lab.pin: {placement.STATES.get(state or '', now)}", placed.commands)

    def rx_mode(self, mode: str, node: str | None = None) -> None:
        """Set how memifs wait for packets, on one node or all, and print VPP's lines and what it says now.

        Parameters
        ----------
        mode : {"polling", "interrupt", "adaptive"}
        node : str, optional
        """
        chosen = [self[node]] if node else list(self.nodes.values())
        for each in chosen:
            each.must_run()
        lines = []
        for each in chosen:
            lines += (said := each.in_shell(each.rx_mode(mode)))
            print("\n".join(f"$ {line}" for line in said))
            now = ", ".join(f"{name} {actual}" for name, actual in each.rx_modes().items())
            print(f"{each.name} now says: {now}.")
        self.tell(f"lab.rx_mode: {mode}", lines)

    def tell(self, what: str, lines: list[str]) -> None:
        """Tell the listeners of a change, with the equal shell lines; what they raise is passed over."""
        for listener in list(self.listeners):
            with contextlib.suppress(Exception):
                listener(what, lines)

    def __repr__(self) -> str:
        return drawing.text(self.view())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:  # noqa: ANN401 - IPython passes what it likes
        view = self.view()
        return {"text/plain": drawing.text(view), "text/html": drawing.svg(view)}

    def view(self) -> drawing.LabView:
        """Return what runs where, and which links are up, as it is now."""
        if self._launch is None:
            names = ", ".join(spec.name for spec in self.topology.nodes)
            return drawing.LabView(f"{self.name}: stopped (nodes {names})", ())
        title = f"{self.name}: {self.version}, engine {self.engine}"
        return drawing.LabView(title, tuple(node.view() for node in self.nodes.values()))
