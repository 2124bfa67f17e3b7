"""The CLI lines that make the links of a topology."""

from __future__ import annotations

import ipaddress
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labs.topology import LinkSpec, Topology


def link_names(topology: Topology, node: str) -> list[str]:
    """Return the names of a node's ends of the topology's links."""
    return [
        f"memif{number}/0" for number, link in enumerate(topology.links) if node in (link.server, link.client)
    ]


def link_script(topology: Topology, node: str, *, sockets: bool = True) -> str:
    """Return the CLI lines that make a node's ends of the topology's links.

    The first link uses VPP's default socket, as FD.io's tutorial does; each further link has one of its own,
    because a VPP can have but one role on a socket.

    Parameters
    ----------
    topology : Topology
    node : str
    sockets : bool
        Whether to make the sockets, too; they outlive their links.
    """
    lines = []
    for number, link in enumerate(topology.links):
        if node not in (link.server, link.client):
            continue
        name = f"memif{number}/0"
        if number and sockets:
            lines.append(f"create memif socket id {number} filename link{number}.sock")
        lines += [
            _create_line(number, link, node),
            f"set interface state {name} up",
            f"set interface ip address {name} {link.address_of(node)}",
        ]
    return "\n".join(lines)


def _create_line(number: int, link: LinkSpec, node: str) -> str:
    line = "create interface memif id 0"
    if number:
        line += f" socket-id {number}"
    if link.mode == "ip":  # such packets have no hardware address
        line += f" mode ip {link.role_of(node)}"
    else:
        line += f" hw-addr {hardware_address(link.address_of(node))} {link.role_of(node)}"
    if link.ring_size != 1024:  # noqa: PLR2004 - VPP's own default
        line += f" ring-size {link.ring_size}"
    if link.queues > 1:
        line += f" rx-queues {link.queues} tx-queues {link.queues}"
    if not link.zero_copy and node == link.client:
        line += " no-zero-copy"
    if link.secret:
        line += f" secret {link.secret}"
    return line


def hardware_address(address: str) -> str:
    """Return the Ethernet address of an end, made from its interface address.

    VPP's own choice is random. A node that is started anew would have another one, and its neighbours would
    go on sending to the old.
    """
    packed = ipaddress.ip_interface(address).packed
    # the low half of an IPv6 address may well be ::1 on every node
    tail = packed if len(packed) == 4 else zlib.crc32(packed).to_bytes(4)  # noqa: PLR2004 - an IPv4 address
    return ":".join(f"{byte:02x}" for byte in b"\x02\xfe" + tail)
