"""Bring the nodes of a lab up: from a topology to running VPPs with connected links."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from labs import placement
from labs.engines import reaper, rundir, starter
from labs.engines.rundir import RunDir
from labs.errors import LabError
from labs.link_lines import link_script
from labs.node import Node
from labs.vpp.startup_conf import StartupConf

if TYPE_CHECKING:
    import subprocess

    from labs.engines.base import Engine
    from labs.topology import NodeSpec, Topology

_NODE_MIB = 200
"""Memory that an idle node takes: 135 MB resident, measured on VPP 26.06, and room to work."""

_RUNDIR_MIB = 4
_SHM_MIB = 16
_MIB = 1 << 20
_CGROUP = Path("/sys/fs/cgroup")


@dataclass
class Launch:
    """A lab's nodes while they run, and what ends them.

    Parameters
    ----------
    topology : Topology
    engine : Engine
    rundir : RunDir
    """

    topology: Topology
    engine: Engine
    rundir: RunDir
    nodes: dict[str, Node] = field(default_factory=dict)
    reaper: subprocess.Popen[bytes] | None = None

    @classmethod
    def prepare(cls, topology: Topology, engine: Engine) -> Launch:
        """Check cores, memory and disk, and claim the lab's run directory; start nothing yet.

        Raises
        ------
        LabError
            It cannot be started here, or a lab of that name runs already.
        """
        for spec in topology.nodes:
            placement.check(spec.name, spec.cores)
        check_room(topology, rundir.base())
        names = [spec.name for spec in topology.nodes]
        place = starter.start(lambda: RunDir.claim(topology.name, names, engine.name), RunDir.remove)
        return cls(topology, engine, place)

    def run(self) -> None:
        """Start all nodes, wait until they answer, place them and connect their links.

        Raises
        ------
        LabError
            A node did not start. What was started so far is left to `stop`.
        """
        self.reaper = starter.start(lambda: reaper.spawn(self.rundir), reaper.dismiss)
        for spec in self.topology.nodes:
            self.start_node(spec)
        for node in self.nodes.values():
            node.wait_ready()
        for node in self.nodes.values():
            self.settle(node)
        if self.reaper.stdout:
            self.reaper.stdout.readline()  # from here on it watches over us

    def check(self, spec: NodeSpec) -> None:
        """Refuse a node that cannot be started as it is to be, before anything is ended for it.

        Raises
        ------
        LabError
            There are too few cores for its threads, or too little memory for its heap.
        """
        placement.while_starting(spec)
        _check_heap(spec)

    def put(self, spec: NodeSpec) -> None:
        """Let the topology hold a node as it is to be from now on."""
        nodes = tuple(spec if each.name == spec.name else each for each in self.topology.nodes)
        self.topology = replace(self.topology, nodes=nodes)

    def start_node(self, spec: NodeSpec) -> Node:
        """Write one node's configuration and start it; do not wait for it."""
        conf = configuration(spec, self.rundir, self.engine.inside(str(self.rundir.path)))
        _check_heap(spec)
        self.rundir.file(spec.name, "conf").write_text(conf)
        node = Node(spec, self.engine.start(spec, self.rundir), self.rundir, conf)
        self.nodes[spec.name] = node
        return node

    def settle(self, node: Node) -> None:
        """Give a node that answers its cores, its end of each link, and its addresses."""
        placed = placement.spread(node.threads(), node.spec.cores)
        if any(thread.cores != placed[thread.tid] for thread in node.threads()):
            node.pin(node.spec.cores)
        script = link_script(self.topology, node.name)
        if script:
            node.cli(script)

    def stop(self) -> None:
        """End everything and leave nothing; safe to call twice."""
        for node in self.nodes.values():
            node.close()
        reaper.sweep(self.rundir)
        if self.reaper:
            reaper.dismiss(self.reaper)
            self.reaper = None


def configuration(spec: NodeSpec, rundir: RunDir, inside: str) -> str:
    """Return a node's startup configuration, as VPP reads it and a learner sees it.

    Parameters
    ----------
    spec : NodeSpec
    rundir : RunDir
    inside : str
        The path at which the node sees the run directory.
    """
    cores = placement.while_starting(spec)  # `Launch.settle` moves its threads to where they belong
    return StartupConf(
        runtime_dir=inside,
        cli_socket=f"{inside}/{spec.name}.cli.sock",
        api_socket=f"{inside}/{spec.name}.api.sock",
        stats_socket=f"{inside}/{spec.name}.stats.sock",
        api_prefix=f"{rundir.shm_prefix}-{spec.name}",
        main_core=cores[0] if cores else None,
        worker_cores=cores[1:],
        heap_mb=spec.heap_mb,
        stats_mb=spec.stats_mb,
        buffers=spec.buffers,
        plugins=spec.plugins,
    ).render()


def check_room(topology: Topology, rundir_base: Path) -> None:
    """Refuse to start what memory or disk cannot hold.

    Raises
    ------
    LabError
        It says what is needed and what there is.
    """
    needed = _NODE_MIB * len(topology.nodes)
    free = psutil.virtual_memory().available // _MIB
    if (limit := _cgroup_free_mib()) is not None:
        free = min(free, limit)
    if free < needed:
        raise LabError(
            f"This lab needs about {needed} MiB of memory, and {free} MiB are free.",
            "stop other labs (labs gc; labs down NAME) or close other programs.",
        )
    while not rundir_base.exists():
        rundir_base = rundir_base.parent
    for place, least in ((rundir_base, _RUNDIR_MIB), (Path("/dev/shm"), _SHM_MIB)):  # noqa: S108 - VPP's place
        with contextlib.suppress(OSError):
            room = shutil.disk_usage(place).free // _MIB
            if room < least * len(topology.nodes):
                raise LabError(
                    f"There is too little room in {place}: {room} MiB are free, "
                    f"and this lab needs {least * len(topology.nodes)} MiB.",
                    f"delete what you do not need there: ls -la {place}",
                )


def _check_heap(spec: NodeSpec) -> None:
    """Refuse a heap that the kernel would not give: VPP crashes then without a word."""
    total = psutil.virtual_memory().total // _MIB
    if spec.heap_mb > total:
        raise LabError(
            f"{spec.name} asks for a heap of {spec.heap_mb} MiB, and this machine has {total} MiB of memory.",
            "give it a smaller heap_mb in its NodeSpec.",
        )


def _cgroup_free_mib() -> int | None:
    """Return what this session's control group may still take, in MiB; None without a limit.

    Its use counts the copies of files that the kernel keeps and gives back when memory is needed; those it
    has not used lately are therefore free (Linux, Documentation/admin-guide/cgroup-v2.rst).
    """
    for folder, limit, usage, spare in (
        (_CGROUP, "memory.max", "memory.current", "inactive_file"),
        (_CGROUP / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        with contextlib.suppress(OSError, ValueError):
            free = int((folder / limit).read_text()) - int((folder / usage).read_text())
            with contextlib.suppress(OSError):
                lines = (line.split() for line in (folder / "memory.stat").read_text().splitlines())
                free += sum(int(value) for name, value in lines if name == spare)
            return free // _MIB
    return None
