"""What this machine is, as far as it bears on a measurement."""

from __future__ import annotations

import contextlib
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from labs.kernel import allowed_cores, siblings_of

_MIB = 1 << 20
_EMULATORS = ("QEMU TCG", "QEMU Virtual", "VirtualApple")


@dataclass(frozen=True)
class Machine:
    """A machine and this session's share of it.

    Parameters
    ----------
    cpu, system, kernel, architecture : str
    cores : tuple of int
        Logical cores this session may use.
    physical : int
        Physical cores among them.
    memory_mb, available_mb : int
        Installed and free memory in MiB.
    virtual : bool
        Whether a hypervisor runs below.
    cpu_quota : float or None
        Cores' worth of time the control group may use; None without a limit.
    """

    cpu: str
    system: str
    kernel: str
    architecture: str
    cores: tuple[int, ...]
    physical: int
    memory_mb: int
    available_mb: int
    virtual: bool
    cpu_quota: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON takes them."""
        return asdict(self)

    def __str__(self) -> str:
        kind = "virtual machine" if self.virtual else "machine"
        cores = f"{len(self.cores)} core{'s' if len(self.cores) != 1 else ''}"
        return f"{self.cpu}, {cores} of a {kind}, {self.memory_mb} MiB, {self.system}, Linux {self.kernel}"


def machine() -> Machine:
    """Look at this machine."""
    cores = allowed_cores()
    memory = psutil.virtual_memory()
    info = _cpuinfo()
    return Machine(
        cpu=info.get("model name") or info.get("Model") or platform.processor() or "unknown CPU",
        system=_system(),
        kernel=platform.release(),
        architecture=platform.machine(),
        cores=cores,
        physical=len({min(siblings_of(core)) for core in cores}),
        memory_mb=memory.total // _MIB,
        available_mb=memory.available // _MIB,
        virtual="hypervisor" in info.get("flags", "").split(),
        cpu_quota=cpu_quota(),
    )


def cpu_quota() -> float | None:
    """Return how many cores' worth of time the control group allows; None without a limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    try:
        limit = int(Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").read_text())
        return None if limit < 0 else limit / int(Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us").read_text())
    except (OSError, ValueError):
        return None


def emulated() -> bool:
    """Return whether another kind of processor, or a program, plays this one: no time is then its own.

    Programs for one architecture that run on another see the other's ``/proc/cpuinfo``; the processors of
    QEMU and of Apple's Rosetta say so in their name.
    """
    info = _cpuinfo()
    is_arm = "CPU implementer" in info
    expects_arm = platform.machine().startswith(("aarch64", "arm"))
    name = info.get("model name", "")
    named = any(each in name for each in _EMULATORS) and not _has_kvm()
    return (is_arm != expects_arm and bool(info)) or named


def _has_kvm() -> bool:
    """Return whether KVM runs below: QEMU names some processors alike, whether it or KVM plays them."""
    try:
        return (
            "kvm-clock"
            in Path("/sys/devices/system/clocksource/clocksource0/available_clocksource").read_text()
        )
    except OSError:
        return False


def throttled_seconds() -> float:
    """Return for how long the control group has held this session back; 0 where it keeps no such record."""
    for path, field, scale in (("cpu.stat", "throttled_usec", 1e6), ("cpu/cpu.stat", "throttled_time", 1e9)):
        with contextlib.suppress(OSError, ValueError):
            lines = (Path("/sys/fs/cgroup") / path).read_text().splitlines()
            return int(dict(line.split() for line in lines).get(field, 0)) / scale
    return 0.0


def stolen_seconds() -> float:
    """Return the time the hypervisor gave to others while this machine had work, over all cores."""
    return float(getattr(psutil.cpu_times(), "steal", 0.0))


def busy_seconds() -> float:
    """Return the time that all cores together have spent running programs and the kernel."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)


def _cpuinfo() -> dict[str, str]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines) if value}


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return os.uname().sysname
