"""What a packet looked like at a node, as VPP's ``show trace`` tells it.

A record holds a packet as it was behind a node. Nodes that answer in the packet they got, or strip its
header, are shown as VPP shows them: with the packet as it came to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labs.glassbox.commands.columns import interface_name, mac_text
from labs.glassbox.commands.header_text import arp_lines, ethernet_lines, hex_lines, ip4_lines
from labs.glassbox.drops import COUNTED
from labs.glassbox.graph import OUTPUT
from labs.glassbox.headers import DESTINATION_MAC, ETHERTYPE, SOURCE_MAC
from labs.glassbox.packet import HEADROOM

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.glassbox.box import Box

_SHOWN = 60  # bytes of a packet that ip4-rewrite's trace shows, as VPP's does


@dataclass(frozen=True)
class Seen:
    """A packet behind a node.

    Attributes
    ----------
    mark : int
        Its number in the trace, from 1.
    node, next : int
        Which node, and where the packet goes: a node, `GONE`, or from `OUTPUT` on an interface.
    at : int
        When, in ticks.
    offset, length, came_by, leaves_by, adjacency, reason : int
        What is known about it; see `labs.glassbox.packet`.
    raw : bytes
        Its first bytes, headroom included.
    """

    mark: int
    node: int
    next: int
    at: int
    offset: int
    length: int
    came_by: int
    leaves_by: int
    adjacency: int
    reason: int
    raw: bytes

    @property
    def header(self) -> bytes:
        """What was recorded of it, from its present header on."""
        return self.raw[HEADROOM + self.offset :][: self.length]


def seen(record: Any) -> Seen:  # noqa: ANN401 - a row of `labs.glassbox.vm.RECORD`
    """Return a record of the trace as `Seen`."""
    numbers = [int(record[each]) for each in ("mark", "node", "next", "at")]
    numbers += record["facts"].view("<i4")[[0, 2, 3, 4, 5, 6]].tolist()
    mark, node, to, at, offset, length, came_by, leaves_by, adjacency, reason = numbers
    raw = record["bytes"].tobytes()
    return Seen(mark, node, to, at, offset, length, came_by, leaves_by, adjacency, reason, raw)


def lines_of(box: Box, now: Seen, before: Seen | None) -> list[str]:
    """Return what is to be said about a packet at a node.

    Parameters
    ----------
    box : Box
    now : Seen
        Behind the node.
    before : Seen, optional
        Behind the node before it.
    """
    kind = box.graph.kinds[now.node].name
    return _FORMATS.get(kind, _any)(box, now, before or now)


def _pg_input(box: Box, now: Seen, _before: Seen) -> list[str]:
    stream = next(
        (
            name
            for name, each in box.streams.by_name.items()
            if each.interface.index == now.came_by and each.packet.startswith(now.header)
        ),
        "(deleted)",
    )
    to = (
        box.graph.names[now.next] if now.next < OUTPUT else f"{interface_name(box, now.next - OUTPUT)}-output"
    )
    return [
        f"stream {stream}, {now.length} bytes, sw_if_index {now.came_by}, next_node {to}",
        _buffer(now),
        *(ip4_lines(now.header) if to.startswith("ip4-") else ethernet_lines(now.header, deep=True)),
    ]


def _memif_input(_box: Box, now: Seen, _before: Seen) -> list[str]:
    return [f"memif: hw_if_index {now.came_by}, {now.length} bytes"]


def _ethernet_input(_box: Box, now: Seen, before: Seen) -> list[str]:
    return [f"frame: sw-if-index {now.came_by}", *ethernet_lines(before.header)]


def _arp(_box: Box, _now: Seen, before: Seen) -> list[str]:
    return arp_lines(before.header)


def _ip4(_box: Box, _now: Seen, before: Seen) -> list[str]:
    return ip4_lines(before.header)


def _lookup(_box: Box, now: Seen, _before: Seen) -> list[str]:
    return [f"fib 0 dpo-idx {now.adjacency} flow hash: 0x00000000", *ip4_lines(now.header)]


def _forward(_box: Box, now: Seen, before: Seen) -> list[str]:
    return [f"  fib:0 adj:{now.adjacency} flow:0x00000000", *ip4_lines(before.header)]


def _rewrite(box: Box, now: Seen, before: Seen) -> list[str]:
    adjacency = box.vm.adjacencies[now.adjacency]
    hop = int(adjacency["next_hop"]) or int.from_bytes(before.header[16:20])
    address = ".".join(str(each) for each in hop.to_bytes(4))
    new = now.header[: now.length - before.length].hex()
    way = f"ipv4 via {address} {interface_name(box, now.leaves_by)}: mtu:{int(adjacency['mtu'])} {new}"
    return [
        f"tx_sw_if_index {now.leaves_by} dpo-idx {now.adjacency} : {way} flow hash: 0x00000000",
        *hex_lines(now.header[:_SHOWN]),
    ]


def _output(box: Box, now: Seen, _before: Seen) -> list[str]:
    interface = int(box.vm.nodes[now.node]["data"])
    return [interface_name(box, interface), *_frame(box, interface, now.header)]


def _tx(box: Box, now: Seen, _before: Seen) -> list[str]:
    return [f"  {_buffer(now)}", *_frame(box, int(box.vm.nodes[now.node]["data"]), now.header)]


def _error_drop(box: Box, now: Seen, _before: Seen) -> list[str]:
    return [f"rx:{interface_name(box, now.came_by)}"]


def _drop(_box: Box, now: Seen, _before: Seen) -> list[str]:
    node, text = COUNTED[now.reason] if now.reason < len(COUNTED) else ("null-node", f"reason {now.reason}")
    return [f"{node}: {text}"]


def _l2(box: Box, now: Seen, _before: Seen) -> list[str]:
    kind = box.graph.kinds[now.node].name
    target, source = (mac_text(now.header[at : at + 6]) for at in (DESTINATION_MAC, SOURCE_MAC))
    where = f"sw_if_index {now.came_by} dst {target} src {source}"
    if now.next >= OUTPUT:
        where += f" to {interface_name(box, now.next - OUTPUT)}"
    return [f"{kind + ':':9} {where}"]


def _any(box: Box, now: Seen, _before: Seen) -> list[str]:
    """Tell of a node that nobody has told us about: one that a learner wrote."""
    if now.next >= OUTPUT:
        to = f"{interface_name(box, now.next - OUTPUT)}-output"
    else:
        to = box.graph.names[now.next] if now.next >= 0 else "nowhere"
    looks_like_ip4 = now.header[:1] and now.header[0] >> 4 == 4 and now.header[0] & 15 >= 5  # noqa: PLR2004 - IPv4
    is_frame = int.from_bytes(now.header[ETHERTYPE : ETHERTYPE + 2]) in (0x0800, 0x0806)
    known = (
        ethernet_lines(now.header, deep=True) if is_frame else ip4_lines(now.header) if looks_like_ip4 else []
    )
    return [f"next {to}, {_buffer(now)}", *(known or hex_lines(now.header[:_SHOWN]))]


def _buffer(now: Seen) -> str:
    return f"current data {now.offset}, length {now.length}, trace handle 0x{now.mark - 1:x}"


def _frame(box: Box, index: int, raw: bytes) -> list[str]:
    """Return what an interface sends: in mode ip there is no Ethernet header."""
    has_mac = bool(int(box.vm.interfaces[index]["mac"]))
    return ethernet_lines(raw, deep=True) if has_mac else ip4_lines(raw)


_FORMATS: dict[str, Callable[[Box, Seen, Seen], list[str]]] = {
    "pg-input": _pg_input,
    "memif-input": _memif_input,
    "ethernet-input": _ethernet_input,
    "arp-input": _arp,
    "arp-reply": _arp,
    "ip4-input": _ip4,
    "ip4-local": _ip4,
    "ip4-icmp-input": _ip4,
    "ip4-icmp-echo-request": _ip4,
    "ip4-icmp-echo-reply": _ip4,
    "ip4-lookup": _lookup,
    "ip4-arp": _forward,
    "ip4-drop": _forward,
    "ip4-rewrite": _rewrite,
    "error-drop": _error_drop,
    "drop": _drop,
    "interface-output": _output,
    "interface-pg-tx": _tx,
    "interface-memif-tx": _tx,
    "interface-loop-tx": _tx,
    "l2-input": _l2,
    "l2-fwd": _l2,
    "l2-flood": _l2,
}
