"""Pinging a node from outside, over a memif of the check's own: what gets through, and what does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labs.lab import Lab
    from labs.node import Node

_CHECK = 77
"""The memif socket by which a check looks at a node from outside; the notebook uses none so high."""


def echoes(lab: Lab, ttls: Iterable[int]) -> set[int]:
    """Ping vpp1 over a memif of its own, once with each time to live, and return which were answered."""
    from scapy.layers.inet import ICMP, IP  # noqa: PLC0415 - scapy takes long to load
    from scapy.layers.l2 import Ether  # noqa: PLC0415 - likewise

    from labs.memif import Client  # noqa: PLC0415 - as does numba

    ours, its = "02:fe:0a:0a:4d:02", "02:fe:0a:0a:4d:01"
    node = lab["vpp1"]
    _unplug(node)
    node.cli(f"""\
create memif socket id {_CHECK} filename check.sock
create interface memif id 0 socket-id {_CHECK} hw-addr {its} master
set interface state memif{_CHECK}/0 up
set interface ip address memif{_CHECK}/0 10.10.77.1/24
set ip neighbor memif{_CHECK}/0 10.10.77.2 {ours}""")
    way = Ether(src=ours, dst=its) / IP(src="10.10.77.2", dst="10.10.77.1")
    answered = set()
    try:
        with Client(lab.folder / "check.sock", interface="check") as link:
            for ttl in ttls:
                request = way.copy()
                request[IP].ttl = ttl
                link.send(request / ICMP(seq=ttl))
            while packets := link.receive(timeout=0.5):
                answered |= {
                    packet[ICMP].seq
                    for packet in map(Ether, packets)
                    if ICMP in packet and packet[ICMP].type == 0
                }
    finally:
        _unplug(node)
    return answered


def _unplug(node: Node) -> None:
    """Take the check's memif away, if it is there."""
    if node.memifs().interface(f"memif{_CHECK}/0"):
        node.cli(f"delete interface memif memif{_CHECK}/0")
    if any(row.id == _CHECK for row in node.memifs().sockets):
        node.cli(f"delete memif socket id {_CHECK}")
