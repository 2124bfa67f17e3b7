"""A node of a lab: what every engine's node can do."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from labs import health, kernel, placement
from labs.errors import LabError
from labs.ping import Ping, measure
from labs.portrait import portrait
from labs.spoken import Spoken
from labs.vpp.cli import Cli
from labs.vpp.parse import parse_plugins, parse_version
from labs.vpp.sockets import DoorError
from labs.vpp.stats import Stats

if TYPE_CHECKING:
    from labs import drawing
    from labs.engines.base import NodeHandle
    from labs.engines.rundir import RunDir
    from labs.topology import NodeSpec
    from labs.vpp.api import Api

_BOOT_SECONDS = 30.0


class Node(Spoken):
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

    def _new_cli(self) -> Cli:
        return Cli(self._rundir.file(self.name, "cli.sock"))

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
