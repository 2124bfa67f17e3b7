"""A node of a lab: what every engine's node can do."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from labs import health, kernel, placement
from labs.errors import LabError, LinkDown
from labs.ping import Ping, measure
from labs.portrait import portrait
from labs.vpp.cli import TIMEOUT, Cli
from labs.vpp.parse import (
    parse_addresses,
    parse_memif,
    parse_plugins,
    parse_rx_placement,
    parse_version,
)
from labs.vpp.sockets import DoorError
from labs.vpp.stats import Stats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs import drawing
    from labs.engines.base import NodeHandle
    from labs.engines.rundir import RunDir
    from labs.topology import NodeSpec
    from labs.vpp.api import Api
    from labs.vpp.parse import MemifTable
    from labs.vpp.stats import InterfaceCounters

RX_MODES = ("polling", "interrupt", "adaptive")
_BOOT_SECONDS = 30.0


class Node:
    """One running VPP.

    Parameters
    ----------
    spec : NodeSpec
        What was asked for.
    handle : NodeHandle
        Its process or container.
    rundir : RunDir
        Where its sockets are.
    startup_conf : str
        The configuration it was started with.
    """

    def __init__(self, spec: NodeSpec, handle: NodeHandle, rundir: RunDir, startup_conf: str) -> None:
        self.spec = spec
        self.handle = handle
        self.startup_conf = startup_conf
        self._rundir = rundir
        self.version = ""
        self._cli = self._new_cli()
        self._api = health.NodeApi(rundir.file(spec.name, "api.sock"), handle)
        self._stats = Stats(rundir.file(spec.name, "stats.sock"))
        self.at_close = contextlib.ExitStack()  # what is done when it is closed, the last added first
        for each in (handle.stop, self._stats.close, self._api.close, self._cli.close):
            self.at_close.callback(each)

    @property
    def name(self) -> str:
        """The node's name."""
        return self.spec.name

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self.handle.alive()

    @property
    def api(self) -> Api:
        """Its binary API: ``node.api.show_version()``; see `labs.vpp.api.Api`."""
        self.must_run()
        return self._api

    @property
    def stats(self) -> Stats:
        """Its stats segment; see `labs.vpp.stats.Stats`."""
        self.must_run()
        return self._stats

    def must_run(self) -> None:
        """Do nothing while it runs.

        Raises
        ------
        NodeDied
            The node has ended.
        """
        health.must_run(self.handle)

    def wait_ready(self) -> None:
        """Return when its API answers a call and its plugins are there.

        Raises
        ------
        NodeDied
            It ended instead; its last lines are in the message.
        NotAvailable
            A plugin that was asked for is not there.
        LabError
            It runs, but does not answer.
        """
        try:
            with health.blame(self.handle):
                self._api.connect(_BOOT_SECONDS, lambda: health.must_run(self.handle, health.AT_START))
        except DoorError as error:
            raise LabError(f"{self.name} runs, but it does not answer: {error.message}", error.hint) from None
        self.version = parse_version(self.cli("show version"))
        health.check_plugins(self.name, self.spec.plugins, parse_plugins(self.cli("show plugins")))

    def cli(self, text: str, timeout: float = TIMEOUT) -> str:
        """Send lines to VPP's CLI and return VPP's own text.

        Parameters
        ----------
        text : str
            The lines.
        timeout : float
            Seconds for the answer to each.

        Raises
        ------
        CliError
            VPP refused a line; later lines are not sent.
        NodeDied
            The node has ended.
        """
        return "\n".join(output for _, output in self.cli_steps(text, timeout) if output)

    def cli_steps(self, text: str, timeout: float = TIMEOUT) -> Iterator[tuple[str, str]]:
        """Send lines to VPP's CLI one by one; yield each with VPP's answer."""
        with health.blame(self.handle):
            yield from self._cli.run_script(text, timeout)

    def say(self, lines: list[str]) -> list[str]:
        """Send lines to its CLI, and return them as a shell takes them."""
        if lines:
            self.cli("\n".join(lines))
        return self.in_shell(lines)

    def in_shell(self, lines: list[str]) -> list[str]:
        """Return lines of its CLI as a shell takes them."""
        return [f"{self.handle.shell} {line}" for line in lines]

    def counters(self, *, brief: bool = False) -> dict[str, InterfaceCounters]:
        """Return what each interface has counted, from the stats segment; see `Stats.counters`."""
        with health.blame(self.handle):
            return self.stats.counters(brief=brief)

    def _new_cli(self) -> Cli:
        return Cli(self._rundir.file(self.name, "cli.sock"))

    def memifs(self, timeout: float = TIMEOUT) -> MemifTable:
        """Return what ``show memif`` says, parsed."""
        return parse_memif(self.cli("show memif", timeout))

    def addresses(self, timeout: float = TIMEOUT) -> dict[str, list[str]]:
        """Return the addresses of each interface, with prefix length."""
        return parse_addresses(self.cli("show interface address", timeout))

    def ping(self, address: str, count: int = 20, interval: float = 0.05, *, target: str = "") -> Ping:
        """Let this VPP ping an address.

        Parameters
        ----------
        address : str
        count : int
            Requests to send; one more goes first, uncounted, so that address resolution is no part of it.
        interval : float
            Seconds between requests; VPP waits as long for the last reply.
        target : str
            The name to show for the address.

        Raises
        ------
        LabError
            There is no such count or interval, or VPP has no way to the address.
        """
        with health.blame(self.handle), contextlib.closing(self._new_cli()) as session:
            sent, numbers, times = measure(session, address, count, interval)
        return Ping(self.name, target or address, address, sent, numbers, times)

    def pin(self, cores: placement.Cores) -> list[str]:
        """Move its threads to cores, live; see `labs.placement.spread`. Return the equal shell commands."""
        with health.blame(self.handle):
            commands = self.handle.pin(placement.spread(self.threads(), cores))
        self.spec = replace(self.spec, cores=cores)  # a restart keeps the learner's choice
        return commands

    def threads(self) -> list[kernel.Thread]:
        """Return its threads as the kernel sees them.

        Raises
        ------
        NodeDied
            The node has ended.
        """
        found = kernel.threads(self.handle.pid) if self.alive else []
        if not found:
            raise health.obituary(self.handle)
        return found

    def cores(self) -> placement.Cores:
        """Return the cores its threads may run on, read back from the kernel."""
        return tuple(sorted({core for thread in self.threads() for core in thread.cores}))

    def rx_mode(self, mode: str) -> list[str]:
        """Set how its connected memifs wait for packets. Return the equal CLI lines.

        Raises
        ------
        LabError
            There is no such mode.
        LinkDown
            No memif is connected; VPP would forget the mode when one connects.
        """
        if mode not in RX_MODES:
            raise LabError(f"There is no rx-mode {mode!r}.", f"choose one of {', '.join(RX_MODES)}.")
        connected = [state.name for state in self.memifs().interfaces if state.connected]
        if not connected:
            raise LinkDown(
                f"{self.name} has no connected memif, so there is no queue to set to {mode}.",
                "connect one first; lab.wait_link() says what is missing.",
            )
        lines = [f"set interface rx-mode {name} {mode}" for name in connected]
        self.cli("\n".join(lines))
        return lines

    def rx_modes(self) -> dict[str, str]:
        """Return the rx-mode of each interface that has a queue, read back from VPP."""
        return {
            entry.interface: entry.mode
            for entry in parse_rx_placement(self.cli("show interface rx-placement"))
        }

    def view(self) -> drawing.NodeView:
        """Return what there is to draw of it."""
        return portrait(self)

    def log(self, lines: int = 20) -> str:
        """Return the last lines of VPP's log."""
        return "\n".join(self.handle.log().rstrip().splitlines()[-lines:])

    def kill(self) -> None:
        """End this VPP at once, as a crash would."""
        self.handle.kill()

    def close(self) -> None:
        """End the node and drop our connections to it; safe to call twice."""
        self.at_close.close()
