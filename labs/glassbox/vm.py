"""All that a thread of the data plane works with, as arrays that compiled code and Python share.

Python writes the tables (interfaces, routes, adjacencies) while the data plane stands still, and reads the
counters while it runs. Tables are shared by all threads; packets, queues and counters are a thread's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labs.glassbox import view

if TYPE_CHECKING:
    from numpy.typing import NDArray

VECTOR = 256
"""Packets that a node is handed at most."""

PACKETS = 4096
NODES = 256
ARCS = 16
INTERFACES = 64
QUEUES = 64
ADJACENCIES = 4096
PLIES = 4096
MACS = 4096
STREAMS = 16
TRACE_LENGTH = 4096
NEWS_LENGTH = 256
PINGS = 64

# words of `Vm.state`
ATTENTION, BARRIER, TRACED, FREE, PENDING = 0, 1, 2, 3, 4
BELLS, FILES, NEXT_TIMER, TICKS_PER_MS = 5, 6, 7, 8
TURNS, SLEEPS, VECTORS, LAST_VECTORS, THREAD = 9, 10, 11, 12, 13
NEWS, NEWS_READ, RECORDS = 14, 15, 16
SCRATCH = 24  # 8 words for system calls
LOOK_AT_FILES = 17
UNFINISHED = 20  # packets were left in queues at the end of a turn
BAD_RING, BAD_CODE = 18, 19  # a peer broke a ring: its control block's address, and how

NODE = np.dtype(
    [
        ("function", "<i8"),
        ("data", "<i8"),  # an interface, where the node belongs to one
        ("traces", "<i8"),  # how many more packets to trace
        ("arcs", "<i8", (ARCS,)),
    ]
)

LAYER3, CROSS_CONNECT, BRIDGE = 0, 1, 2
INTERFACE = np.dtype(
    [
        ("up", "<i8"),
        ("mode", "<i8"),
        ("peer", "<i8"),  # cross-connect: the other interface; bridge: its domain
        ("mac", "<i8"),
        ("mtu", "<i8"),
        ("ip4", "<i8"),  # whether it has an address
        ("address", "<i8"),
        ("output_node", "<i8"),
        ("input_next", "<i8"),  # mode ip: packets have no Ethernet header
        ("tx_queues", "<i8"),
    ]
)

POLLING, INTERRUPT, ADAPTIVE = 0, 1, 2
RX_QUEUE = np.dtype(
    [
        ("block", "<i8"),  # address of the ring's control block; 0 while there is none
        ("interface", "<i8"),
        ("mode", "<i8"),
        ("polls", "<i8"),  # whether it is looked at in each turn: adaptive changes it
        ("pending", "<i8"),  # whether its doorbell has rung, or packets were left
        ("thread", "<i8"),
        ("doorbell", "<i8"),
        ("node", "<i8"),
    ]
)

TO_DROP, TO_ARP, TO_LOCAL, TO_REWRITE = 0, 1, 2, 3
ADJACENCY = np.dtype(
    [
        ("next", "<i8"),  # where ip4-lookup sends it
        ("interface", "<i8"),
        ("next_hop", "<i8"),  # an IPv4 address; 0: the packet's own destination
        ("header", "<i8", (2,)),  # 14 bytes of Ethernet header, in 16
        ("mtu", "<i8"),
        ("asked_at", "<i8"),  # when ARP last asked, in ticks
        ("reason", "<i8"),
    ]
)

STREAM = np.dtype(
    [
        ("enabled", "<i8"),
        ("template", "<i8"),  # address of the first packet's bytes
        ("heads", "<i8"),  # address of how each packet begins
        ("kinds", "<i8"),  # how many different packets
        ("next", "<i8"),  # which of them comes next
        ("size", "<i8"),
        ("most", "<i8"),  # packets in one turn
        ("left", "<i8"),  # packets still to send; -1: no end
        ("interface", "<i8"),
        ("to", "<i8"),  # the node that gets them
        ("rate", "<f8"),  # packets a tick; 0: as fast as it goes
        ("credit", "<f8"),
        ("last", "<i8"),
        ("sent", "<i8"),
    ]
)

TRACE_BYTES = 192
RECORD = np.dtype(
    [
        ("mark", "<i8"),
        ("node", "<i8"),
        ("next", "<i8"),
        ("at", "<i8"),
        ("facts", "<i8", (8,)),
        ("bytes", "u1", (TRACE_BYTES,)),
    ]
)

# what the data plane tells Python: four words each
ARP_LEARNED, ECHO_REPLY, ARP_ANNOUNCED = 1, 2, 3


class Vm(NamedTuple):
    """One thread's view; `image` is how compiled nodes see it (see `labs.glassbox.view`)."""

    state: NDArray[np.int64]
    free: NDArray[np.int64]
    frame: NDArray[np.int64]
    nexts: NDArray[np.int64]
    queues: NDArray[np.int64]
    queued: NDArray[np.int64]
    pending: NDArray[np.int64]
    nodes: NDArray[np.void]
    calls: NDArray[np.uint64]
    vectors: NDArray[np.uint64]
    clocks: NDArray[np.uint64]
    errors: NDArray[np.uint64]
    interfaces: NDArray[np.void]
    rx: NDArray[np.uint64]
    tx: NDArray[np.uint64]
    drops: NDArray[np.uint64]
    rx_queues: NDArray[np.void]
    tx_blocks: NDArray[np.int64]
    tx_locks: NDArray[np.int64]
    root: NDArray[np.uint32]
    plies: NDArray[np.uint32]
    adjacencies: NDArray[np.void]
    macs: NDArray[np.int64]
    streams: NDArray[np.void]
    records: NDArray[np.void]
    news: NDArray[np.int64]
    image: NDArray[np.int64]


def make_tables() -> dict[str, Any]:
    """Return the tables that all threads share, empty."""
    return {
        "nodes": np.zeros(NODES, NODE),
        "interfaces": np.zeros(INTERFACES, INTERFACE),
        "rx_queues": np.zeros(QUEUES, RX_QUEUE),
        "tx_blocks": np.zeros((INTERFACES, QUEUES), np.int64),
        "tx_locks": np.zeros((INTERFACES, QUEUES), np.int64),
        "root": np.zeros(1 << 16, np.uint32),
        "plies": np.zeros((PLIES, 256), np.uint32),
        "adjacencies": np.zeros(ADJACENCIES, ADJACENCY),
        "macs": np.zeros((MACS, 4), np.int64),
        "streams": np.zeros(STREAMS, STREAM),
    }


def make_vm(
    thread: int,
    tables: dict[str, Any],
    counters: dict[str, Any],
    packets: NDArray[np.int64],
    in_all: int = PACKETS,
) -> Vm:
    """Return a thread's view.

    Parameters
    ----------
    thread : int
    tables : dict
        From `make_tables`.
    counters : dict of ndarray of uint64
        This thread's rows: ``calls``, ``vectors``, ``clocks`` (NODES,), ``errors``, ``rx``, ``tx``
        (INTERFACES, 2) and ``drops`` (INTERFACES,).
    packets : ndarray of int64, shape (PACKETS,)
        The addresses of the thread's packets.
    in_all : int
        Packets of all threads: so many may come to one of them.
    """
    free = np.zeros(in_all, np.int64)
    free[:PACKETS] = packets[::-1]
    state = np.zeros(64, np.int64)
    state[THREAD], state[FREE] = thread, PACKETS
    vm = Vm(
        state=state,
        free=free,
        frame=np.zeros(VECTOR, np.int64),
        nexts=np.zeros(VECTOR, np.int64),
        queues=np.zeros((NODES, in_all), np.int64),
        queued=np.zeros(NODES, np.int64),
        pending=np.zeros(NODES, np.int64),
        records=np.zeros(TRACE_LENGTH, RECORD),
        news=np.zeros((NEWS_LENGTH, 4), np.int64),
        image=np.zeros(view.WORDS, np.int64),
        **tables,
        **counters,
    )
    view.draw(vm)
    return vm
