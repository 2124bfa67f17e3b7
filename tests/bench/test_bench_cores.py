"""Who runs and who waits: shares of processes that are there, end, and are others."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from bench_fakes import Clock, FakeLab, desk

from labs.bench import sample_cores
from labs.bench.sample_cores import Cores
from labs.kernel import Thread

THREAD = Thread(7, "vpp_main", (0,), 0, 0, 0, 0, 0)


class Kernel:
    """Threads by process, and each core's times."""

    def __init__(self):
        self.threads = {1: [THREAD], 2: [THREAD]}
        self.cores = {0: [0.0, 0.0], 1: [0.0, 0.0]}

    def run(self, pid, ran, waited=0.0):
        first, *more = self.threads[pid]
        self.threads[pid] = [
            replace(
                first, ran_ns=first.ran_ns + int(ran * 1e9), waited_ns=first.waited_ns + int(waited * 1e9)
            ),
            *more,
        ]

    def cpu_times(self, *, percpu):
        assert percpu
        return [Times(*self.cores[core]) for core in self.cores]


class Times(tuple):  # noqa: SLOT001 - as psutil's, with names
    def __new__(cls, busy, idle):
        made = super().__new__(cls, (busy, idle, 0.5, 0.5, busy / 2))
        made.user, made.idle, made.iowait, made.guest = busy, idle, 0.5, busy / 2
        made.guest_nice = 0.0
        return made


@pytest.fixture
def kernel(monkeypatch):
    made = Kernel()
    monkeypatch.setattr(sample_cores, "threads", lambda pid: made.threads.get(pid, []))
    monkeypatch.setattr(sample_cores, "psutil", SimpleNamespace(cpu_times=made.cpu_times))
    monkeypatch.setattr(sample_cores, "allowed_cores", lambda: (0, 1))
    return made


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(sample_cores, "time", made)
    return made


@pytest.fixture
def cores(kernel, clock):
    lab = FakeLab()
    lab["vpp1"].handle.pid, lab["vpp2"].handle.pid = 1, 2
    recorder, _ = desk()
    made = Cores(lab, recorder)
    made.lab = lab
    return made


def sample(cores, clock, seconds=0.25):
    clock.now += seconds
    cores.sample()


def last(cores, column):
    return float(cores.track.last().column(column)[0])


def test_the_first_look_is_no_sample(cores, clock):
    sample(cores, clock)
    assert len(cores.track) == 0


def test_shares_are_per_cent_of_one_core(cores, kernel, clock):
    sample(cores, clock)
    kernel.run(1, ran=0.1, waited=0.15)
    sample(cores, clock)
    assert last(cores, "vpp1_runs") == pytest.approx(40)
    assert last(cores, "vpp1_waits") == pytest.approx(60)
    assert last(cores, "vpp2_runs") == 0


def test_a_node_that_ends_and_one_that_is_another_process_are_gaps(cores, kernel, clock):
    sample(cores, clock)
    kernel.threads[1] = []
    sample(cores, clock)
    assert math.isnan(last(cores, "vpp1_runs"))
    cores.lab["vpp1"].handle.pid = 3
    kernel.threads[3] = [replace(THREAD, ran_ns=10**12)]
    sample(cores, clock)
    assert math.isnan(last(cores, "vpp1_runs"))
    kernel.run(3, ran=0.25)
    sample(cores, clock)
    assert last(cores, "vpp1_runs") == pytest.approx(100)


def test_a_kernel_without_that_record_leaves_a_gap(cores, kernel, clock):
    kernel.threads[1] = [replace(THREAD, ran_ns=None, waited_ns=None, slices=None)]
    sample(cores, clock)
    sample(cores, clock)
    assert math.isnan(last(cores, "vpp1_runs"))
    assert last(cores, "vpp2_runs") == 0


def test_a_busy_core_counts_guests_once(cores, kernel, clock):
    sample(cores, clock)
    kernel.cores[0] = [0.2, 0.05]
    kernel.cores[1] = [0.0, 0.25]
    sample(cores, clock)
    assert last(cores, "core0") == pytest.approx(80)
    assert last(cores, "core1") == 0


def test_a_core_that_goes_away_is_a_gap(cores, kernel, clock):
    sample(cores, clock)
    del kernel.cores[1]
    kernel.cores[0] = [0.25, 0.0]
    sample(cores, clock)
    assert last(cores, "core0") == pytest.approx(100)
    assert math.isnan(last(cores, "core1"))


def test_this_notebook_is_told_too(cores, clock):
    sample(cores, clock)
    sample(cores, clock)
    assert last(cores, "notebook") == pytest.approx(100)  # the fake clock runs for both
