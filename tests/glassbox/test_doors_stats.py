from __future__ import annotations

import contextlib
import mmap
import os
import re
import select
import socket
import subprocess
import threading

import numpy as np
import pytest
from doors_loop import DoorLoop, enter, program_of_vpp, short_directory
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from vpp_papi.vpp_stats import VPPStats

from labs.errors import LabError
from labs.glassbox.doors import Counters, StatsDoor, StatsSegment
from labs.glassbox.doors.stats_layout import COMBINED_OF_INTERFACES, OF_NODES, SIMPLE_OF_INTERFACES
from labs.glassbox.doors.stats_segment import MAX_NAME
from labs.vpp.sockets import DoorError
from labs.vpp.stats import NodeCounters, Stats

THREADS = 3


@pytest.fixture
def segment():
    memory = StatsSegment()
    yield memory
    memory.close()


@pytest.fixture
def counters(segment):
    return Counters(segment, THREADS, interfaces=8, nodes=8, errors=8)


@pytest.fixture
def path(segment):
    with short_directory() as place, DoorLoop(StatsDoor(place / "stats.sock", segment)):
        yield place / "stats.sock"


@pytest.fixture
def stats(path, counters):
    reader = Stats(path)
    yield reader
    reader.close()


@pytest.fixture
def papi(path, counters):
    reader = VPPStats(str(path))
    reader.connect()
    yield reader
    reader.disconnect()


@pytest.fixture
def vpp_get_stats(path, counters):
    program = program_of_vpp("vpp_get_stats")
    if program is None:
        pytest.skip("no vpp_get_stats found: install VPP, or set LABS_VPP")
    return lambda *words: (
        subprocess.run(
            [program, "socket-name", path, *words], capture_output=True, text=True, timeout=20, check=True
        ).stdout
    )


def test_what_is_counted_is_read_by_the_lab(stats, counters):
    counters.add_interface(0, "local0")
    counters.add_interface(1, "memif0/0")
    counters.interfaces["rx"][0, 1] = 1, 64
    counters.interfaces["rx"][2, 1] = 10, 640
    counters.interfaces["tx"][1, 0] = 5, 500
    counters.interfaces["tx-error"][:, 1] = 1, 2, 3
    read = stats.counters()
    assert list(read) == ["local0", "memif0/0"]
    assert (read["memif0/0"].rx_packets, read["memif0/0"].rx_bytes, read["memif0/0"].tx_errors) == (
        11,
        704,
        6,
    )
    assert (read["local0"].tx_packets, read["local0"].tx_bytes, read["local0"].rx_packets) == (5, 500, 0)


def test_every_counter_of_an_interface_is_where_the_lab_looks(stats, counters):
    counters.add_interface(0, "memif0/0")
    for kind, value in zip(SIMPLE_OF_INTERFACES, range(1, 100), strict=False):
        counters.interfaces[kind][1, 0] = value
    read = stats.counters()["memif0/0"]
    expected = dict(zip(SIMPLE_OF_INTERFACES, range(1, 100), strict=False))
    assert read.drops == expected["drops"]
    assert read.punts == expected["punt"]
    assert read.rx_no_buf == expected["rx-no-buf"]
    assert read.rx_miss == expected["rx-miss"]
    assert read.rx_errors == expected["rx-error"]
    assert read.tx_errors == expected["tx-error"]


def test_nodes_and_errors_are_read_by_the_lab(stats, counters):
    node = counters.add_node("ip4-lookup")
    assert counters.add_node("ip4-input") != node
    assert counters.add_node("ip4-lookup") == node
    counters.nodes["calls"][:, node] = 1, 2, 3
    counters.nodes["vectors"][1, node] = 256
    error = counters.add_error("memif1/0-tx", "no_free_slots")
    assert counters.add_error("memif1/0-tx", "no_free_slots") == error
    counters.add_error("ip4-input", "bad_length")
    counters.errors[:, error] = 5, 6, 7
    assert stats.node_counters()["ip4-lookup"] == NodeCounters(calls=6, vectors=256, clocks=0, suspends=0)
    assert stats.errors() == {"/err/memif1/0-tx/no_free_slots": 18}


def test_single_values_are_read(stats, counters):
    counters.system["vector_rate"][0] = 17
    counters.beat()
    counters.beat()
    assert (stats.vector_rate(), stats.heartbeat()) == (17, 2)
    assert stats.scalar("/sys/num_worker_threads") == THREADS - 1
    assert stats.scalar("/sys/boottime") > 1_700_000_000


def test_a_large_number_is_no_problem(stats, counters):
    counters.add_interface(0, "memif0/0")
    counters.interfaces["rx"][0, 0] = 2**63, 2**64 - 1
    read = stats.counters()["memif0/0"]
    assert (read.rx_packets, read.rx_bytes) == (2**63, 2**64 - 1)


def test_an_interface_that_goes_and_comes_back_counts_from_zero(stats, counters):
    counters.add_interface(1, "memif0/0")
    counters.interfaces["rx"][1, 1] = 5, 500
    counters.remove_interface(1)
    assert stats.counters() == {}
    assert not stats.names("/interfaces/")
    counters.remove_interface(1)
    counters.add_interface(1, "loop0")
    assert stats.counters()["loop0"].rx_packets == 0


def test_an_interface_is_renamed_and_keeps_its_counters(stats, counters):
    counters.add_interface(0, "memif0/0")
    counters.interfaces["rx"][1, 0] = 5, 500
    counters.add_interface(0, "uplink")
    assert stats.counters()["uplink"].rx_packets == 5
    assert {name.split("/")[2] for name in stats.names("/interfaces/")} == {"uplink"}


def test_clearing_begins_from_zero(stats, counters):
    counters.add_interface(0, "memif0/0")
    counters.interfaces["rx"][:] = 7
    counters.interfaces["drops"][:] = 7
    counters.clear()
    read = stats.counters()["memif0/0"]
    assert (read.rx_packets, read.drops) == (0, 0)
    assert stats.scalar("/sys/last_stats_clear") > 0


def test_too_many_are_refused_in_words_and_nothing_is_broken(stats, counters):
    for index in range(8):
        counters.add_interface(index, f"memif0/{index}")
        counters.add_node(f"node-{index}")
        counters.add_error("node", f"error-{index}")
    for add in (
        lambda: counters.add_interface(8, "one too many"),
        lambda: counters.add_interface(-1, "none"),
        lambda: counters.add_node("one too many"),
        lambda: counters.add_error("node", "one too many"),
    ):
        with pytest.raises(LabError, match="glass box"):
            add()
    assert len(stats.counters()) == len(stats.node_counters()) == 8


def test_names_may_be_too_long_or_strange(stats, counters):
    counters.add_interface(0, "x" * 200)
    counters.add_interface(1, "é")
    assert list(stats.counters()) == ["x" * 63, "?"]
    assert all(len(name) <= MAX_NAME for name in stats.names())


def test_papi_s_own_reader_sees_the_same(papi, counters):
    counters.add_interface(0, "local0")
    counters.add_interface(1, "memif0/0")
    counters.interfaces["rx"][2, 1] = 5, 500
    counters.errors[0, counters.add_error("ip4-input", "bad_length")] = 3
    counters.nodes["vectors"][1, counters.add_node("ip4-input")] = 9
    counters.system["vector_rate"][0] = 4
    assert papi["/if/names"] == ["local0", "memif0/0"]
    assert papi["/if/rx"][:, 1].sum_packets() == 5
    assert papi["/interfaces/memif0_0/rx"].sum_octets() == 500
    assert papi["/nodes/ip4-input/vectors"].sum() == 9
    assert papi.set_errors() == {"/err/ip4-input/bad_length": 3}
    assert papi["/sys/vector_rate"] == 4
    assert papi["/sys/vector_rate_per_worker"] == [[0] * THREADS]


def test_papi_reads_every_name_before_and_after_a_removal(papi, counters):
    counters.add_interface(0, "memif0/0")
    counters.add_interface(1, "loop0")
    counters.add_node("ip4-input")
    before = set(papi.ls("/"))
    assert papi.dump(sorted(before)).keys() == before
    counters.remove_interface(1)
    after = set(papi.ls("/"))
    gone = len(COMBINED_OF_INTERFACES) + len(SIMPLE_OF_INTERFACES)
    assert len(after) == len(before) - gone
    assert papi.dump(sorted(after)).keys() == after


def test_vpp_get_stats_reads_everything(vpp_get_stats, counters):
    counters.add_interface(0, "local0")
    counters.add_interface(1, "memif0/0")
    counters.interfaces["rx"][1, 1] = 5, 500
    counters.errors[2, counters.add_error("ip4-input", "bad_length")] = 3
    counters.add_node("ip4-input")
    everything = vpp_get_stats("dump")
    assert "[1 @ 1]: 5 packets, 500 bytes /if/rx\n" in everything
    assert "[0 @ 1]: 5 packets, 500 bytes /interfaces/memif0_0/rx\n" in everything
    assert "[0 @ 2]: 3 packets /err/ip4-input/bad_length\n" in everything
    assert "[1]: memif0/0 /if/names\n" in everything
    assert re.search(r"^2\.00 /sys/num_worker_threads$", everything, re.MULTILINE)
    names = vpp_get_stats("ls").split()
    assert {f"/sys/node/{kind}" for kind in OF_NODES} < set(names)


def test_vpp_get_stats_finds_the_heartbeat(path, counters):
    program = program_of_vpp("vpp_get_stats")
    if program is None:
        pytest.skip("no vpp_get_stats found: install VPP, or set LABS_VPP")
    with subprocess.Popen(
        [program, "socket-name", path, "poll", "interval", "0.01", "/sys/heartbeat"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as polling:
        shown = b""
        while b"00 /sys/heartbeat" not in shown:
            counters.beat()
            readable, _, _ = select.select([polling.stdout], [], [], 0.005)
            shown += os.read(polling.stdout.fileno(), 4096) if readable else b""
        polling.kill()
        # It says so after ten polls without a beat where it looks for one.
        assert b"Lost connection" not in polling.stderr.read()


def test_readers_are_handed_memory_that_they_cannot_write(path, segment, counters):
    with enter(path, socket.SOCK_SEQPACKET) as client:
        _, (descriptor,), _, _ = socket.recv_fds(client, 1, 1)
        assert client.recv(1) == b""
    try:
        with pytest.raises(PermissionError):
            mmap.mmap(descriptor, segment.memory.size)
        with pytest.raises(OSError, match=r"Invalid argument|not permitted"):
            os.ftruncate(descriptor, 0)
        with mmap.mmap(descriptor, segment.memory.size, prot=mmap.PROT_READ) as view:
            assert view[0] == 2
    finally:
        os.close(descriptor)


def test_the_door_is_as_good_after_a_client_that_leaves_at_once(path, stats):
    for _ in range(20):
        enter(path, socket.SOCK_SEQPACKET).close()
    assert stats.counters() == {}


def test_a_new_segment_behind_the_same_path_is_noticed(stats, path, counters):
    counters.add_interface(0, "old")
    assert list(stats.counters()) == ["old"]
    path.unlink()
    fresh = StatsSegment()
    Counters(fresh, 1).add_interface(0, "new")
    with DoorLoop(StatsDoor(path, fresh)):
        assert list(stats.counters()) == ["new"]
    with pytest.raises(DoorError):
        stats.counters()
    fresh.close()


def test_rows_are_plain_arrays_on_lines_of_their_own(counters):
    for array in (*counters.interfaces.values(), *counters.nodes.values(), counters.errors):
        assert array.dtype == np.uint64
        for row in array:
            assert row.flags.c_contiguous
            assert row.ctypes.data % 64 == 0


def test_a_compiled_kernel_counts_into_the_memory(stats, counters):
    @njit
    def count(row, column, packets, octets):
        row[column, 0] += packets
        row[column, 1] += octets

    counters.add_interface(0, "memif0/0")
    for thread in range(THREADS):
        count(counters.interfaces["rx"][thread], 0, 2, 128)
    read = stats.counters()["memif0/0"]
    assert (read.rx_packets, read.rx_bytes) == (6, 384)


def test_full_columns_do_not_touch_each_other(segment):
    simple = segment.simple("/s", 4, 7)
    pairs = segment.combined("/c", 4, 4)
    simple[:] = 1
    pairs[:] = 2
    segment.names("/n", 3)
    segment.show("/s", 7)
    segment.show("/c", 4)
    with short_directory() as place, DoorLoop(StatsDoor(place / "s", segment)):
        reader = VPPStats(str(place / "s"))
        reader.connect()
        assert reader["/s"] == [[1] * 7] * 4
        assert [[tuple(pair) for pair in row] for row in reader["/c"]] == [[(2, 2)] * 4] * 4
        assert reader["/n"] == []
        reader.disconnect()


def test_what_cannot_be_shown_is_a_mistake(segment):
    segment.simple("/s", 1, 4)
    segment.names("/n", 2)
    for name, length in (("/s", 5), ("/s", -1), ("/n", 3)):
        with pytest.raises(ValueError, match="cannot show"):
            segment.show(name, length)


def test_a_change_is_over_even_if_it_fails(segment):
    epoch = int(segment._header[2])
    with contextlib.suppress(RuntimeError), segment.changing():
        with segment.changing():
            pass
        assert segment._header[3] == 1
        raise RuntimeError
    assert segment._header[3] == 0
    assert segment._header[2] == epoch + 1


def test_a_full_directory_or_memory_is_said_to_be():
    small = StatsSegment(1 << 16, 2)
    small.scalar("/a")
    small.gauge("/b")
    with pytest.raises(ValueError, match="no more than 2"):
        small.scalar("/c")
    with pytest.raises(LabError, match="more than 65536 bytes"):
        small.simple("/d", 100, 100)
    small.close()
    small.close()


def test_readers_are_never_fooled_while_interfaces_come_and_go(path, counters):
    counters.add_interface(0, "local0")
    counters.interfaces["rx"][:, 0] = 1, 64
    faults, done = [], threading.Event()

    def read():
        reader = Stats(path)
        while not done.is_set():
            seen = reader.counters()
            if seen["local0"].rx_packets != THREADS or not set(seen) <= {"local0", "memif0/0", "loop1"}:
                faults.append(seen)
        reader.close()

    thread = threading.Thread(target=read)
    thread.start()
    for turn in range(300):
        counters.add_interface(1, "memif0/0")
        if turn % 2:
            counters.add_interface(2, "loop1")
            counters.remove_interface(2)
        counters.remove_interface(1)
    done.set()
    thread.join()
    assert not faults


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "remove", "count"]), st.integers(0, 4), st.integers(0, 9)),
        max_size=30,
    )
)
def test_readers_see_what_a_plain_dictionary_would_hold(steps):
    segment = StatsSegment(1 << 18, 128)
    counters = Counters(segment, 2, interfaces=5, nodes=4, errors=4)
    names, packets = {}, {}
    for step, index, value in steps:
        if step == "add":
            packets.setdefault(index, 0)
            names[index] = f"memif{value}/{index}"
            counters.add_interface(index, names[index])
        elif step == "remove":
            names.pop(index, None)
            packets.pop(index, None)
            counters.remove_interface(index)
        elif index in names:
            packets[index] += value
            counters.interfaces["rx"][value % 2, index, 0] += np.uint64(value)
    with short_directory() as place, DoorLoop(StatsDoor(place / "s", segment)):
        reader = Stats(place / "s")
        seen = {name: each.rx_packets for name, each in reader.counters().items()}
        reader.close()
        papi = VPPStats(str(place / "s"))
        papi.connect()
        links = {name: papi[name].sum_packets() for name in papi.ls("/interfaces/.*/rx$")}
        papi.disconnect()
    segment.close()
    assert seen == {names[index]: packets[index] for index in names}
    assert links == {f"/interfaces/{names[index].replace('/', '_')}/rx": packets[index] for index in names}
