"""What makes parts of a running lab anew: a node, with other workers; the links, of another kind."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from labs import connectivity
from labs.errors import LabError, LinkDown
from labs.lab_part import LabPart
from labs.link_lines import link_names, link_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from labs.node import Node
    from labs.topology import Topology
    from labs.vpp.parse import MemifTable


_CHANGEABLE = ("ring_size", "queues", "zero_copy", "mode")


class Rebuilding(LabPart):
    """The part of `labs.lab.Lab` that takes away and makes anew."""

    @property
    def current(self) -> Topology:
        """What the lab consists of now: as it was made, but for links and workers changed since.

        Raises
        ------
        LabError
            The lab is not started.
        """
        return self._running().topology

    def tell(self, what: str, lines: list[str]) -> None:
        """Tell the listeners of a change, with the equal shell lines."""
        raise NotImplementedError

    def restart(self, node: str, *, workers: int | None = None) -> None:
        """Start one node anew, with its links, whether it died or not; see `rebuild_node`.

        Parameters
        ----------
        node : str
        workers : int, optional
            How many worker threads it is to have from now on; as many as before, if left out.
        """
        self.tell(f"lab.restart: {node}", self.rebuild_node(node, workers=workers))

    def rebuild_node(self, node: str, *, workers: int | None = None) -> list[str]:
        """End a node and start it anew, with its links; return the equal shell lines.

        Raises
        ------
        LabError
            This session has too few cores for the workers; the node then runs on as it was. Or the node
            does not start.
        LinkDown
            It runs, but a link does not connect.
        """
        ended, launch = self[node], self._running()
        spec = ended.spec if workers is None else replace(ended.spec, workers=workers)
        launch.check(spec)
        with self._clients_away(node) as called:
            ended.close()
            launch.put(spec)
            fresh = launch.start_node(spec)
            fresh.wait_ready()
            launch.settle(fresh)
        if all(each.alive for each in self.nodes.values()):
            self._wait_own_links()
        threads = "" if workers is None else f" with {workers} worker thread{'s' * (workers != 1)}"
        return [f"# {node} is started anew with its startup.conf{threads}, and makes its links", *called]

    @contextlib.contextmanager
    def _clients_away(self, server: str) -> Iterator[list[str]]:
        """Set a node's clients down while it is started anew, so that they connect at once when it is up.

        By themselves they try every 3 seconds, and whenever their interface is set up; but VPP 26.06 can
        crash when a client leaves in the midst of a handshake, so they are sent away before there is one.
        """
        said: list[str] = []
        away = []
        for number, link in enumerate(self._running().topology.links):
            client = self.nodes[link.client]
            if link.server == server and client.alive:
                ups = [each.name for each in client.memifs().interfaces if "admin-up" in each.flags]
                away += [(client, f"set interface state memif{number}/0")] * (f"memif{number}/0" in ups)
        for client, line in away:
            said += client.say([f"{line} down"])
        try:
            yield said
        finally:
            for client, line in away:
                if client.alive:
                    said += client.say([f"{line} up"])

    def relink(self, **changes: Any) -> None:  # noqa: ANN401 - `LinkSpec` types them
        """Make the lab's links anew, and print VPP's lines; see `rebuild_links`."""
        lines = self.rebuild_links(**changes)
        for line in lines:
            print(f"$ {line}")
        self.tell("lab.relink", lines)

    def rebuild_links(self, **changes: Any) -> list[str]:  # noqa: ANN401 - `LinkSpec` types them
        """Take the lab's own links away and make them anew, with the same addresses, sockets and MACs.

        Memifs that were made by hand are left alone. VPP sets a new memif to its default rx-mode; what each
        node was set to before is set again. A node that is restarted later makes its links as they are now.

        Parameters
        ----------
        ring_size, queues, zero_copy, mode
            What they are to be from now on, as for `labs.topology.LinkSpec`; as before, if left out.

        Returns
        -------
        list of str
            The equal shell lines.

        Raises
        ------
        NodeDied
            A node has ended.
        LabError
            The lab has no links of its own, or there are none of this kind.
        LinkDown
            A link does not connect again.
        """
        launch = self._running()
        if not launch.topology.links:
            raise LabError(
                f"The lab {launch.topology.name!r} has no link of its own to make anew.",
                "links made by hand are deleted and made by hand: delete interface memif ...",
            )
        if unknown := sorted(set(changes) - set(_CHANGEABLE)):
            raise LabError(
                f"Links have no {unknown[0]!r} that can be changed.", f"choose {', '.join(_CHANGEABLE)}."
            )
        made_anew = tuple(replace(link, **changes) for link in launch.topology.links)
        wanted = replace(launch.topology, links=made_anew)
        for node in self.nodes.values():
            node.must_run()
        modes = {name: node.rx_modes() for name, node in self.nodes.items()}
        lines = []
        for name, node in self.nodes.items():
            there = {state.name for state in node.memifs().interfaces}
            lines += node.say(
                [f"delete interface memif {each}" for each in link_names(wanted, name) if each in there]
            )
        launch.topology = wanted
        for name, node in self.nodes.items():
            lines += node.say(link_script(wanted, name, sockets=False).splitlines())
        self._wait_own_links()
        for name, node in self.nodes.items():
            again = [
                f"set interface rx-mode {each} {mode}"
                for each in link_names(wanted, name)
                if (mode := modes[name].get(each, "polling")) != "polling"
            ]
            lines += node.say(again)
        return lines

    def wait_link(self, timeout: float = 5.0) -> None:
        """Return when every memif of the lab is connected.

        Raises
        ------
        LinkDown
            One is not after `timeout` seconds; the message says why.
        """
        self._wait(lambda: {name: node.memifs() for name, node in self.nodes.items()}, timeout)

    def _wait_own_links(self) -> None:
        """Return when the links that the lab was made with are connected, whatever else is not."""
        topology = self._running().topology
        if topology.links:
            self._wait(lambda: {name: _own(node, topology) for name, node in self.nodes.items()}, 5.0)

    @staticmethod
    def _wait(look: Callable[[], dict[str, MemifTable]], timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while found := connectivity.fault(look()):
            if time.monotonic() > deadline:
                raise LinkDown(found.reason, found.hint)
            time.sleep(0.02)


def _own(node: Node, topology: Topology) -> MemifTable:
    """Return a node's memifs without those that were made by hand, or for a probe."""
    table, names = node.memifs(), link_names(topology, node.name)
    return replace(table, interfaces=tuple(each for each in table.interfaces if each.name in names))
