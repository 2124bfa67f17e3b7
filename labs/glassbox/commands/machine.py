"""What the program runs on: threads, cores, clock, memory, buffers."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from labs.glassbox import clock
from labs.glassbox.commands.columns import centred, thread_name
from labs.glassbox.commands.command import command
from labs.glassbox.packet import ROOM, STRIDE
from labs.glassbox.vm import FREE, PACKETS, TICKS_PER_MS

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words

_CPUS = Path("/sys/devices/system/cpu")
_POLICIES = {os.SCHED_OTHER: "other", os.SCHED_BATCH: "batch", os.SCHED_IDLE: "idle"}
_POLICIES |= {os.SCHED_FIFO: "fifo", os.SCHED_RR: "rr"}
_began = time.monotonic()


@command("show threads", help="Show threads")
def show_threads(box: Box, words: Words) -> str:
    """Print each thread with the core that the startup file gave it.

    As in VPP a thread that was moved since is still shown on its old core; the kernel knows better.
    """
    words.end()
    names = ("ID", "Name", "Type", "LWP", "Sched Policy (Priority)", "lcore", "Core", "Socket", "State")
    text = _thread_row(*names)
    startup, workers = box.startup, box.workers
    cores = [startup.main_core if startup else None, *(startup.worker_cores if startup else ())]
    for number, lwp in enumerate([os.getpid(), *(workers.tids if workers else ())]):
        core = cores[number] if number < len(cores) else None
        kind = "workers" if number else ""
        where = (core, _topology(core, "core_id"), _topology(core, "physical_package_id"))
        lcore, physical, socket = ("n/a" if each is None else str(each) for each in where)
        text += _thread_row(
            str(number), thread_name(number), kind, str(lwp), _policy(lwp), lcore, physical, socket, ""
        )
    return text


@command("show cpu", help="Show cpu information")
def show_cpu(box: Box, words: Words) -> str:
    """Print what processor this is, and how fast its clock counts."""
    words.end()
    text = Path("/proc/cpuinfo").read_text()
    facts = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())
    }
    model = facts.get("model name") or facts.get("CPU implementer", "unknown")
    family = f"family {facts.get('cpu family', '?')} model {facts.get('model', '?')}"
    flags = facts.get("flags") or facts.get("Features", "")
    base = int(box.vm.state[TICKS_PER_MS]) / 1e6
    rows = {
        "Model name": model,
        "Microarch model (family)": family,
        "Flags": flags,
        "Base frequency": f"{base:.4f} GHz",
    }
    return "".join(f"{name + ':':<26}{value}\n" for name, value in rows.items())


@command("show clock", help="show clock")
def show_clock(box: Box, words: Words) -> str:
    """Print how long this has run, and the date."""
    words.take("verbose")
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())
    ticks = clock.now()
    return (
        f"Time now {time.monotonic() - _began:.6f}, {date}\n"
        f"Clock {ticks} at {int(box.vm.state[TICKS_PER_MS]) * 1000} ticks a second\n"
    )


@command("show memory", help="show memory")
def show_memory(box: Box, words: Words) -> str:
    """Print what memory the process has: the glass box has no heap of its own."""
    del box
    while words.peek() in ("main-heap", "stats-segment", "api-segment", "map", "verbose"):
        words.word()
    status = Path("/proc/self/status").read_text()
    facts = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    rows = {"resident": "VmRSS", "most so far": "VmHWM", "shared": "RssShmem", "address space": "VmSize"}
    text = "".join(f"  {name:<16}{facts[key].strip():>14}\n" for name, key in rows.items() if key in facts)
    return f"process {os.getpid()}, memory as the kernel counts it\n{text}"


@command("show buffers", help="Show packet buffer allocation")
def show_buffers(box: Box, words: Words) -> str:
    """Print each thread's packet buffers."""
    words.end()
    names = ("Pool Name", "Index", "NUMA", "Size", "Data Size", "Total", "Avail", "Cached", "Used")
    text = _buffer_row(*names)
    for number, vm in enumerate(box.vms):
        free = int(vm.state[FREE])
        text += _buffer_row(thread_name(number), number, 0, STRIDE, ROOM, PACKETS, free, 0, PACKETS - free)
    return text


def _thread_row(*cells: str) -> str:
    widths = (7, 20, 12, 8, 25, 7, 7, 7, 10)
    return "".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)) + "\n"


def _buffer_row(name: str, *cells: object) -> str:
    widths = (6, 6, 6, 11, 6, 8, 8, 8)
    return f"{name:<20}" + "".join(map(centred, cells, widths)) + "\n"


def _topology(core: int | None, name: str) -> str | None:
    """Return what the kernel says of a core: ``core_id`` or ``physical_package_id``."""
    file = _CPUS / f"cpu{core}" / "topology" / name
    return file.read_text().strip() if core is not None and file.exists() else None


def _policy(lwp: int) -> str:
    policy = os.sched_getscheduler(lwp)
    return f"{_POLICIES.get(policy, policy)} ({os.sched_getparam(lwp).sched_priority})"
