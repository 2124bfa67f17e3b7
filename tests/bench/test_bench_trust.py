"""How far numbers can be trusted: each reason appears when it holds, and goes when it does not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from labs import machine as machine_module
from labs.bench import trust
from labs.bench.trust import Trust
from labs.machine import Machine, emulated, throttled_seconds

QUIET = Machine("cpu", "Linux", "6", "x86_64", (0, 1, 2, 3), 4, 8192, 4096, virtual=False, cpu_quota=None)
PINNED = {"vpp1": (0,), "vpp2": (1,)}


class World:
    """A machine whose clocks a test turns."""

    def __init__(self, patch):
        self.at = self.stolen = self.throttled = self.busy = 0.0
        patch.setattr(trust, "machine", lambda: QUIET)
        patch.setattr(trust, "emulated", lambda: False)
        patch.setattr(trust, "stolen_seconds", lambda: self.stolen)
        patch.setattr(trust, "throttled_seconds", lambda: self.throttled)
        patch.setattr(trust, "busy_seconds", lambda: self.busy)
        patch.setattr(trust, "time", SimpleNamespace(monotonic=lambda: self.at))

    def goes_on(self, seconds=2.0, *, stolen=0.0, throttled=0.0, busy=2.0):
        self.at += seconds
        self.stolen += stolen * seconds
        self.throttled += throttled * seconds
        self.busy += busy * seconds


@pytest.fixture
def world(monkeypatch):
    return World(monkeypatch)


def reasons(judge, shares=2.0, pinned=PINNED, samples=50):
    return [each.what for each in judge.judge(shares, pinned, samples).reasons]


def test_two_pinned_nodes_on_four_quiet_cores_are_good(world):
    judge = Trust(2)
    for _ in range(10):
        world.goes_on()
        assert reasons(judge) == []


def test_the_first_judgement_of_all_divides_by_no_time(world):
    assert reasons(Trust(2)) == []
    assert reasons(Trust(2), shares=None) == []


def test_an_emulated_processor(world, monkeypatch):
    monkeypatch.setattr(trust, "emulated", lambda: True)
    assert reasons(Trust(2)) == ["This processor is emulated."]


@pytest.mark.parametrize(
    ("free", "said"),
    [
        (["vpp1"], "vpp1 may move between cores."),
        (["vpp1", "vpp2"], "vpp1 and vpp2 may move between cores."),
        (["vpp1", "vpp2", "vpp3"], "All nodes may move between cores."),
    ],
)
def test_nodes_that_are_free_to_move(world, free, said):
    pinned = {"vpp1": (0,), "vpp2": (1,), "vpp3": (2,)} | dict.fromkeys(free, ())
    assert reasons(Trust(3), pinned=pinned) == [said]


def test_a_throttled_group_is_told_with_its_share_and_forgotten_later(world):
    judge = Trust(2)
    reasons(judge)
    world.goes_on(throttled=0.3)
    assert reasons(judge) == ["The control group held this session back for 30 % of the time."]
    for _ in range(10):
        world.goes_on()
        found = reasons(judge)
    assert found == []


def test_the_kernel_adds_up_cores_that_were_throttled(world):
    judge = Trust(2)
    reasons(judge)
    world.goes_on(throttled=1.8)
    assert reasons(judge) == ["The control group held this session back for 100 % of the time."]


def test_a_host_that_takes_time(world):
    judge = Trust(2)
    reasons(judge)
    world.goes_on(stolen=0.4)
    assert reasons(judge) == ["The host took 10 % of this machine's time."]


def test_other_programs_are_told_from_the_nodes(world):
    judge = Trust(2)
    reasons(judge)
    world.goes_on(busy=2.0)
    assert reasons(judge, shares=2.0) == []
    world.goes_on(busy=3.5)
    assert reasons(judge, shares=2.0) == ["Other programs used 0.8 cores' worth of time during the run."]


def test_a_time_in_which_the_nodes_use_is_not_known_is_not_laid_on_others(world):
    """A node was killed and started anew: what it used meanwhile is not another program's."""
    judge = Trust(2)
    reasons(judge)
    for shares in (2.0, None, None, 2.0, 2.0):
        world.goes_on(busy=2.0)
        assert reasons(judge, shares=shares) == []


def test_few_samples(world):
    assert reasons(Trust(2), samples=5) == ["The smallest group has 5 samples."]


INTEL = "model name\t: Some CPU\nflags\t: fpu\n"


@pytest.mark.parametrize(
    ("architecture", "info", "expected"),
    [
        ("x86_64", INTEL, False),
        ("aarch64", "CPU implementer\t: 0x41\n", False),
        ("armv8l", "CPU implementer\t: 0x41\n", False),
        ("riscv64", "isa\t: rv64\n", False),
        ("x86_64", "", False),
        ("aarch64", INTEL, True),
        ("x86_64", "CPU implementer\t: 0x61\n", True),
        ("x86_64", "model name\t: VirtualApple @ 2.50GHz\n", True),
        ("x86_64", "model name\t: QEMU TCG CPU version 2.5+\n", True),
        ("x86_64", "model name\t: QEMU Virtual CPU version 2.5+\n", True),
    ],
)
def test_whether_a_processor_is_emulated(monkeypatch, architecture, info, expected):
    monkeypatch.setattr(machine_module.platform, "machine", lambda: architecture)
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: info)
    assert emulated() is expected


def test_a_processor_of_qemus_that_kvm_runs_is_not_emulated(monkeypatch):
    said = {
        "cpuinfo": "model name\t: QEMU Virtual CPU version 2.5+\n",
        "available_clocksource": "kvm-clock tsc\n",
    }
    monkeypatch.setattr(machine_module.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(Path, "read_text", lambda path, **_: said[path.name])
    assert not emulated()


@pytest.mark.parametrize(
    ("files", "seconds"),
    [
        ({"/sys/fs/cgroup/cpu.stat": "usage_usec 5\nthrottled_usec 1500000\n"}, 1.5),
        ({"/sys/fs/cgroup/cpu/cpu.stat": "nr_periods 5\nthrottled_time 2500000000\n"}, 2.5),
        ({"/sys/fs/cgroup/cpu.stat": "usage_usec 5\n"}, 0.0),
        ({"/sys/fs/cgroup/cpu.stat": "nonsense\n"}, 0.0),
        ({}, 0.0),
    ],
)
def test_how_long_a_control_group_held_us_back(monkeypatch, files, seconds):
    def read(path, *_, **__):
        if str(path) not in files:
            raise FileNotFoundError(str(path))
        return files[str(path)]

    monkeypatch.setattr(Path, "read_text", read)
    assert throttled_seconds() == seconds
