"""What the Linux kernel says of cores and threads: placement, time on a core, time spent waiting for one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_TOPOLOGY = Path("/sys/devices/system/cpu")


def allowed_cores() -> tuple[int, ...]:
    """Return the cores this session may use, in ascending order.

    A container or a batch system may allow fewer than the machine has, and other numbers than 0 to n-1;
    `os.cpu_count` knows nothing of that.
    """
    return tuple(sorted(os.sched_getaffinity(0)))


def separate_cores(count: int) -> tuple[int, ...]:
    """Return `count` cores to give out one each, physical cores before the second threads of a core.

    Returns fewer where fewer are allowed.
    """
    first: list[int] = []
    second: list[int] = []
    seen: set[int] = set()
    for core in allowed_cores():
        siblings = siblings_of(core)
        (second if siblings & seen else first).append(core)
        seen |= siblings
    return tuple((first + second)[:count])


def siblings_of(core: int) -> frozenset[int]:
    """Return the logical cores that share a physical core with `core`, itself included."""
    try:
        text = (_TOPOLOGY / f"cpu{core}" / "topology" / "thread_siblings_list").read_text()
    except OSError:
        return frozenset({core})
    return frozenset(parse_cores(text))


def parse_cores(text: str) -> tuple[int, ...]:
    """Read the kernel's list format, as ``0-2,5``."""
    cores: list[int] = []
    for part in text.strip().split(","):
        if part:
            low, _, high = part.partition("-")
            cores.extend(range(int(low), int(high or low) + 1))
    return tuple(cores)


def format_cores(cores: tuple[int, ...]) -> str:
    """Write cores as `taskset` takes them, as ``0,1``."""
    return ",".join(str(core) for core in cores)


@dataclass(frozen=True)
class Thread:
    """One thread at one moment.

    Parameters
    ----------
    tid : int
    name : str
    cores : tuple of int
        Where it may run.
    ran_ns, waited_ns : int
        Time on a core, and time runnable but waiting for one, since it began.
    slices : int
        Turns on a core since it began. These three are None on a kernel that does not keep them.
    voluntary, involuntary : int
        Switches because it slept, and because the kernel took the core away.

    Notes
    -----
    From ``/proc/PID/task/TID/status`` and ``schedstat``; the fields of the latter are described in the
    kernel's Documentation/scheduler/sched-stats.rst.
    """

    tid: int
    name: str
    cores: tuple[int, ...]
    ran_ns: int | None
    waited_ns: int | None
    slices: int | None
    voluntary: int
    involuntary: int


def in_order(pid: int, tids: list[int]) -> list[int]:
    """Return thread numbers, the main thread's first; after a wrap-around it is not the lowest."""
    return sorted(tids, key=lambda tid: (tid != pid, tid))


def threads(pid: int) -> list[Thread]:
    """Return the threads of a process, its main thread first; empty if it has ended."""
    found = []
    try:
        tids = in_order(pid, [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()])
    except OSError:
        return []
    for tid in tids:
        task = Path(f"/proc/{pid}/task/{tid}")
        try:
            status = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
            ran, waited, slices = _schedstat(task)
        except (OSError, ValueError):  # the thread ended meanwhile
            continue
        found.append(
            Thread(
                tid,
                status["Name"].strip(),
                parse_cores(status["Cpus_allowed_list"]),
                ran,
                waited,
                slices,
                int(status["voluntary_ctxt_switches"]),
                int(status["nonvoluntary_ctxt_switches"]),
            )
        )
    return found


def _schedstat(task: Path) -> tuple[int, int, int] | tuple[None, None, None]:
    try:
        ran, waited, slices = (int(word) for word in (task / "schedstat").read_text().split())
    except (OSError, ValueError):
        return None, None, None
    return ran, waited, slices


def inner_tid(tid: int) -> int:
    """Return a thread's number inside its own (container's) process namespace."""
    for line in Path(f"/proc/{tid}/status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return tid
