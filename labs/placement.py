"""Which node runs on which cores: the three states of the course, and any other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.kernel import Thread, allowed_cores, format_cores, separate_cores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.topology import NodeSpec, Topology

Cores = tuple[int, ...]

STATES = {
    "same": "all nodes on one core",
    "apart": "a core each",
    "free": "free to move",
}


@dataclass(frozen=True)
class Placed:
    """Nodes moved to cores: what was asked, what the kernel says, and the equal shell commands."""

    asked: dict[str, Cores]
    actual: dict[str, Cores]
    commands: list[str]


def by_state(state: str, nodes: Iterable[NodeSpec], *, share: bool = False) -> dict[str, Cores]:
    """Return the cores of each node in one of the three states; an empty tuple is free to move.

    Parameters
    ----------
    state : {"same", "apart", "free"}
    nodes : iterable of NodeSpec
    share : bool
        Let nodes share cores where there are too few for "apart", instead of refusing.

    Raises
    ------
    LabError
        There is no such state, or there are too few cores for "apart".
    """
    specs = list(nodes)
    if state not in STATES:
        raise LabError(f"There is no placement {state!r}.", f"choose one of {', '.join(STATES)}.")
    if state == "free":
        return {spec.name: () for spec in specs}
    if state == "same":
        return {spec.name: allowed_cores()[:1] for spec in specs}
    wanted = sum(1 + spec.workers for spec in specs)
    cores = separate_cores(wanted)
    if len(cores) < wanted and not share:
        raise LabError(
            f"A core each needs {wanted} cores, and this session may use {len(cores)} "
            f"({format_cores(cores)}).",
            "give the machine or the container more cores, or leave the nodes on one.",
        )
    places, at = {}, 0
    for spec in specs:
        places[spec.name] = tuple(cores[(at + k) % len(cores)] for k in range(1 + spec.workers))
        at += 1 + spec.workers
    return places


def placed(topology: Topology, state: str) -> Topology:
    """Return the topology with its nodes on the cores of a state, shared where there are too few."""
    cores = by_state(state, topology.nodes, share=True)
    return replace(topology, nodes=tuple(replace(node, cores=cores[node.name]) for node in topology.nodes))


def by_name(chosen: Mapping[str, int | Iterable[int] | None], nodes: Iterable[str]) -> dict[str, Cores]:
    """Check and return cores given node by node, as ``{"vpp1": 0, "vpp2": None}``.

    Raises
    ------
    LabError
        No such node, or a core outside those this session may use.
    """
    known = list(nodes)
    places: dict[str, Cores] = {}
    for name, value in chosen.items():
        if name not in known:
            raise LabError(f"This lab has no node {name!r}.", f"its nodes are {', '.join(known)}.")
        if value is None:
            places[name] = ()
            continue
        cores = tuple(value) if isinstance(value, Iterable) else (value,)
        check(name, cores)
        places[name] = tuple(int(core) for core in cores)  # numpy's integers are cores, too
    return places


def check(name: str, cores: Cores) -> None:
    """Refuse cores that this session may not use.

    Raises
    ------
    LabError
        It says which cores may be used.
    """
    allowed = allowed_cores()
    if not isinstance(cores, Iterable):
        raise LabError(
            f"The cores of {name} cannot be {cores!r}.", f"give them in parentheses: cores=({allowed[0]},)."
        )
    for core in cores:
        if isinstance(core, bool) or not isinstance(core, Integral):
            raise LabError(
                f"{core!r} is no core, and {name} was to run on it.",
                f"give a number: {name}={allowed[0]}; several: {name}=(0, 1); or None for free to move.",
            )
        if core not in allowed:
            usable = ", ".join(str(number) for number in allowed)
            raise LabError(
                f"{name} cannot run on core {core}: it is outside the cores this session may use ({usable}).",
                f"leave the core out, or pick one of {usable}.",
            )


def while_starting(spec: NodeSpec) -> Cores:
    """Return a core for each thread of a node while it starts; empty where VPP may choose.

    VPP refuses to put two of its threads on one core. A node that is to share cores, or to be free to move,
    is moved once it runs.

    Raises
    ------
    LabError
        This session has fewer cores than the node has threads.
    """
    if isinstance(spec.workers, bool) or not isinstance(spec.workers, int) or spec.workers < 0:
        raise LabError(f"{spec.name} cannot have {spec.workers!r} workers.", "give a number: 0, 1, 2, ...")
    if not spec.workers:
        return spec.cores[:1]
    wanted, allowed = 1 + spec.workers, allowed_cores()
    cores = tuple(dict.fromkeys((*spec.cores, *separate_cores(len(allowed)))))[:wanted]
    if len(cores) < wanted:
        raise LabError(
            f"{spec.name} has {wanted} threads, and VPP wants a core for each; this session may use "
            f"{len(allowed)} ({format_cores(allowed)}).",
            "give the node fewer workers, or this session more cores.",
        )
    return cores


def spread(threads: list[Thread], cores: Cores) -> dict[int, Cores]:
    """Return the cores of each thread of a node: the first for the main thread, the rest for workers in turn.

    With one core all threads share it; with none all may use every core of this session.
    """
    if not cores:
        return {thread.tid: allowed_cores() for thread in threads}
    workers = cores[1:] or cores
    places: dict[int, Cores] = {}
    turn = 0
    for thread in threads:
        if "_wk_" in thread.name:  # vpp_wk_0, or glass_wk_0
            places[thread.tid] = (workers[turn % len(workers)],)
            turn += 1
        else:
            places[thread.tid] = cores[:1]
    return places


def confirm(asked: Mapping[str, Cores], actual: Mapping[str, Cores]) -> None:
    """Compare what was asked of the kernel with what it did.

    Raises
    ------
    LabError
        A node may run on a core that was not asked for.
    """
    for name, wanted in asked.items():
        if wanted and not set(actual[name]) <= set(wanted):
            raise LabError(
                f"{name} was to run on {describe(wanted)}, and the kernel says {describe(actual[name])}.",
                "something else moves it back: a cpuset, or a CPU manager; see labs doctor.",
            )


def describe(cores: Cores) -> str:
    """Return cores in words, as ``core 0``, ``cores 0,1`` or ``free to move``."""
    if not cores:
        return "free to move"
    return f"core{'s' if len(cores) > 1 else ''} {format_cores(cores)}"
