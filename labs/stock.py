"""The labs that the notebooks use."""

from __future__ import annotations

from dataclasses import replace

from labs import engines, topology
from labs.lab import Lab
from labs.placement import placed


def one_vpp(name: str = "one-vpp", *, engine: str | None = None) -> Lab:
    """Return a lab with one VPP, vpp1, and no link."""
    return Lab(placed(topology.chain(name, 1), "apart"), engine)


def two_vpps(
    name: str = "two-vpps", *, cores: str = "apart", links: bool = True, engine: str | None = None
) -> Lab:
    """Return a lab with two VPPs and one memif between them.

    vpp1 is the server (VPP says master) with 10.10.2.1/24, vpp2 the client (slave) with 10.10.2.2/24.

    Parameters
    ----------
    name : str
    cores : {"apart", "same", "free"}
        A core each, as far as there are enough; all on one core; or free to move.
    links : bool
        False leaves the memif for the learner to make.
    engine : str, optional
        ``docker`` or ``process``; without it ``LABS_ENGINE``, else the first that can be used.
    """
    return Lab(placed(topology.chain(name, 2, links=links), cores), engine)


def one_with_vhost(name: str = "links", *, engine: str | None = None) -> Lab:
    """Return a lab with one node that can do vhost-user, too, where its engine can; the glass box cannot."""
    chosen, _ = engines.choose(engine)
    one = topology.chain(name, 1)
    if chosen.name != "glassbox":
        plugins = (*one.nodes[0].plugins, "vhost")
        one = replace(one, nodes=tuple(replace(node, plugins=plugins) for node in one.nodes))
    return Lab(placed(one, "apart"), chosen.name)


def chain(count: int, name: str = "chain", *, engine: str | None = None) -> Lab:
    """Return a lab with `count` VPPs in a row, each linked to the next."""
    return Lab(placed(topology.chain(name, count), "apart"), engine)
