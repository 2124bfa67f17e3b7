"""What a lab consists of: nodes, the links between them, and the stock topologies."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from itertools import pairwise

from labs.errors import LabError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,23}")
_MIN_RING = 2
_MAX_RING = 16384  # the memif handshake carries log2 of the ring size and VPP clips it to 14
_MAX_QUEUES = 255
_MODES = ("ethernet", "ip")
_SECRET = re.compile(r"[!-~]{0,23}")  # the handshake carries 23 characters, and VPP's CLI reads one word


def check_name(name: str, what: str) -> None:
    """Refuse a name that VPP, Docker or a socket path would not take.

    Raises
    ------
    LabError
        The name is empty, too long or holds other characters than letters, digits and hyphens.
    """
    if not _NAME.fullmatch(name):
        raise LabError(
            f"{name!r} cannot be the name of a {what}.",
            "use a letter first, then letters, digits and hyphens, 24 characters at most.",
        )


@dataclass(frozen=True)
class NodeSpec:
    """One VPP to start.

    Parameters
    ----------
    name : str
        Its name, as in ``lab["vpp1"]``.
    cores : tuple of int
        Cores for its threads, the main thread's first; empty for free to move.
    workers : int
        Worker threads beside the main thread; with 0 the main thread forwards.
    heap_mb, stats_mb, buffers : int
        Main heap and stats segment in MiB, and packet buffers.
    plugins : tuple of str
        Plugins to load, without ``_plugin.so``.
    """

    name: str
    cores: tuple[int, ...] = ()
    workers: int = 0
    heap_mb: int = 1024
    stats_mb: int = 32
    buffers: int = 8192
    plugins: tuple[str, ...] = ("memif", "ping")

    def __post_init__(self) -> None:
        check_name(self.name, "node")


@dataclass(frozen=True)
class LinkSpec:
    """One memif between two nodes.

    Parameters
    ----------
    server, client : str
        Node names. VPP's CLI calls these master and slave.
    server_address, client_address : str
        Interface addresses with prefix length, as ``10.10.2.1/24``.
    ring_size : int
        Descriptors in a ring, a power of two.
    queues : int
        Rings in each direction, 1 to 255.
    secret : str
        Shared secret of 23 characters at most, or empty for none.
    zero_copy : bool
        Whether the client lends the server its packet buffers; else it copies into memory of the link's own.
        Only the client's word counts.
    mode : {"ethernet", "ip"}
        Whether frames travel over it, or IP packets without an Ethernet header.
    """

    server: str
    client: str
    server_address: str
    client_address: str
    ring_size: int = 1024
    queues: int = 1
    secret: str = ""
    zero_copy: bool = True
    mode: str = "ethernet"

    def __post_init__(self) -> None:
        if self.server == self.client:
            raise LabError(
                f"A link needs two nodes, but both ends are {self.server!r}.", "name two different nodes."
            )
        for address in (self.server_address, self.client_address):
            try:
                ipaddress.ip_interface(address)
            except ValueError:
                raise LabError(
                    f"{address!r} is not an interface address.", "write it as 10.10.2.1/24."
                ) from None
        if not _MIN_RING <= self.ring_size <= _MAX_RING or self.ring_size & (self.ring_size - 1):
            raise LabError(
                f"A memif ring cannot have {self.ring_size} descriptors.",
                f"choose a power of two from {_MIN_RING} to {_MAX_RING}.",
            )
        if not 1 <= self.queues <= _MAX_QUEUES:
            raise LabError(f"A memif cannot have {self.queues} queues.", f"choose 1 to {_MAX_QUEUES}.")
        if self.mode not in _MODES:
            raise LabError(f"A link has no mode {self.mode!r}.", f"choose {' or '.join(_MODES)}.")
        if not _SECRET.fullmatch(self.secret):
            raise LabError(
                f"{self.secret!r} cannot be the secret of a memif.",
                "use one word of letters, digits and signs, 23 characters at most.",
            )

    def address_of(self, node: str) -> str:
        """Return the interface address that `node` has on this link, with prefix length."""
        return self.server_address if node == self.server else self.client_address

    def role_of(self, node: str) -> str:
        """Return VPP's word for the role of `node` on this link: ``master`` or ``slave``."""
        return "master" if node == self.server else "slave"


@dataclass(frozen=True)
class Topology:
    """Nodes and the links between them.

    Parameters
    ----------
    name : str
        The lab's name.
    nodes : tuple of NodeSpec
    links : tuple of LinkSpec
    """

    name: str
    nodes: tuple[NodeSpec, ...]
    links: tuple[LinkSpec, ...] = field(default=())

    def __post_init__(self) -> None:
        check_name(self.name, "lab")
        if not self.nodes:
            raise LabError(f"The lab {self.name!r} has no node.", "give it at least one: NodeSpec('vpp1').")
        names = [node.name for node in self.nodes]
        if len(set(names)) != len(names):
            raise LabError(
                f"Two nodes of lab {self.name!r} have one name.", "give each node a name of its own."
            )
        for link in self.links:
            for end in (link.server, link.client):
                if end not in names:
                    raise LabError(
                        f"A link names the node {end!r}, which lab {self.name!r} does not have.",
                        f"its nodes are {', '.join(names)}.",
                    )


def chain(name: str, count: int, *, links: bool = True) -> Topology:
    """Return `count` VPPs in a row, each linked to the next by a memif.

    Link k joins vpp(k) (server, 10.10.(k+1).1/24) and vpp(k+1) (client, .2/24), k from 1.
    """
    nodes = tuple(NodeSpec(f"vpp{i}") for i in range(1, count + 1))
    pairs = pairwise(nodes) if links else ()
    return Topology(
        name,
        nodes,
        tuple(
            LinkSpec(left.name, right.name, f"10.10.{k}.1/24", f"10.10.{k}.2/24")
            for k, (left, right) in enumerate(pairs, start=2)
        ),
    )
