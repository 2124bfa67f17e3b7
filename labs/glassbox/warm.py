"""Compile the data plane ahead of its first packet, and say how far it is."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import binding

from labs.glassbox import clock, fib, nodes
from labs.glassbox.counters import Counters
from labs.glassbox.graph import KINDS, Graph
from labs.glassbox.lending import collect
from labs.glassbox.pinging import inject
from labs.glassbox.pool import Pool
from labs.glassbox.turns import run
from labs.glassbox.vm import BARRIER, BELLS, FILES, PENDING, TICKS_PER_MS, make_tables, make_vm
from labs.memif.control import THEIRS
from labs.memif.jit import cache_folder, stamp

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.glassbox.vm import Vm

assert nodes  # noqa: S101 - importing them has declared them


def marker() -> Path:
    """Return the file that says that all kernels of these sources are in the cache, for this processor."""
    name = f"warm-{stamp(Path(nodes.__file__))[:16]}-{binding.get_host_cpu_name()}"
    return Path(cache_folder(fib.write)) / name


def is_warm() -> bool:
    """Return whether a glass box starts without compiling anything."""
    return marker().exists()


def warm_up(progress: Callable[[int, int, str], None] | None = None) -> None:
    """Compile, or load from the cache, all nodes and kernels.

    Parameters
    ----------
    progress : callable, optional
        Called before each and at the end with (done, in all, name of the next).
    """
    tables, counters = make_tables(), Counters(1)
    pool = Pool(1)
    vm = make_vm(0, tables, counters.rows(0), pool.addresses(0))
    vm.state[BARRIER], vm.state[TICKS_PER_MS] = 1, clock.ticks_per_ms()
    vm.state[BELLS] = vm.state[FILES] = -1
    graph = Graph(vm)
    root, lengths = tables["root"], np.full(1 << 16, -1, np.int8)
    plies, ply_lengths = tables["plies"], np.full(tables["plies"].shape, -1, np.int8)
    packet = np.zeros(64, np.uint8)
    ring = np.zeros(64, np.int64)
    ring[THEIRS] = ring.ctypes.data  # an index that stays 0
    steps: dict[str, Callable[[], object]] = {
        name: partial(graph.compile, kind) for name, kind in KINDS.items()
    }
    steps |= {
        "routes": lambda: fib.write(
            root, lengths, plies, ply_lengths, np.zeros(1, np.int64), 0, 0, 0, -1, 0, 0
        ),
        "routes found": lambda: fib.find_all(root, plies, np.zeros(1, np.uint32), np.zeros(1, np.int64)),
        "ping": lambda: inject(vm, 0, packet, packet.size),
        "packets read": lambda: collect(vm, ring.ctypes.data),
        "main loop": lambda: _turn(vm, graph),
    }
    for number, (name, compile_it) in enumerate(steps.items()):
        if progress:
            progress(number, len(steps), name)
        compile_it()
    pool.close()
    marker().touch()
    if progress:
        progress(len(steps), len(steps), "")


def _turn(vm: Vm, graph: Graph) -> None:
    """Let the main loop turn once, with nothing to do."""
    vm.queued[:] = 0  # what `inject` has left
    vm.state[PENDING] = 0
    graph.add_all()
    run(vm, graph.number("memif-input"), graph.number("pg-input"), 1, 0)
