"""Generator and sink on real links: what is sent arrives, changes take hold, and ends are worded."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from memif_loops import eventually

from labs import memif
from labs.errors import LabError
from labs.memif.errors import Down, MemifError
from labs.traffic import Generator, Packets, Sink, blocks, imix, udp

COUNT = 20_000
SETTLES = 5.0


def sent_and_received(source, target, packets, count=COUNT, **options):
    """Send so many packets and return both reports."""
    with Sink(target, packets, **options) as sink:
        sent = Generator(source, packets).run(count=count)
        assert sent.packets == count
        assert eventually(lambda: sink.live[blocks.PACKETS] >= count, SETTLES)
        return sent, sink.stop()


@pytest.mark.parametrize("mode", ["polling", "interrupt"])
@pytest.mark.parametrize("to_server", [True, False])
@pytest.mark.parametrize("packets", [udp(flows=7), imix(flows=3), udp(size=9000)], ids=str)
def test_all_that_is_sent_arrives(pair, packets, to_server, mode):
    server, client = pair()
    ends = (client, server) if to_server else (server, client)
    sent, received = sent_and_received(*ends, packets, mode=mode)
    assert (received.packets, received.bytes) == (sent.packets, sent.bytes)
    assert (received.lost, received.reordered, received.duplicates) == (0, 0, 0)
    assert (received.other, received.strange, received.lost_of(sent)) == (0, 0, 0)
    assert received.per_flow["packets"].tolist() == sent.per_flow.tolist()
    assert sum(sent.per_flow) == COUNT


def test_ip_mode(pair):
    server, client = pair(mode="ip")
    _, received = sent_and_received(client, server, udp(size=50, mode="ip", flows=2))
    assert (received.lost, received.other) == (0, 0)


def test_each_queue_is_its_own(pair):
    server, client = pair(queues=2)
    packets = udp()
    with Sink(server, packets, queue=0) as first, Sink(server, packets, queue=1) as second:
        Generator(client, packets, queue=1).run(count=100)
        assert eventually(lambda: second.live[blocks.PACKETS] == 100)
        assert first.live[blocks.PACKETS] == 0


def test_unstamped_packets_are_counted_all_the_same(pair):
    server, client = pair()
    _, received = sent_and_received(client, server, Packets.of(bytes(200)))
    assert (received.packets, received.other, received.lost) == (COUNT, COUNT, 0)


def test_a_rate_is_kept_or_said_to_be_missed(pair):
    server, client = pair()
    with Sink(server):
        report = Generator(client, udp(), rate=20_000, bucket=1 << 20).run(seconds=0.3)
    assert report.missed == 0
    assert report.reached
    wanted = 20_000 * report.seconds
    assert report.packets == pytest.approx(wanted, abs=2 + 20_000 * report.behind)


def test_a_rate_that_cannot_be_reached_is_said_so(pair):
    _, client = pair()  # nobody takes the packets
    report = Generator(client, udp(), rate=1_000_000).run(seconds=0.1)
    size = client.queue("tx").ring.size
    assert size - 64 < report.packets <= size  # a burst waits for room for all of it
    assert not report.reached
    assert report.full == 1
    assert report.missed + report.packets == pytest.approx(1_000_000 * report.seconds, abs=300)
    assert "was not reached" in report.summary()


def test_the_rate_may_be_changed_while_packets_flow(pair):
    server, client = pair()
    with Sink(server) as sink:
        generator = Generator(client, udp(), rate=100).start()
        time.sleep(0.1)
        slow = int(sink.live[blocks.PACKETS])
        generator.rate = None
        assert eventually(lambda: sink.live[blocks.PACKETS] > slow + 10_000)
        generator.rate = 10
        assert eventually(lambda: generator.live[blocks.PACE] == 10_000)
        assert generator.stop().rate == 10


def test_a_slow_generator_stops_at_once(pair):
    _, client = pair()
    generator = Generator(client, udp(), rate=0.001).start()
    began = time.monotonic()
    assert generator.stop().packets == 0
    assert time.monotonic() - began < SETTLES
    assert not generator.is_running


def test_a_slow_generator_and_a_sleeping_sink_leave_the_processor_to_others(pair):
    server, client = pair()
    with Sink(server, mode="interrupt"), Generator(client, udp(), rate=10):
        before = time.process_time()
        time.sleep(0.5)
        assert time.process_time() - before < 0.25


def test_live_counts_are_seen_while_packets_flow(pair):
    server, client = pair()
    seen = []
    with Sink(server) as sink, Generator(client, udp(), rate=50_000) as generator:
        for _ in range(10):
            time.sleep(0.02)
            seen.append((int(generator.live[blocks.PACKETS]), int(sink.live[blocks.PACKETS])))
    sent, received = zip(*seen, strict=True)
    assert len(set(sent)) > 5
    assert list(received) == sorted(received)
    with pytest.raises(ValueError, match="read-only"):
        sink.live[0] = 1


def test_windows_add_up_to_the_whole(pair):
    server, client = pair()
    with Sink(server, window=0.01) as sink:
        Generator(client, udp(size=100), rate=50_000).run(seconds=0.2)
        time.sleep(0.05)
        report = sink.stop()
    assert report.windows[:, 1].sum() == report.packets
    assert report.windows[:, 2].sum() == report.bytes
    assert (np.diff(report.windows[:, 0]) > 0).all()


def test_more_windows_than_are_kept(pair):
    server, client = pair()
    with Sink(server, window=0.001) as sink:
        sink._windows = sink._windows  # the kernel keeps its own
        sink._run[blocks.WINDOWS] = 5000
        Generator(client, udp(), rate=50_000).run(seconds=0.02)
    rows = sink.report().windows
    assert len(rows) == 4095


@pytest.mark.parametrize("killer", ["client", "server"])
def test_a_link_that_goes_down_ends_both_with_a_reason_and_keeps_the_counts(pair, killer):
    server, client = pair()
    sink, generator = Sink(server).start(), Generator(client, udp()).start()
    assert eventually(lambda: sink.live[blocks.PACKETS] > 1000)
    {"client": client, "server": server}[killer].close()
    assert eventually(lambda: not sink.is_running and not generator.is_running)
    for report in (sink.stop(), generator.stop()):
        assert report.packets > 1000
        assert report.ended.startswith("It ended early: the link went down.")
        assert report.ended in report.summary()


def test_a_link_that_goes_down_wakes_a_sleeping_sink(pair):
    server, client = pair()
    sink = Sink(server, mode="interrupt").start()
    client.close()
    assert eventually(lambda: not sink.is_running)
    assert "the link went down" in sink.stop().ended


def test_a_peer_that_breaks_the_ring_ends_the_sink(pair):
    server, client = pair()
    sink = Sink(server).start()
    ring = client.queue("tx").ring
    ring.memory[6:8].view("<u2")[0] = 5000
    assert eventually(lambda: not sink.is_running)
    assert "index jumped" in sink.stop().ended


def test_a_link_that_is_down_is_refused(pair):
    server, client = pair()
    client.close()
    assert eventually(lambda: not server.is_up)
    with pytest.raises(Down):
        Sink(server).start()
    with pytest.raises(Down):
        Generator(server, udp()).start()


def test_packets_that_do_not_fit_are_refused(pair):
    server, client = pair(buffer_size=64, ring_size=8)
    report = Generator(client, udp(size=600)).run(seconds=1)
    assert report.packets == 0
    assert "do not fit this ring of 8 slots" in report.ended
    assert server.is_up
    assert client.is_up


def test_a_generator_goes_on_with_its_numbers(pair):
    server, client = pair()
    generator = Generator(client, udp(flows=3))
    with Sink(server, 3) as sink:
        for _ in range(5):
            assert generator.run(count=100).packets == 100
        assert eventually(lambda: sink.live[blocks.PACKETS] == 500)
        report = sink.report()
    assert (report.lost, report.reordered, report.duplicates) == (0, 0, 0)


def test_a_new_generator_is_not_taken_for_loss(pair):
    server, client = pair()
    with Sink(server) as sink:
        for turn in range(1, 4):
            Generator(client, udp()).run(count=100)
            assert eventually(lambda turn=turn: sink.live[blocks.PACKETS] == turn * 100)
        report = sink.report()
    assert (report.lost, report.reordered, report.duplicates) == (0, 0, 0)


def test_a_sink_begins_with_nothing(pair):
    server, client = pair()
    sink = Sink(server)
    for _ in range(2):
        Generator(client, udp()).run(count=50)  # waits in the ring before the sink begins
        sink.start()
        Generator(client, udp()).run(count=100)
        assert eventually(lambda: sink.live[blocks.PACKETS] == 100)
        report = sink.stop()
        assert (report.stale, report.lost) == (50, 0)


def test_delay_is_measured_on_request(pair):
    server, client = pair()
    with Sink(server, delay=True) as sink:
        Generator(client, udp(), rate=1000).run(seconds=0.1)
        report = sink.stop()
    assert 0 < report.delay.least <= report.delay.mean <= report.delay.most < 1
    assert report.delay.packets == report.packets
    assert Sink(server).run(0.01).delay is None


def test_a_worker_runs_once_at_a_time(pair):
    _, client = pair()
    generator = Generator(client, udp(), rate=10).start()
    with pytest.raises(LabError, match="This generator runs already"):
        generator.start()
    generator.stop()
    generator.stop()


def test_stop_before_start_is_an_empty_report(pair):
    server, client = pair()
    assert Generator(client, udp()).stop().packets == 0
    assert Sink(server).stop().packets == 0


def test_interrupting_a_run_stops_it(pair):
    _, client = pair()
    generator = Generator(client, udp(), rate=10)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        generator.run(seconds=60)
    assert not generator.is_running
    assert client.send(b"x" * 60) == 1


def test_after_a_run_the_queue_is_free_again(pair):
    server, client = pair()
    sent_and_received(client, server, udp())
    assert client.send([bytes(60)]) == 1
    assert server.receive() == [bytes(60)]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"rate": 0}, "rate cannot be 0"),
        ({"rate": -1}, "rate"),
        ({"rate": 2e9}, "rate"),
        ({"rate": float("nan")}, "rate"),
        ({"rate": "fast"}, "rate"),
        ({"stream": 65536}, "stream"),
        ({"bucket": 0}, "bucket"),
    ],
)
def test_a_generator_refuses_what_cannot_be(pair, options, what):
    _, client = pair()
    with pytest.raises(LabError, match=what):
        Generator(client, udp(), **options)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"flows": 0}, "flows"),
        ({"at": -1}, "at"),
        ({"mode": "adaptive"}, "mode"),
        ({"window": 0}, "window"),
        ({"stream": -2}, "stream"),
    ],
)
def test_a_sink_refuses_what_cannot_be(pair, options, what):
    server, _ = pair()
    with pytest.raises(LabError, match=what):
        Sink(server, **options)


def test_the_modes_have_to_agree(pair):
    _, client = pair(mode="ip")
    with pytest.raises(LabError, match="mode ethernet, and the link has mode ip"):
        Generator(client, udp())


def test_a_run_needs_an_end(pair):
    _, client = pair()
    with pytest.raises(LabError, match="when to stop"):
        Generator(client, udp()).run()


def test_a_core_that_may_not_be_used_is_named(pair):
    server, client = pair()
    for worker in (Generator(client, udp(), core=100_000), Sink(server, core=100_000)):
        with pytest.raises(LabError, match="Core 100000 is outside"):
            worker.start()
        assert not worker.is_running


def test_a_core_is_kept_to(pair):
    _, client = pair()
    core = min(os.sched_getaffinity(0))
    with Generator(client, udp(), rate=10, core=core) as generator:
        assert os.sched_getaffinity(generator._thread.native_id) == {core}
    assert os.sched_getaffinity(0) >= {core}


def test_a_queue_there_is_not_is_refused(pair):
    _, client = pair()
    with pytest.raises(MemifError, match="no queue 3"):
        Generator(client, udp(), queue=3).start()


def test_a_server_that_waits_for_a_client_is_no_link_yet(tmp_path):
    with memif.Server(tmp_path / "s") as server, pytest.raises(Down):
        Sink(server).start()
