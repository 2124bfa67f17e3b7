"""What measures a lab: VPP's own ping, a probe on the wire, and the kernel's record of its scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs import connectivity, evidence
from labs.errors import LabError
from labs.lab_part import LabPart
from labs.probing import NodeProbe

if TYPE_CHECKING:
    from labs.bench.bench import Bench
    from labs.ping import Ping


class Instruments(LabPart):
    """The part of `labs.lab.Lab` that measures."""

    def ping(self, source: str, target: str, count: int = 20, interval: float = 0.05) -> Ping:
        """Let one node's VPP ping another; see `labs.node.Node.ping`."""
        if source == target:
            raise LabError(f"{source} cannot ping itself.", "name two nodes: lab.ping('vpp1', 'vpp2').")
        address = connectivity.shared_address(
            source, self[source].addresses(), target, self[target].addresses()
        )
        return self[source].ping(address, count, interval, target=target)

    def probe(
        self,
        node: str,
        to: str | None = None,
        *,
        wait: str | None = None,
        core: int | None = None,
        size: int = 64,
        back: bool = False,
    ) -> NodeProbe:
        """Return a probe at a node: ``lab.probe("vpp2").run(seconds=2).summary()``.

        Parameters
        ----------
        node : str
            The node that answers, or where requests go in.
        to : str, optional
            Where they come out again, for the latency of one way; the same node for the way through one.
        wait : {"poll", "nap", "sleep"}, optional
            Whether the probe needs a core of its own; see `labs.probing.NodeProbe`.
        core : int, optional
            The core of the probe's thread.
        size : int
            Bytes of a frame.
        back : bool
            With `to`: it answers, and the round trip is measured.

        Raises
        ------
        LabError
            There is no such node, no way between the two, or no such core.
        LinkDown
            The probe's memif does not connect.

        Notes
        -----
        The probe's memif waits for packets as the node's others do, and `rx_mode` sets it with them.
        """
        _ = self[node], self[to or node]
        assert self._launch is not None  # noqa: S101 - self[node] has seen to it
        return NodeProbe(
            self._launch.rundir.path, self.nodes, node, to, wait=wait, core=core, size=size, back=back
        )

    def bench(self, preset: str | None = None) -> Bench:
        """Open the bench: one live panel of knobs and plots; it is shown as the last line of a cell.

        Parameters
        ----------
        preset : str, optional
            Where the knobs stand at first: ``pinning``, ``rx_mode`` or ``throughput``.

        Raises
        ------
        LabError
            There is no such preset, or the lab is not started, or does not answer.
        """
        from labs.bench.bench import Bench  # noqa: PLC0415 - it stands above a lab, and widgets load slowly
        from labs.bench.presets import apply, find_preset  # noqa: PLC0415 - likewise

        wanted = None if preset is None else find_preset(preset)
        bench = Bench(self)  # type: ignore[arg-type] # every one of us is a Lab
        if wanted is not None:
            apply(bench, wanted)
        return bench

    def evidence(self, seconds: float = 2.0) -> evidence.Evidence:
        """Watch the nodes for a while through the kernel's scheduler; see `labs.evidence.Evidence`.

        Raises
        ------
        NodeDied
            A node has ended, before or meanwhile.
        """
        for node in self.nodes.values():
            node.must_run()
        seen = evidence.observe({name: node.handle.pid for name, node in self.nodes.items()}, seconds)
        for node in self.nodes.values():
            node.must_run()
        return seen
