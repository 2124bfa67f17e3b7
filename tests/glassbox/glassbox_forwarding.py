"""What a router has to make of an IPv4 packet (RFC 1812), and how to see that the box does just that."""

from __future__ import annotations

from scapy.layers.l2 import Ether

from labs.glassbox.route import Prefix, Route

A, B = "10.0.0.2", "10.0.1.2"


def forwarded(packet, wire):
    """Return the frame that a router has to send by a wire for this IPv4 packet."""
    raw = bytearray(bytes(packet))
    size = int.from_bytes(raw[2:4])
    raw = raw[:size]
    header = (raw[0] & 15) * 4
    raw[8] -= 1
    raw[10:12] = b"\0\0"
    total = sum(int.from_bytes(raw[each : each + 2]) for each in range(0, header, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    raw[10:12] = (~total & 0xFFFF).to_bytes(2)
    return bytes(Ether(src=wire.theirs, dst=wire.ours, type=0x0800)) + bytes(raw)


def goes(bench, packet, frame=None, out=1):
    """Send a packet in by the first wire, and see that exactly it comes out of another, aged."""
    frame = frame or bench.wires[0].frame() / packet
    results = bench.through(bench.wires[0], frame)
    wanted = [forwarded(packet, bench.wires[out])]
    assert results == [wanted if each == out else [] for each in range(len(bench.wires))]


def stays(bench, frame, reason):
    """Send a frame in by the first wire, and see that it is dropped for one reason."""
    out, moved = bench.why(bench.wires[0], frame)
    assert out == []
    assert moved == {reason: 1}


def with_checksum(raw, header):
    raw[10:12] = b"\0\0"
    total = sum(int.from_bytes(raw[each : each + 2]) for each in range(0, header, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    raw[10:12] = (~total & 0xFFFF).to_bytes(2)
    return raw


def route_behind_second(bench):
    if Prefix("20.0.0.0/8") not in bench.box.routes.routes:
        wire = bench.wires[1]
        hop = next(hop for index, hop in bench.box.routes.neighbours if index == wire.index)
        bench.box.routes.add(Prefix("20.0.0.0/8"), Route("via", wire.index, hop))
