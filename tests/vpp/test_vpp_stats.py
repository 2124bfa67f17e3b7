from __future__ import annotations

import contextlib
import socket
import threading
import time

import fake_segment
import pytest
from fake_segment import EMPTY, SIMPLE, FakeSegment, StatsServer, usual_entries
from hypothesis import given
from hypothesis import strategies as st

from labs.errors import LabError, NotAvailable
from labs.vpp import stats as stats_module
from labs.vpp.sockets import DoorError
from labs.vpp.stats import InterfaceCounters, Stats


@pytest.fixture
def segment():
    memory = FakeSegment()
    memory.set_entries(usual_entries(memory))
    yield memory
    memory.close()


@pytest.fixture
def server(short_dir, segment):
    serving = StatsServer(short_dir / "stats.sock", segment)
    yield serving
    if serving._thread.is_alive():
        serving.end()


@pytest.fixture
def stats(server):
    reader = Stats(server.path, timeout=10)
    yield reader
    reader.close()


@pytest.fixture
def clock(monkeypatch):
    """Return a list whose item is the time that the reader sees."""
    now = [1000.0]

    class Clock:
        monotonic = staticmethod(lambda: now[0])

    monkeypatch.setattr(stats_module, "time", Clock)
    return now


def test_counters_are_summed_over_threads(stats):
    assert stats.counters() == {
        "local0": InterfaceCounters(rx_packets=11, rx_bytes=704),
        "memif0/0": InterfaceCounters(rx_packets=22, rx_bytes=1408, tx_errors=7),
    }


def test_errors_that_are_not_zero(stats):
    assert stats.errors() == {"/err/memif0/0-tx/no_free_slots": 11}


def test_one_error_is_what_all_of_them_say(stats):
    for name, count in stats.errors().items():
        assert stats.error(name) == count
    assert stats.error("/err/memif0/0-tx/never_heard_of") == 0


def test_single_values(stats):
    assert stats.scalar("/sys/boottime") == 1700000000
    assert stats.vector_rate() == 7


def test_single_values_change_without_a_new_epoch(stats, segment):
    stats.vector_rate()
    segment.set_value("/sys/vector_rate", 99)
    assert stats.vector_rate() == 99


def test_a_vector_is_no_single_value(stats):
    with pytest.raises(LabError, match="not a single value"):
        stats.scalar("/if/rx")


def test_an_unknown_name(stats):
    with pytest.raises(LabError, match="hold no '/if/nonsense'"):
        stats.scalar("/if/nonsense")


def test_names_can_be_listed(stats):
    assert stats.names("/sys") == ["/sys/boottime", "/sys/heartbeat", "/sys/vector_rate"]


def test_deleted_interfaces_are_left_out(stats, segment):
    segment.set_entries(usual_entries(segment, names=("local0", "deleted")))
    assert list(stats.counters()) == ["local0"]


def test_a_new_interface_is_seen_after_an_epoch(stats, segment):
    stats.counters()
    names, packets = ("local0", "memif0/0", "memif1/0"), ((1, 2, 3), (1, 2, 3))
    segment.set_entries(usual_entries(segment, names, packets))
    counters = stats.counters()
    assert counters["memif1/0"].rx_packets == 6
    assert list(counters) == list(names)


def test_entries_may_move(stats, segment):
    before = stats.counters()
    entries = usual_entries(segment)
    segment.set_entries([(EMPTY, 0, ""), *entries[::-1]])
    assert stats.counters() == before


def test_an_entry_may_vanish(stats, segment):
    assert stats.errors()
    segment.set_entries([entry for entry in usual_entries(segment) if "no_free" not in entry[2]])
    assert stats.errors() == {}


def test_names_are_looked_up_once_for_many_reads(stats, monkeypatch):
    stats.counters()
    monkeypatch.setattr(stats._segment, "names", lambda: pytest.fail("the directory was read again"))
    stats.counters()
    stats.vector_rate()


def test_names_that_stay_are_not_looked_up_again_after_an_epoch(stats, segment, monkeypatch):
    stats.counters()
    segment.set_entries(usual_entries(segment, packets=((5, 5), (5, 5))))
    monkeypatch.setattr(stats._segment, "names", lambda: pytest.fail("the directory was read again"))
    assert stats.counters()["local0"].rx_packets == 10


def test_it_waits_until_a_change_is_done(stats, segment):
    stats.counters()
    segment.in_progress = 1
    segment.write_header()

    def finish():
        segment.in_progress = 0
        segment.set_entries(usual_entries(segment, packets=((7, 7), (7, 7))))

    timer = threading.Timer(0.05, finish)
    timer.start()
    assert stats.counters()["local0"].rx_packets == 14
    timer.join()


def test_a_change_that_never_ends_is_an_error(server, segment):
    stats = Stats(server.path, timeout=0.05)
    stats.counters()
    segment.in_progress = 1
    segment.write_header()
    with pytest.raises(DoorError, match="without a pause") as caught:
        stats.counters()
    assert caught.value.fault == "timeout"


def test_a_reading_overtaken_by_a_change_is_done_again(stats, segment):
    stats.connect()
    seg, results = stats._segment, []

    def reader():
        results.append(seg.entry("/sys/boottime").value)
        if len(results) == 1:
            entries = usual_entries(segment)
            segment.set_entries([(kind, value + 1, name) for kind, value, name in entries])
        return results[-1]

    assert seg.read(reader) == 1700000001
    assert len(results) == 2


def test_a_reading_that_a_change_begins_in_is_done_again(stats, segment):
    stats.connect()
    seg, tries = stats._segment, []

    def reader():
        tries.append(1)
        segment.in_progress = int(len(tries) == 1)
        segment.write_header()
        if len(tries) == 1:
            threading.Timer(0.02, segment.set_entries, [usual_entries(segment)]).start()
            segment.in_progress = 0  # what the timer's change will leave behind
        return len(tries)

    assert seg.read(reader) > 1


def test_an_error_met_during_a_change_does_not_count(stats, segment):
    stats.connect()
    seg, tries = stats._segment, []

    def reader():
        tries.append(1)
        if len(tries) == 1:
            segment.set_entries(usual_entries(segment))
            raise LabError("it was not there")
        return "fine"

    assert seg.read(reader) == "fine"


def test_other_errors_are_not_swallowed(stats):
    stats.connect()
    with pytest.raises(ZeroDivisionError):
        stats._segment.read(lambda: 1 // 0)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_no_pointer_leads_out_of_the_segment(rows, row):
    memory = FakeSegment(1 << 16)
    try:
        entries = usual_entries(memory)
        inner = memory.vector(row.to_bytes(8, "little"), 1)
        entries = [entry for entry in entries if entry[2] not in ("/if/drops", "/if/punt")]
        entries += [(SIMPLE, rows, "/if/drops"), (SIMPLE, inner, "/if/punt")]
        memory.set_entries(entries)
        reader = fake_segment_reader(memory)
        for read in (reader.counters, reader.errors):
            with contextlib.suppress(LabError):
                read()
    finally:
        memory.close()


def fake_segment_reader(memory):
    """Return a reader that was given `memory` without a socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    socket.send_fds(theirs, [b""], [memory.fd])
    reader = Stats("/nowhere", timeout=0.01)
    patch = pytest.MonkeyPatch()
    with patch.context() as context:
        context.setattr("labs.vpp.segment.connect", lambda *_: ours)
        context.setattr(Stats, "_socket_birth", lambda _: (0, 0))
        reader.connect()
    reader._socket_birth = lambda: (0, 0)
    theirs.close()
    return reader


def test_another_layout_names_both_versions(short_dir):
    memory = FakeSegment(version=3)
    server = StatsServer(short_dir / "stats.sock", memory)
    with pytest.raises(NotAvailable, match="version 3, and this course reads version 2"):
        Stats(server.path).counters()
    server.end()
    memory.close()


def test_a_server_that_hands_out_nothing(short_dir):
    server = StatsServer(short_dir / "stats.sock", None)
    with pytest.raises(DoorError) as caught:
        Stats(server.path).counters()
    assert caught.value.fault == "vanished"
    server.end()


def test_no_socket(short_dir):
    stats = Stats(short_dir / "stats.sock")
    with pytest.raises(DoorError, match="no statistics socket") as caught:
        stats.counters()
    assert caught.value.fault == "absent"
    assert stats.stopped()


def test_a_forbidden_socket(server, as_another_user):
    server.path.parent.chmod(0o755)
    server.path.chmod(0o400)
    with as_another_user(), pytest.raises(DoorError, match="mode 0400"):
        Stats(server.path).counters()


def test_a_beating_heart_is_not_stopped(stats, segment, clock):
    for beat in range(10):
        segment.set_value("/sys/heartbeat", beat)
        clock[0] += 0.5
        assert not stats.stopped()


def test_a_heart_that_stands_still_is_noticed_within_two_seconds(stats, clock):
    stats.counters()
    clock[0] += 1.0
    assert not stats.stopped()
    clock[0] += 1.0
    assert stats.stopped()
    with pytest.raises(DoorError, match=r"stood still for 2\.0 s") as caught:
        stats.check()
    assert caught.value.fault == "stopped"


def test_a_vpp_that_is_only_busy_is_still_read_and_not_disturbed(stats, server, clock):
    stats.counters()
    clock[0] += 5
    assert stats.counters()["local0"].rx_packets == 11
    assert server.accepted == 1


def test_a_heart_that_beats_again_is_not_stopped(stats, segment, clock):
    stats.counters()
    clock[0] += 5
    assert stats.stopped()
    segment.set_value("/sys/heartbeat", 77)
    assert not stats.stopped()


def test_a_dead_vpp_is_told_once_its_heart_is_stale(stats, server, clock):
    stats.counters()
    server.die()
    clock[0] += 2
    for _ in range(2):
        with pytest.raises(DoorError) as caught:
            stats.counters()
        assert caught.value.fault == "dead"
    assert stats.stopped()


def test_a_vpp_that_ended_cleanly_is_told_at_once(stats, server):
    stats.counters()
    server.end()
    with pytest.raises(DoorError) as caught:
        stats.counters()
    assert caught.value.fault == "absent"


def test_a_vpp_started_anew_is_read_at_once(stats, server):
    assert stats.counters()["local0"].rx_packets == 11
    server.end()
    second = FakeSegment()
    second.set_entries(usual_entries(second, packets=((0, 0), (1, 0))))
    again = StatsServer(server.path, second)
    assert stats.counters()["local0"].rx_packets == 1
    again.end()
    second.close()


def test_reading_goes_on_after_close(stats, server):
    stats.counters()
    stats.close()
    stats.close()
    assert stats.counters()
    assert server.accepted == 2


def test_threads_may_share_a_reader(stats, segment):
    stop = threading.Event()

    def churn():
        number = 0
        while not stop.is_set():
            number += 1
            segment._free = 4096 + (number % 2) * (1 << 18)
            segment.in_progress = 1
            segment.write_header()
            entries = usual_entries(segment, packets=((number, 0), (number, 0)))
            segment.in_progress = 0
            segment.set_entries(entries)
            time.sleep(0.001)

    def read():
        for _ in range(200):
            counters = stats.counters()["local0"]
            assert counters.rx_bytes == 64 * counters.rx_packets
            assert counters.rx_packets % 2 == 0 or counters.rx_packets == 11

    threads = [threading.Thread(target=churn), *(threading.Thread(target=read) for _ in range(3))]
    faults = []
    hook, threading.excepthook = threading.excepthook, lambda args: faults.append(args.exc_value)
    for thread in threads:
        thread.start()
    for thread in threads[1:]:
        thread.join()
    stop.set()
    threads[0].join()
    threading.excepthook = hook
    assert faults == []


def test_the_fake_has_vpps_sizes():
    assert fake_segment._ENTRY.size == 144
