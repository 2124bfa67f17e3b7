"""Whether the lab's memifs connect, and if not, why."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.vpp.parse import MemifState, MemifTable

_ENDINGS = ("disconnect received", "interface deleted", "connection fd error")
"""VPP's words for a connection that stood and has ended: they tell nothing of why there is none now."""


@dataclass(frozen=True)
class Fault:
    """Why a link does not connect.

    Parameters
    ----------
    reason : str
        One sentence.
    hint : str
        What to do.
    """

    reason: str
    hint: str


def shared_address(
    source: str, source_has: Mapping[str, list[str]], target: str, target_has: Mapping[str, list[str]]
) -> str:
    """Return an address of `target` on a network that `source` is on too.

    Parameters
    ----------
    source, target : str
        Node names.
    source_has, target_has : mapping of str to list of str
        Their addresses with prefix length, by interface.

    Raises
    ------
    LabError
        They share no network.
    """
    networks = [ipaddress.ip_interface(each).network for some in source_has.values() for each in some]
    for each in (address for some in target_has.values() for address in some):
        interface = ipaddress.ip_interface(each)
        if interface.network in networks:
            return str(interface.ip)
    raise LabError(
        f"{source} and {target} share no network.",
        "give both ends of a link an address: set interface ip address memif0/0 10.10.2.1/24",
    )


def address_on_the_way(source: str, target: str, has: Mapping[str, Mapping[str, list[str]]]) -> str:
    """Return the address of `target` at which one who comes from `source` meets it; see `path`."""
    before, last = path(source, target, has)[-2:]
    return shared_address(before, has[before], last, has[last])


def path(source: str, target: str, has: Mapping[str, Mapping[str, list[str]]]) -> list[str]:
    """Return the nodes on the shortest way from `source` to `target`, both included.

    Parameters
    ----------
    has : mapping
        Each node's addresses with prefix length, by interface.

    Raises
    ------
    LabError
        There is no way.
    """
    networks = {
        name: {ipaddress.ip_interface(each).network for some in interfaces.values() for each in some}
        for name, interfaces in has.items()
    }
    ways = [[source]]
    seen = {source}
    while ways:
        way = ways.pop(0)
        if way[-1] == target:
            return way
        nexts = [name for name in has if name not in seen and networks[name] & networks[way[-1]]]
        seen.update(nexts)
        ways += [[*way, name] for name in nexts]
    raise LabError(
        f"There is no way from {source} to {target}.",
        "give both ends of each link between them an address: set interface ip address memif0/0 10.10.2.1/24",
    )


def fault(tables: Mapping[str, MemifTable]) -> Fault | None:
    """Return what keeps the first memif from carrying packets; None if all are connected and up.

    Parameters
    ----------
    tables : mapping of str to MemifTable
        ``show memif`` of every node, parsed.

    Notes
    -----
    An end that is connected to something outside the lab is no link of it, and is passed over; but it is
    all that a lab of one node can have.
    """
    every = [(node, state) for node, table in tables.items() for state in table.interfaces]
    ends = [end for end in every if len(tables) == 1 or not _leads_elsewhere(*end, every, tables)]
    if not ends:
        return Fault(
            "No node has a memif yet.",
            "make one on each side: create interface memif id 0 master, and on the other side: ... slave.",
        )
    for node, state in ends:
        if not state.connected:
            others = [(name, other) for name, other in ends if name != node]
            return _explain(node, state, others, tables)
    # a server connects while it is down, but its node receives nothing until it is up (memif/node.c)
    return next((_down(node, state) for node, state in ends if not _is_up(state)), None)


def _leads_elsewhere(
    node: str, state: MemifState, ends: list[tuple[str, MemifState]], tables: Mapping[str, MemifTable]
) -> bool:
    """Return whether an end is connected to something that is no node of the lab, such as a probe."""
    here = (tables[node].socket_of(state), state.id)
    return state.connected and not any(
        name != node and (tables[name].socket_of(other), other.id) == here for name, other in ends
    )


def _is_up(end: MemifState) -> bool:
    return "admin-up" in end.flags


def _down(node: str, end: MemifState) -> Fault:
    return Fault(f"{node}'s {end.name} is down.", f"on {node}: set interface state {end.name} up")


def _explain(
    node: str,
    state: MemifState,
    others: list[tuple[str, MemifState]],
    tables: Mapping[str, MemifTable],
) -> Fault:
    """Go through the usual mistakes in the order socket, identifier, role, state, secret."""
    here = tables[node].socket_of(state)
    on_socket = [(name, other) for name, other in others if tables[name].socket_of(other) == here]
    if not on_socket:
        return _no_peer(node, state, here, others, tables)
    same_id = [(name, other) for name, other in on_socket if other.id == state.id]
    if not same_id:
        name, other = on_socket[0]
        return Fault(
            f"{node}'s {state.name} has id {state.id}, but {name}'s {other.name} has id {other.id}.",
            "both ends of a memif need the same id on the same socket.",
        )
    peers = [(name, other) for name, other in same_id if not other.connected]
    if not peers:
        name, other = same_id[0]
        return Fault(
            f"{name}'s {other.name} is connected already, and not to {node}.",
            "a memif joins two ends only; give the next link another id.",
        )
    name, other = peers[0]
    return _between(node, state, name, other)


def _between(node: str, state: MemifState, name: str, other: MemifState) -> Fault:
    """Explain why two ends that share socket and id do not connect."""
    if other.role == state.role:
        word = "master" if state.role == "server" else "slave"
        return Fault(
            f"Both {node} and {name} have the role {word} on {state.name}.",
            f"delete one (delete interface memif {state.name}) and create it with the other role.",
        )
    for side, end in ((node, state), (name, other)):
        if not _is_up(end):
            return _down(side, end)
    reasons = [
        f"{side} says: {text}"
        for side, end in ((node, state), (name, other))
        for text in (end.local_reason, end.remote_reason)
        if text and text not in _ENDINGS
    ]
    if any("secret" in text for text in reasons):
        return Fault(
            f"{node} and {name} do not have the same secret ({'; '.join(dict.fromkeys(reasons))}).",
            "create both ends with the same secret, or both without.",
        )
    if reasons:
        return Fault(
            f"{node} and {name} do not agree ({'; '.join(dict.fromkeys(reasons))}).",
            "compare mode, id and secret of the two ends: show memif.",
        )
    return Fault(
        f"{node} and {name} look right, but they have not connected yet.",
        "a slave tries again every 3 seconds; wait once more with lab.wait_link().",
    )


def _no_peer(
    node: str,
    state: MemifState,
    here: str,
    others: list[tuple[str, MemifState]],
    tables: Mapping[str, MemifTable],
) -> Fault:
    if others:
        name, other = others[0]
        return Fault(
            f"{node}'s {state.name} uses the socket {here}, and {name}'s {other.name} uses "
            f"{tables[name].socket_of(other)}.",
            "both ends of a memif need the same socket file.",
        )
    if state.role == "client":
        return Fault(
            f"Nobody listens for {node}'s {state.name} on {here}: no other node has a memif.",
            "create the other end: create interface memif id 0 master",
        )
    return Fault(
        f"{node}'s {state.name} listens on {here}, and no other node has a memif that connects.",
        "create the other end: create interface memif id 0 slave",
    )
