"""The docker engine: one unprivileged container per node, without a network."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from docker.errors import APIError, ImageNotFound, NotFound

from labs import placement
from labs.engines import starter
from labs.engines.base import Availability
from labs.engines.docker_daemon import FAILURES, connect
from labs.errors import LabError, NotAvailable
from labs.kernel import allowed_cores, format_cores, inner_tid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from docker.models.containers import Container

    from labs.engines.rundir import RunDir
    from labs.topology import NodeSpec

INSIDE = "/run/vpp"
"""Where a container sees the lab's run directory."""

_LABEL = "io.github.vpp-labs.token"
_DEFAULT_IMAGE = "vpp-labs/vpp:26.06"
_MIB = 1 << 20


def image_name() -> str:
    """Return the image the nodes run: ``$LABS_VPP_IMAGE``, else the course's own."""
    return os.environ.get("LABS_VPP_IMAGE", _DEFAULT_IMAGE)


def remove_containers(token: str) -> None:
    """Remove the containers of the lab with this token, running or not."""
    ours: dict[str, Any] = {"label": f"{_LABEL}={token}"}
    with contextlib.suppress(NotAvailable, *FAILURES):
        for container in connect().containers.list(all=True, filters=ours, ignore_removed=True):
            with contextlib.suppress(APIError):  # another process of ours may be removing it
                container.remove(force=True)


@dataclass
class DockerNode:
    """A container that we started."""

    name: str
    container: Container
    pid: int
    shell: str

    def alive(self) -> bool:
        """Return whether its process runs (or is stopped, but not ended)."""
        try:
            return _state_letter(self.pid) not in "ZX" and self._is_ours()
        except OSError:
            return False

    def ending(self) -> str:
        """Return how its process ended, in a few words; empty while it is alive."""
        if self.alive():
            return ""
        try:
            self.container.reload()
        except NotFound:
            return "its container was removed"
        except FAILURES as error:
            return f"Docker says nothing of it ({error})"
        state = self.container.attrs["State"]
        if state.get("OOMKilled"):
            return "it was ended because it needed more memory than its container may use"
        return f"its container ended with status {state.get('ExitCode')}"

    def log(self) -> str:
        """Return what VPP has written to its log so far."""
        try:
            return self.container.logs().decode(errors="replace")
        except FAILURES:
            return ""

    def pin(self, cores: Mapping[int, tuple[int, ...]]) -> list[str]:
        """Move threads to cores; see `labs.engines.base.NodeHandle.pin`.

        The container's cpuset says where its threads may run, and a thread that has pinned itself, as
        VPP's do, stays there within the cpuset; so both are set.
        """
        union = tuple(sorted({core for wanted in cores.values() for core in wanted}))
        try:
            self.container.update(cpuset_cpus=format_cores(union))
        except APIError as error:
            raise LabError(
                f"{self.name} could not be moved to core {format_cores(union)}: {error.explanation or error}",
                "Docker may have fewer cores than this session: see docker info.",
            ) from None
        commands = [f"docker update --cpuset-cpus {format_cores(union)} {self.container.name}"]
        for tid, wanted in cores.items():
            command = f"taskset -cp {format_cores(wanted)} {inner_tid(tid)}"
            status, output = self.container.exec_run(command.split())
            if status != 0:
                said = cast("bytes", output).decode().strip()
                raise LabError(
                    f"{self.name} could not be moved to core {format_cores(wanted)}: {said}",
                    "check that the image holds taskset (package util-linux).",
                )
            commands.append(f"docker exec {self.container.name} {command}")
        return commands

    def kill(self) -> None:
        """End it at once, as a crash would."""
        with contextlib.suppress(*FAILURES):
            self.container.kill()
            self.container.wait()

    def stop(self) -> None:
        """End and remove it; safe to call twice."""
        with contextlib.suppress(*FAILURES):  # gone already, or Docker is
            self.container.remove(force=True)

    def _is_ours(self) -> bool:
        """Tell our container's process from a later one with its number."""
        return str(self.container.id) in Path(f"/proc/{self.pid}/cgroup").read_text()


class DockerEngine:
    """Runs each node in a container."""

    name = "docker"

    def availability(self) -> Availability:
        """Say whether a local daemon answers and has the image."""
        try:
            client = connect()
            info = client.info()
            host = info.get("Name", "")
            if host != os.uname().nodename:
                return Availability(
                    ok=False,
                    reason=f"Docker runs on another machine or in a virtual one ({host}); "
                    "VPP's sockets do not come out of it.",
                    hint="run the course on that machine, in Linux.",
                )
            client.images.get(image_name())
        except NotAvailable as error:
            return Availability(ok=False, reason=error.message, hint=error.hint)
        except ImageNotFound:
            return Availability(
                ok=False,
                reason=f"Docker is here, but it does not have the image {image_name()}.",
                hint="build it with: make image; or set LABS_VPP_IMAGE to an image that holds VPP.",
            )
        except FAILURES as error:
            return Availability(
                ok=False, reason=f"Docker does not answer as it should: {error}.", hint="try: docker info"
            )
        return Availability(ok=True, reason=f"{image_name()} in Docker {info.get('ServerVersion', '')}")

    def inside(self, rundir: str) -> str:  # noqa: ARG002 - the protocol passes it
        """Return where a container sees the run directory."""
        return INSIDE

    def start(self, spec: NodeSpec, rundir: RunDir) -> DockerNode:
        """Start one container; see `labs.engines.base.Engine.start`."""
        client = connect()
        name = f"{rundir.name}-{spec.name}-{rundir.token}"
        cores = tuple(sorted({*spec.cores, *placement.while_starting(spec)})) or allowed_cores()
        options: dict[str, Any] = {
            "name": name,
            "hostname": spec.name,
            "entrypoint": ["vpp"],
            "command": ["-c", f"{INSIDE}/{spec.name}.conf"],
            "user": f"{os.getuid()}:{os.getgid()}",
            "network_mode": "none",
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "read_only": True,
            "cpuset_cpus": format_cores(cores),
            "mem_limit": (spec.heap_mb + spec.stats_mb + 256) * _MIB,
            "pids_limit": 256,
            "labels": {_LABEL: rundir.token},
            "volumes": {str(rundir.path): {"bind": INSIDE, "mode": "rw"}},
            "detach": True,
        }
        try:
            container = starter.start(
                lambda: client.containers.run(image_name(), **options), lambda made: made.remove(force=True)
            )
            container.reload()
        except (APIError, ImageNotFound) as error:
            raise LabError(
                f"Docker did not start {spec.name}: {error.explanation or error}", "try: docker info"
            ) from None
        pid = int(container.attrs["State"]["Pid"])
        cli = f"{INSIDE}/{spec.name}.cli.sock"
        return DockerNode(spec.name, container, pid, f"docker exec {name} vppctl -s {cli}")


def _state_letter(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
