from __future__ import annotations

import os
import subprocess
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs import kernel

core_sets = st.sets(st.integers(0, 300), max_size=40)


def as_ranges(cores):
    """Write cores as the kernel does: neighbours as a range."""
    parts, run = [], []
    for core in [*sorted(cores), None]:
        if run and core != run[-1] + 1:
            parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
            run = []
        if core is not None:
            run.append(core)
    return ",".join(parts)


@given(core_sets)
def test_what_the_kernel_writes_is_read_back(cores):
    assert kernel.parse_cores(as_ranges(cores) + "\n") == tuple(sorted(cores))


@given(core_sets)
def test_what_is_written_for_taskset_is_read_back(cores):
    assert set(kernel.parse_cores(kernel.format_cores(tuple(cores)))) == cores


def test_the_session_cores_are_those_the_kernel_allows():
    assert kernel.allowed_cores() == tuple(sorted(os.sched_getaffinity(0)))


@pytest.fixture
def siblings(monkeypatch, tmp_path):
    """Return a function that lays out a machine: which cores share a physical one, and which are allowed."""

    def lay_out(pairs, allowed):
        for core, text in pairs.items():
            place = tmp_path / f"cpu{core}" / "topology"
            place.mkdir(parents=True)
            (place / "thread_siblings_list").write_text(f"{text}\n")
        monkeypatch.setattr(kernel, "_TOPOLOGY", tmp_path)
        monkeypatch.setattr(kernel, "allowed_cores", lambda: allowed)

    return lay_out


def test_second_threads_of_a_core_come_last(siblings):
    siblings({0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"}, (0, 1, 2, 3))
    assert kernel.separate_cores(4) == (0, 2, 1, 3)


def test_siblings_may_be_far_apart(siblings):
    siblings({0: "0,4", 1: "1,5", 4: "0,4", 5: "1,5"}, (0, 1, 4, 5))
    assert kernel.separate_cores(3) == (0, 1, 4)


def test_a_sibling_that_is_not_allowed_costs_nothing(siblings):
    siblings({1: "0-1", 3: "2-3"}, (1, 3))
    assert kernel.separate_cores(2) == (1, 3)


def test_fewer_cores_than_wanted_are_returned_as_they_are(siblings):
    siblings({}, (5,))
    assert kernel.separate_cores(3) == (5,)


def test_without_a_topology_each_core_stands_alone(siblings):
    siblings({}, (0, 1))
    assert kernel.siblings_of(1) == {1}


def test_our_own_threads_are_all_seen_with_their_cores():
    ready, done = threading.Event(), threading.Event()
    seen = []

    def work():
        seen.append(threading.get_native_id())
        ready.set()
        done.wait()

    worker = threading.Thread(target=work)
    worker.start()
    ready.wait()
    found = kernel.threads(os.getpid())
    done.set()
    worker.join()
    assert {os.getpid(), seen[0]} <= {each.tid for each in found}
    assert all(each.cores for each in found)


def test_the_main_thread_comes_first():
    assert kernel.threads(os.getpid())[0].tid == os.getpid()


def test_a_process_that_ended_has_no_threads():
    child = subprocess.Popen(["true"])
    child.wait()
    assert kernel.threads(child.pid) == []


def test_a_name_with_a_colon_is_read_whole(tmp_path):
    program = tmp_path / "a: b) c"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "20"]) as child:
        while (found := kernel.threads(child.pid)) and found[0].name != "a: b) c":
            assert child.poll() is None
            time.sleep(0.01)
        child.kill()


def test_the_kernels_times_only_grow():
    before = kernel.threads(os.getpid())[0]
    if before.ran_ns is None:
        pytest.skip("this kernel keeps no schedstat")
    sum(range(200_000))
    os.sched_yield()
    after = kernel.threads(os.getpid())[0]
    assert after.ran_ns > before.ran_ns
    assert after.slices >= before.slices


@pytest.mark.parametrize("text", [None, "", "1 2", "a b c"])
def test_a_kernel_without_schedstat_gives_none_not_zero(tmp_path, text):
    if text is not None:
        (tmp_path / "schedstat").write_text(text)
    assert kernel._schedstat(tmp_path) == (None, None, None)


def test_outside_a_container_a_thread_has_one_number():
    assert kernel.inner_tid(os.getpid()) == os.getpid()


def test_the_main_thread_comes_first_also_after_the_kernels_count_began_anew():
    assert kernel.in_order(32760, [301, 32767, 32760, 300]) == [32760, 300, 301, 32767]
