"""What becomes of a memif's rx-mode when the link connects anew: it is lost, and set again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from labs.errors import LabError, LinkDown
from labs.link_lines import link_names

if TYPE_CHECKING:
    from labs.lab import Lab


@dataclass(frozen=True)
class Lost:
    """The rx-mode of a link's end whose peer was started anew.

    Parameters
    ----------
    node, interface : str
        The end that ran on and that nobody touched.
    mode : str
        What was set.
    before, after, again : str
        What the node said: before, when its peer was back, and when the mode had been set again.
    commands : list of str
        The equal shell lines.
    """

    node: str
    interface: str
    mode: str
    before: str
    after: str
    again: str
    commands: list[str]

    @property
    def is_lost(self) -> bool:
        """Whether the mode that stood before did not stand after."""
        return self.before == self.mode != self.after

    @property
    def is_back(self) -> bool:
        """Whether it stands again."""
        return self.again == self.mode

    def to_dict(self) -> dict[str, Any]:
        """Return it as a run keeps it."""
        return asdict(self)


def restart_peer(lab: Lab, mode: str = "interrupt") -> Lost:
    """Set a mode, start the first link's client anew, and read what the mode of the server is; set it again.

    Raises
    ------
    LabError
        The lab has no link.
    LinkDown
        The link does not come back.

    Notes
    -----
    VPP gives each queue of a memif the interface's default mode when it connects (plugins/memif/memif.c), and
    ``set interface rx-mode`` sets queues, not the default. Setting an interface down is no reconnect: the
    link stays connected.
    """
    links = lab.current.links
    if not links:
        raise LabError("This lab has no link.", "use two_vpps().")
    server, client = links[0].server, links[0].client
    interface = link_names(lab.current, server)[0]
    for node in lab.nodes.values():
        node.rx_mode(mode)
    before = _mode(lab, server, interface)
    said = lab.rebuild_node(client)
    after = _mode(lab, server, interface)
    for node in lab.nodes.values():
        said += node.in_shell(node.rx_mode(mode))
    return Lost(server, interface, mode, before, after, _mode(lab, server, interface), said)


def _mode(lab: Lab, node: str, interface: str) -> str:
    """Return an interface's mode.

    Raises
    ------
    LinkDown
        It has no queue.
    """
    modes = lab[node].rx_modes()
    if interface not in modes:
        raise LinkDown(f"{node}'s {interface} is not connected.", "lab.wait_link() says what is missing.")
    return modes[interface]
