"""The stamp in a packet's payload: whose packet it is, which of its flow, and when it was sent.

22 bytes, so that it fits the smallest frame of 64 bytes: 14 Ethernet + 20 IPv4 + 8 UDP + 22. All numbers are
little-endian.

=======  ======  ================================================================================
byte     width   what
=======  ======  ================================================================================
0        16 bit  `MAGIC`
2        32 bit  flow, from 0
6        48 bit  sequence number in its flow, from 0; at 30 Mpps it lasts a hundred days
12       16 bit  stream: tells one sender's packets from another's
14       64 bit  time it was sent, ns of CLOCK_MONOTONIC; 0 for none
=======  ======  ================================================================================

The steps take an address. They write and read the 22 bytes and no other; a reader sees each of the three
words once, so what was checked cannot change when it is used.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-overload"
# numba types the steps by its own rules
# ruff: noqa: ANN001, ANN201 - numba infers the types

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import types

from labs.memif.atoms import load64, store64
from labs.memif.jit import step

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = 0x9D4C
SIZE = 22
"""Bytes."""
STEADY = 6
"""Bytes of it that are the same in all packets of a flow."""
MAX_FLOW = (1 << 32) - 1
MAX_STREAM = (1 << 16) - 1
_MASK48 = (1 << 48) - 1
_SEQUENCE_AT, _TIME_AT = 6, 14
_MONOTONIC = 1

c_clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.int64))


@step
def now(scratch):
    """Return CLOCK_MONOTONIC in ns, through 16 bytes at the address `scratch`; some 25 ns by themselves."""
    c_clock_gettime(_MONOTONIC, scratch)
    return load64(scratch) * 1_000_000_000 + load64(scratch + 8)


@step
def write_stamp(address, stream, flow, sequence, time):
    """Write a stamp; `time` in ns."""
    store64(address, MAGIC | (flow << 16))
    store64(address + _SEQUENCE_AT, (sequence & _MASK48) | (stream << 48))
    store64(address + _TIME_AT, time)


@step
def restamp(address, stream, sequence, time):
    """Write what changes in the stamp from packet to packet, over one that has its magic and its flow."""
    store64(address + _SEQUENCE_AT, (sequence & _MASK48) | (stream << 48))
    store64(address + _TIME_AT, time)


@step
def read_stamp(address):
    """Return (stream, flow, sequence number) of the stamp at an address; (-1, 0, 0) where there is none."""
    first = load64(address)
    if (first & 0xFFFF) != MAGIC:
        return -1, 0, 0
    second = load64(address + _SEQUENCE_AT)
    return (second >> 48) & 0xFFFF, (first >> 16) & 0xFFFFFFFF, second & _MASK48


@step
def read_time(address):
    """Return the time in the stamp at an address, in ns."""
    return load64(address + _TIME_AT)


def beginnings(flows: int) -> NDArray[np.uint8]:
    """Return how the stamps of so many flows begin: ndarray of uint8, shape (flows, 6)."""
    begin = np.zeros(flows, np.dtype([("magic", "<u2"), ("flow", "<u4")]))
    begin["magic"], begin["flow"] = MAGIC, np.arange(flows)
    return begin.view(np.uint8).reshape(flows, STEADY)


@dataclass(frozen=True)
class Stamp:
    """A stamp, as Python sees it.

    Attributes
    ----------
    stream, flow, sequence : int
    time_ns : int
        When the packet was sent, of CLOCK_MONOTONIC; 0 for none.
    """

    stream: int
    flow: int
    sequence: int
    time_ns: int = 0

    def __bytes__(self) -> bytes:
        head = struct.pack("<HI", MAGIC, self.flow)
        return head + struct.pack("<QQ", self.sequence | (self.stream << 48), self.time_ns)

    @classmethod
    def read(cls, packet: bytes, at: int = 42) -> Stamp | None:
        """Return the stamp at byte `at` of a packet, or None where there is none."""
        if len(packet) < at + SIZE or at < 0:
            return None
        magic, flow = struct.unpack_from("<HI", packet, at)
        second, time = struct.unpack_from("<QQ", packet, at + _SEQUENCE_AT)
        return cls(second >> 48, flow, second & _MASK48, time) if magic == MAGIC else None
