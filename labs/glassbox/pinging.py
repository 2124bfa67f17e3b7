"""ping, as a process of the main loop: it queues a request, waits its turn, and looks for the answer.

As in VPP the request is only put into a queue here. It leaves when the loop comes round: at once where a node
polls, but after its sleep where all of them wait for doorbells. So this ping, like VPP's own, shows the
loop's sleep and not the link's.
"""

from __future__ import annotations

import ipaddress
import struct
from typing import TYPE_CHECKING

import numpy as np

from labs.glassbox import clock
from labs.glassbox.buffers import claim
from labs.glassbox.dispatch import enqueue
from labs.glassbox.packet import ROOM, begin, origin
from labs.glassbox.vm import TICKS_PER_MS
from labs.memif.atoms import copy
from labs.memif.jit import kernel

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.interfaces import Interface

Address = ipaddress.IPv4Address
_TTL = 255
_HEADERS = 20 + 8 + 8  # IPv4, ICMP, and the time of sending, which VPP puts before the payload
_TWICE = 20  # VPP counts the IPv4 header twice (plugins/ping/ping.c, print_ip46_icmp_reply)
_ROUNDS_AT_ONCE = 256
MOST_DATA = ROOM - _HEADERS
"""The longest payload, in bytes."""


@kernel
def inject(vm, target, data, size):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - numba infers the types
    """Put a packet that we have made into a node's queue; return whether there was a buffer for it."""
    packet = claim(vm) if size <= ROOM else 0
    if packet == 0:
        return False
    begin(packet, size, 0)
    copy(origin(packet), np.int64(data.ctypes.data), size)
    enqueue(vm, target, packet)
    return True


def checksum(raw: bytes) -> int:
    """Return the Internet checksum of bytes (RFC 1071)."""
    total: int = sum(struct.unpack(f"!{len(raw) // 2}H", raw[: len(raw) // 2 * 2]))
    total += raw[-1] << 8 if len(raw) % 2 else 0
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def echo_request(source: Address, target: Address, number: int, sequence: int, size: int) -> bytes:
    """Return an IPv4 packet that asks for an echo; `size` is that of its payload, in bytes."""
    body = struct.pack("<q", clock.now()) + bytes(each & 255 for each in range(size))
    head = struct.pack("!BBHHH", 8, 0, 0, number, sequence)
    icmp = head[:2] + checksum(head + body).to_bytes(2) + head[4:] + body
    ip = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(icmp), sequence, 0, _TTL, 1, 0, source.packed, target.packed
    )
    return ip[:10] + checksum(ip).to_bytes(2) + ip[12:] + icmp


class Ping:
    """One ping that goes on; a `labs.glassbox.doors.running.Running`. Its lines are those of VPP's.

    Parameters
    ----------
    box : Box
    target : IPv4Address
    number : int
        Its identifier on the wire.
    source : Interface, optional
        Whose address to send from; by default that of the interface the route leads to.
    repeat : int
        Rounds.
    interval : float
        Seconds from one round to the next, and from the last round to the end.
    size : int
        Bytes of payload, `MOST_DATA` at most.
    burst : int
        Requests in each round.
    has_table, is_verbose : bool
        Whether there is the table of routes that was asked for; whether to print the source address.
    """

    def __init__(
        self,
        box: Box,
        target: Address,
        number: int,
        *,
        source: Interface | None = None,
        repeat: int = 5,
        interval: float = 1.0,
        size: int = 60,
        burst: int = 1,
        has_table: bool = True,
        is_verbose: bool = False,
    ) -> None:
        self._box = box
        self._target, self._source, self._number = target, source, number
        self._repeat, self._interval, self._size, self._burst = repeat, interval, size, burst
        self._has_table, self._is_verbose = has_table, is_verbose
        self._sent_at: dict[int, list[int]] = {}
        self._sent = self._received = self._rounds = 0
        self._lines: list[str] = []
        self._due = clock.now()
        self._is_over = False
        self._per_ms = int(box.vm.state[TICKS_PER_MS])
        box.pings[number] = self

    @property
    def due(self) -> int | None:
        """When it has to be run next, in ticks; None when it is over."""
        return None if self._is_over else self._due

    @property
    def has_lines(self) -> bool:
        """Whether there is something for `poll`."""
        return bool(self._lines)

    def run(self, now: int) -> None:
        """Send the next requests if it is time, or end."""
        for _ in range(_ROUNDS_AT_ONCE):
            if self._is_over or now < self._due:
                return
            if self._rounds == self._repeat:
                self._finish()
            else:
                self._rounds += 1
                self._round()
                self._due = now + int(self._interval * 1000 * self._per_ms)

    def answered(self, sequence: int, at: int, ttl: int, size: int) -> None:
        """Take note of an answer that has come; `size` is its ICMP message's, in bytes."""
        sent = self._sent_at.get(sequence)
        if not sent or self._is_over:
            return
        self._received += 1
        self._lines.append(
            f"{size + 20 + _TWICE} bytes from {self._target}: icmp_seq={sequence} ttl={ttl} "
            f"time={_four_digits((at - sent.pop(0)) / self._per_ms)} ms"
        )

    def poll(self) -> list[str] | None:
        """Return the lines that have come up; None when it has ended."""
        lines, self._lines = self._lines, []
        if self._is_over and not lines:
            return None
        return lines

    def abort(self) -> None:
        """Stop at once."""
        if not self._is_over:
            self._lines.append("Aborted due to a keypress.")
            self._finish()

    def _round(self) -> None:
        """Send the requests of a round, or say why that cannot be."""
        source = self._find_source()
        if isinstance(source, str):
            self._lines.append(f"Failed: {source}")
            return
        if self._is_verbose:
            self._lines.append(f"Source address: {source} ")
        sequence = self._rounds & 0xFFFF
        times = self._sent_at[sequence] = []
        for _ in range(self._burst):
            raw = np.frombuffer(
                echo_request(source, self._target, self._number, sequence, self._size), np.uint8
            )
            times.append(clock.now())
            if not inject(self._box.vm, self._box.graph.number("ip4-lookup"), raw, raw.size):
                times.pop()
                self._lines.append("Failed: could not allocate a new buffer")
                return
            self._sent += 1

    def _find_source(self) -> Address | str:
        """Return the address to send from; or why there is none, in VPP's words."""
        if not self._has_table:
            return "no FIB table for lookup"
        leaves = self._source
        if leaves is None:
            _, route = self._box.routes.lookup(self._target)
            if route.kind == "drop":
                return "no egress interface"
            leaves = self._box.interfaces[route.interface]
        if not leaves.addresses:
            return "no source address for egress interface"
        near = [each.ip for each in leaves.addresses if self._target in each.network]
        return near[0] if near else leaves.addresses[0].ip

    def _finish(self) -> None:
        lost = 100.0 * (self._sent - self._received) / self._sent if self._sent else 0.0
        self._lines += [
            "",
            f"Statistics: {self._sent} sent, {self._received} received, {lost:.0f}% packet loss",
        ]
        self._is_over = True
        self._box.pings.pop(self._number, None)


def _four_digits(value: float) -> str:
    """Return a number as VPP's ``%.4f`` writes it: without a zero before the point."""
    text = f"{value:.4f}"
    return text[1:] if text.startswith("0.") else text
