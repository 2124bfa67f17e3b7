"""The startup.conf a node's VPP is started with: checked, and written to be read."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from labs.errors import LabError
from labs.vpp.sockets import MAX_PATH

_PATH = re.compile(r"/[A-Za-z0-9_/.-]+")
_PREFIX = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLUGIN = re.compile(r"[a-z0-9_]+")
_MAX_CORE = 1023
_MAX_WORKERS = 62  # src/vlib/threads.c: main thread and workers stay below 64
_BUFFER_KB = 4  # VPP reserves a page of 4 KiB for each (src/vlib/buffer.c)
_PHYSMEM_PAGE_MB = 2  # physmem is handed out in pages of the default hugepage size (vppinfra/pmalloc.c)


@dataclass(frozen=True)
class StartupConf:
    """VPP's startup configuration for an unprivileged node without hugepages.

    Parameters
    ----------
    runtime_dir : str
        Absolute path; VPP makes it and works in it. ``memif.sock`` appears here.
    cli_socket, api_socket, stats_socket : str
        Absolute paths of the three doors.
    api_prefix : str
        Begins the names of VPP's files in /dev/shm; two VPPs with one prefix take each other's files.
    main_core : int, optional
        Core of the main thread. None leaves the line out: VPP then pins the main thread to the core
        it happens to start on.
    worker_cores : tuple of int
        A core for each worker thread; they need `main_core`.
    heap_mb, stats_mb : int
        Main heap and statistics segment, MiB of address space.
    stats_interval : float
        Seconds between updates of rates, node counters and heartbeat.
    buffers : int
        Packet buffers on each NUMA node. VPP reserves a 4 KiB page for each, but lays them out so
        that fewer fit: of 8192 it makes 5978 (src/vlib/buffer.c; see ``show buffers``).
    physmem_mb : int
        Address space for packet buffers, MiB.
    plugins : tuple of str
        Plugins to load, without ``_plugin.so``.
    poll_sleep_usec : int
        Microseconds the main thread sleeps in each loop; 0 leaves the line out.
    elog_events : int, optional
        Length of the event log's ring; None keeps VPP's own.

    Raises
    ------
    LabError
        A value that VPP would refuse, or take for something else.
    """

    runtime_dir: str
    cli_socket: str
    api_socket: str
    stats_socket: str
    api_prefix: str
    main_core: int | None = None
    worker_cores: tuple[int, ...] = ()
    heap_mb: int = 1024
    stats_mb: int = 32
    stats_interval: float = 0.5
    buffers: int = 8192
    physmem_mb: int = 64
    plugins: tuple[str, ...] = ()
    poll_sleep_usec: int = 0
    elog_events: int | None = None

    def __post_init__(self) -> None:
        self._check_paths()
        self._check_cores()
        self._check_memory()
        self._check_rest()

    def _check_paths(self) -> None:
        doors = {
            "cli_socket": self.cli_socket,
            "api_socket": self.api_socket,
            "stats_socket": self.stats_socket,
        }
        for name, path in {"runtime_dir": self.runtime_dir, **doors}.items():
            if not _PATH.fullmatch(path):
                raise LabError(
                    f"{name} cannot be {path!r}.",
                    "use an absolute path of letters, digits and the characters / . _ - only.",
                )
            if len(path) > MAX_PATH:
                raise LabError(
                    f"{name} has {len(path)} characters: {path}",
                    f"a socket path may have {MAX_PATH}: use a shorter run directory.",
                )
        if len(set(doors.values())) != len(doors):
            raise LabError("Two of VPP's sockets have one path.", "give each socket a path of its own.")
        if not _PREFIX.fullmatch(self.api_prefix):
            raise LabError(
                f"api_prefix cannot be {self.api_prefix!r}.",
                "use letters, digits, - and _ only, 64 characters at most.",
            )

    def _check_cores(self) -> None:
        cores = (() if self.main_core is None else (self.main_core,)) + self.worker_cores
        for core in cores:
            _check_number("core", core, 0, _MAX_CORE)
        if self.worker_cores and self.main_core is None:
            raise LabError("worker_cores need a main_core.", "name the main thread's core too.")
        if len(set(cores)) != len(cores):
            raise LabError(
                f"Two of VPP's threads have one core: {', '.join(map(str, cores))}.",
                "VPP wants a core for each of its threads: name different ones.",
            )
        if len(self.worker_cores) > _MAX_WORKERS:
            raise LabError(
                f"{len(self.worker_cores)} workers are too many.", f"VPP takes {_MAX_WORKERS} at most."
            )

    def _check_memory(self) -> None:
        _check_number("heap_mb", self.heap_mb, 128, 65536)  # below, VPP runs out of memory while it starts
        _check_number("stats_mb", self.stats_mb, 4, 16384)
        _check_number("buffers", self.buffers, 256, 4_000_000)
        _check_number("physmem_mb", self.physmem_mb, 2, 65536)
        needed = math.ceil(self.buffers * _BUFFER_KB / 1024 / _PHYSMEM_PAGE_MB) * _PHYSMEM_PAGE_MB
        if self.physmem_mb < needed:
            raise LabError(
                f"{self.buffers} buffers need {needed} MB, but physmem_mb is {self.physmem_mb}.",
                f"raise physmem_mb to {needed} or more, or ask for fewer buffers.",
            )

    def _check_rest(self) -> None:
        if not (isinstance(self.stats_interval, int | float) and 0.01 <= self.stats_interval <= 3600):  # noqa: PLR2004 - the bounds are named in the hint
            raise LabError(
                f"stats_interval cannot be {self.stats_interval!r}.", "use seconds from 0.01 to 3600."
            )
        _check_number("poll_sleep_usec", self.poll_sleep_usec, 0, 1_000_000)
        if self.elog_events is not None:
            _check_number("elog_events", self.elog_events, 1, 1 << 26)
        for plugin in self.plugins:
            if not _PLUGIN.fullmatch(plugin) or plugin.endswith("_plugin"):
                raise LabError(
                    f"{plugin!r} cannot be the name of a plugin.", "write memif for memif_plugin.so."
                )
        if len(set(self.plugins)) != len(self.plugins):
            raise LabError("A plugin is named twice.", "name each plugin once: VPP refuses a second time.")

    def render(self) -> str:
        """Return the file's text, indented, with a comment for each section.

        VPP drops everything from ``#`` to the end of a line and takes line breaks for spaces
        (src/vpp/vnet/main.c), so the comments change nothing.
        """
        sections = [
            self._unix(),
            (
                "Two VPPs on one machine need different names in /dev/shm.",
                "api-segment",
                [f"prefix {self.api_prefix}"],
            ),
            ("The binary API listens here.", "socksvr", [f"socket-name {self.api_socket}"]),
            self._statseg(),
            (
                "Address space for all but packets; it costs memory only as it is used.",
                "memory",
                [f"main-heap-size {self.heap_mb}M"],
            ),
            (
                "Packet buffers on ordinary pages: no hugepages needed.",
                "buffers",
                [f"buffers-per-numa {self.buffers}", "page-size 4k"],
            ),
            ("Room for these buffers.", "physmem", [f"max-size {self.physmem_mb}M"]),
        ]
        if self.main_core is not None:
            sections.append(self._cpu())
        if self.elog_events is not None:
            sections.append(("Length of the event log.", "vlib", [f"elog-events {self.elog_events}"]))
        sections.append(self._plugins())
        return "\n".join(_section(*section) for section in sections)

    def _unix(self) -> tuple[str, str, list[str]]:
        lines = [
            "nodaemon",
            "nosyslog",
            "nobanner",
            "nocolor",
            "cli-no-pager",
            "coredump-size 0",
            f"runtime-dir {self.runtime_dir}",
            f"cli-listen {self.cli_socket}",
        ]
        if self.poll_sleep_usec:
            lines.append(f"poll-sleep-usec {self.poll_sleep_usec}")
        return "Stay in the foreground, log to stderr, and offer the CLI on a socket.", "unix", lines

    def _statseg(self) -> tuple[str, str, list[str]]:
        lines = [
            f"socket-name {self.stats_socket}",
            f"size {self.stats_mb}M",
            "page-size 4k",
            "per-node-counters on",
            f"update-interval {self.stats_interval:g}",
        ]
        return "Counters in shared memory, read by other programs without asking VPP.", "statseg", lines

    def _cpu(self) -> tuple[str, str, list[str]]:
        lines = [f"main-core {self.main_core}"]
        if self.worker_cores:
            lines.append(f"corelist-workers {','.join(map(str, self.worker_cores))}")
        return "Which core each thread is pinned to.", "cpu", lines

    def _plugins(self) -> tuple[str, str, list[str]]:
        # else VPP loads its API test plugins too, and logs an error for each that has no partner
        lines = ["vat-name-filter none", "plugin default { disable }"]
        lines += [f"plugin {name}_plugin.so {{ enable }}" for name in self.plugins]
        return "Load only what this lab needs, and none of VPP's own test plugins.", "plugins", lines


def _section(comment: str, name: str, lines: list[str]) -> str:
    body = "".join(f"  {line}\n" for line in lines)
    return f"# {comment}\n{name} {{\n{body}}}\n"


def _check_number(name: str, value: int, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise LabError(f"{name} cannot be {value!r}.", f"use a whole number from {low} to {high}.")
