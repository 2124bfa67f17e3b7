from __future__ import annotations

import json
from pathlib import Path

import pytest

from labs import machine as module
from labs.kernel import allowed_cores
from labs.machine import Machine, busy_seconds, cpu_quota, machine, stolen_seconds


def test_this_machine_is_described():
    here = machine()
    assert here.cores == allowed_cores()
    assert 1 <= here.physical <= len(here.cores)
    assert 0 < here.available_mb <= here.memory_mb
    assert all((here.cpu, here.system, here.kernel, here.architecture))
    assert json.loads(json.dumps(here.to_dict()))["cpu"] == here.cpu


def test_one_core_is_not_plural():
    alone = Machine("CPU", "Linux", "6.1", "x86_64", (3,), 1, 100, 50, virtual=True, cpu_quota=None)
    assert "1 core of a virtual machine" in str(alone)


@pytest.fixture
def files(monkeypatch, tmp_path):
    """Return a function that lays out the kernel's files below a root of the test's own."""

    class Elsewhere(type(Path())):
        def __new__(cls, path):
            return Path(f"{tmp_path}{path}") if str(path).startswith("/") else Path(path)

    def lay_out(contents):
        for name, text in contents.items():
            file = tmp_path / name.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        monkeypatch.setattr(module, "Path", Elsewhere)

    return lay_out


V2 = "/sys/fs/cgroup/cpu.max"
V1 = "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"
V1_PERIOD = "/sys/fs/cgroup/cpu/cpu.cfs_period_us"


@pytest.mark.parametrize(
    ("contents", "quota"),
    [
        ({}, None),
        ({V2: "max 100000\n"}, None),
        ({V2: "150000 100000\n"}, 1.5),
        ({V2: "50000 100000\n"}, 0.5),
        ({V2: "nonsense"}, None),
        ({V1: "-1\n", V1_PERIOD: "100000\n"}, None),
        ({V1: "200000\n", V1_PERIOD: "100000\n"}, 2.0),
        ({V1: "200000\n"}, None),
        ({V1: "", V1_PERIOD: ""}, None),
    ],
)
def test_the_quota_is_what_the_control_group_says(files, contents, quota):
    files(contents)
    assert cpu_quota() == quota


def test_a_cpu_without_a_name_is_unknown_rather_than_an_error(files, monkeypatch):
    files({})
    monkeypatch.setattr("platform.processor", lambda: "")
    assert machine().cpu == "unknown CPU"
    assert not machine().virtual


@pytest.mark.parametrize(
    ("text", "name", "virtual"),
    [
        ("model name\t: Xeon: the big one\nflags\t\t: fpu hypervisor sse\n", "Xeon: the big one", True),
        ("processor\t: 0\nModel\t\t: Raspberry Pi 5\n", "Raspberry Pi 5", False),
        ("model name\t: Core\nflags\t\t: fpu nohypervisor\n", "Core", False),
    ],
)
def test_the_cpu_is_read_from_the_kernel(files, text, name, virtual):
    files({"/proc/cpuinfo": text})
    assert (machine().cpu, machine().virtual) == (name, virtual)


def test_work_counts_as_busy_and_time_is_never_negative():
    before = busy_seconds()
    deadline = before + 0.1
    for _ in range(200):
        sum(range(100_000))
        if busy_seconds() >= deadline:
            break
    assert busy_seconds() > before
    assert stolen_seconds() >= 0
