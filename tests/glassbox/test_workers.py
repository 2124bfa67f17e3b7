"""Threads beside the main one: barrier, placement of queues, shared rings, and their end."""

from __future__ import annotations

import ipaddress
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from glassbox_bench import WAIT, Bench, Wire, asks, echo, mac_of, many, raw_mac, udp
from glassbox_running import Running
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether

from labs import memif
from labs.errors import LabError
from labs.glassbox.route import Prefix, Route
from labs.glassbox.vm import POLLING, THREAD, TURNS
from labs.glassbox.workers import Worker, Workers

A, B = "10.0.0.2", "10.0.1.2"
CORE = max(os.sched_getaffinity(0))


def prepared(folder, workers):
    bench = Bench(Path(tempfile.mkdtemp(dir=folder)), workers)
    for number in range(2):
        wire = bench.wire(number, f"10.0.{number}.1/24")
        bench.neighbour(wire, f"10.0.{number}.2")
    return bench


@pytest.fixture
def running(folder):
    """Run a box with one worker; its queues sleep, for the sake of the machine."""
    bench = prepared(folder, 1)
    with Running(bench.box, (CORE,)) as running:
        running.bench = bench
        sleep(running)
        yield running
    bench.check()
    bench.close()


def sleep(running, mode="interrupt"):
    for wire in running.bench.wires:
        running.do(lambda wire=wire: running.box.memifs.queues.set_mode(wire.memif, mode))


def receive(link, count):
    got, deadline = [], time.monotonic() + WAIT
    while len(got) < count and time.monotonic() < deadline:
        got += link.receive(timeout=0.05)
    return got


def carries(running, count=300):
    one, other = running.bench.wires
    marked = many(one, A, B, count, size=99)
    assert one.link.send(marked) == count
    got, deadline = 0, time.monotonic() + WAIT
    while got < count and time.monotonic() < deadline:
        got += sum(len(each) == len(marked[0]) for each in other.link.receive(timeout=0.05))
    assert got == count


def threads(running):
    return [
        int(running.box.vm.rx_queues[row]["thread"])
        for each in running.bench.wires
        for row in each.memif.rows
    ]


def test_queues_go_to_the_worker_and_it_forwards(running):
    assert threads(running) == [1, 1]
    before = int(running.box.vms[1].vectors.sum()), int(running.box.vm.vectors.sum())
    carries(running)
    after = int(running.box.vms[1].vectors.sum()), int(running.box.vm.vectors.sum())
    assert after[0] > before[0]
    assert after[1] == before[1]  # the main thread had no packet in its hands


@pytest.mark.parametrize("mode", ["interrupt", "polling", "adaptive"])
def test_a_queue_may_be_placed_on_either_thread_in_any_mode(running, mode):
    sleep(running, mode)
    one = running.bench.wires[0]
    for thread in (0, 1, 0, 0, 1):
        running.do(lambda thread=thread: running.box.memifs.queues.place(one.memif, 0, thread))
        carries(running)
        assert threads(running)[0] == thread
    sleep(running)


def test_a_queue_placed_anew_while_packets_wait_in_it_is_emptied(running):
    one, other = running.bench.wires
    for thread in (0, 1) * 5:

        def change(thread=thread):
            assert one.link.send(many(one, A, B, 400), timeout=0) == 400
            running.box.memifs.queues.place(one.memif, 0, thread)

        running.do(change)
        assert len(receive(other.link, 400)) == 400


def test_tables_change_while_packets_flow(running):
    one, other = running.bench.wires
    stop, sent = threading.Event(), [0]

    def pump():
        burst = memif.Burst.of(many(one, A, B, 64))
        while not stop.is_set():
            sent[0] += one.link.send_burst(burst)
            time.sleep(0.0005)

    thread = threading.Thread(target=pump)
    thread.start()
    got = 0
    routes = running.box.routes
    for number in range(150):
        prefix = Prefix((10 << 24 | 1 << 8, 25 + number % 7))
        running.do(
            lambda prefix=prefix: routes.add(prefix, Route("via", other.index, ipaddress.ip_address(B)))
        )
        got += len(other.link.receive(timeout=0))
        running.do(lambda prefix=prefix: routes.remove(prefix))
        got += len(other.link.receive(timeout=0))
    stop.set()
    thread.join()
    while more := other.link.receive(timeout=0.2):
        got += len(more)
    counts = running.do(running.bench.counts)
    lost = counts.get(("memif-tx", "no free tx slots"), 0)
    assert got + lost == sent[0]
    assert set(counts) <= {("memif-tx", "no free tx slots")}


@pytest.mark.parametrize("count", [1, 3])
def test_many_barriers_in_a_row_do_not_lock_up(folder, count):
    bench = prepared(folder, count)
    workers = Workers(bench.box, (CORE,) * count)
    passed = []

    def pass_many():
        for number in range(1000):
            with workers.barrier(), workers.barrier():
                passed.append(number)

    thread = threading.Thread(target=pass_many, daemon=True)
    thread.start()
    thread.join(3 * WAIT)
    assert len(passed) == 1000
    workers.end()
    bench.close()


def test_the_worker_stands_still_at_the_barrier(running):
    sleep(running, "polling")

    def watch():
        state = running.box.vms[1].state
        before = int(state[TURNS])
        time.sleep(0.05)
        return int(state[TURNS]) - before

    assert running.do(watch) == 0
    assert watch() > 0
    sleep(running)


def test_an_answer_that_the_worker_hears_reaches_the_ping(running):
    one = running.bench.wires[0]
    ping = running.do(lambda: running.box.ping(ipaddress.ip_address(A), repeat=3, interval=0.02))
    lines = []
    deadline = time.monotonic() + WAIT
    while (more := running.do(ping.poll)) is not None and time.monotonic() < deadline:
        lines += more
        for raw in one.link.receive(timeout=0.002):
            question = Ether(raw)
            answer = IP(src=question[IP].dst, dst=question[IP].src) / ICMP(
                type=0, id=question[ICMP].id, seq=question[ICMP].seq
            )
            one.link.send([bytes(one.frame() / answer / bytes(question[ICMP].payload))])
    assert any("3 sent, 3 received, 0% packet loss" in each for each in lines)


def test_the_main_thread_and_the_worker_share_a_ring_to_send_on(running):
    """Pings from the one and forwarded packets from the other must not overwrite each other."""
    one, other = running.bench.wires
    ping = running.do(lambda: running.box.ping(ipaddress.ip_address(B), repeat=300, interval=0.0005))
    burst = memif.Burst.of(many(one, A, B, 32))
    sent, frames = 0, []
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline and not (running.do(ping.poll) is None and len(frames) >= sent + 300):
        sent += one.link.send_burst(burst) if sent < 20_000 else 0
        frames += other.link.receive(timeout=0)
    kinds = [Ether(each)[IP].proto for each in frames[:2000]]
    assert set(kinds) <= {1, 17}
    lost = running.do(running.bench.counts).get(("memif-tx", "no free tx slots"), 0)
    frames += receive(other.link, sent + 300 - lost - len(frames))
    assert sum(len(each) != 60 for each in frames) == sum(each[23] == 1 for each in frames)
    assert len(frames) == sent + 300 - lost


def test_two_threads_that_forward_into_one_ring_do_not_overwrite_each_other(running):
    bench = running.bench
    one, other = bench.wires
    third = running.do(lambda: bench.box.add_memif(2, role="master", mac=raw_mac(mac_of(2))))
    running.do(lambda: bench.box.routes.add_address(third.interface, ipaddress.ip_interface("10.0.2.1/24")))
    running.do(lambda: bench.box.set_up(third.interface, is_up=True))
    link = memif.Client(one.link.path, 2)
    link.start()
    link.wait_up()
    running.until(lambda: third.connection)
    for each, thread in ((third, 0), (one.memif, 1)):
        running.do(lambda each=each: bench.box.memifs.queues.set_mode(each, "polling"))
        running.do(lambda each=each, thread=thread: bench.box.memifs.queues.place(each, 0, thread))
    bursts = [
        memif.Burst.of(many(one, A, B, 64)),
        memif.Burst.of(many(Wire(third, link, 2), "10.0.2.2", B, 64)),
    ]
    stop, sent = threading.Event(), [0, 0]

    def pump(number, end):
        while not stop.is_set():
            sent[number] += end.send_burst(bursts[number])

    threads = [threading.Thread(target=pump, args=each) for each in enumerate((one.link, link))]
    for each in threads:
        each.start()
    frames, deadline = [], time.monotonic() + 1.0
    while time.monotonic() < deadline:
        frames += other.link.receive(timeout=0)
    stop.set()
    for each in threads:
        each.join()
    while more := other.link.receive(timeout=0.2):
        frames += more
    lost = running.do(bench.counts).get(("memif-tx", "no free tx slots"), 0)
    link.close()
    assert len(frames) + lost == sum(sent)
    sources = Counter(raw[26:30] for raw in frames)
    assert set(sources) == {bytes([10, 0, 0, 2]), bytes([10, 0, 2, 2])}
    assert {len(raw) for raw in frames} == {60}


def test_arp_heard_by_the_worker_is_learned(running):
    one, other = running.bench.wires
    other.link.send([bytes(asks("10.0.1.33", "10.0.1.1", other))])
    running.until(lambda: (other.index, ipaddress.ip_address("10.0.1.33")) in running.box.routes.neighbours)
    one.link.send([bytes(one.frame() / udp(A, "10.0.1.33"))])
    assert len(receive(other.link, 2)) == 2


def test_echoes_are_answered_by_the_worker(running):
    one = running.bench.wires[0]
    one.link.send([bytes(one.frame() / echo(A, "10.0.0.1", b"x", 5, each)) for each in range(100)])
    assert len(receive(one.link, 100)) == 100


def test_counters_of_all_threads_are_added_up(running):
    before = running.do(lambda: running.box.counters.of_interface(running.bench.wires[0].index))
    carries(running)
    after = running.do(lambda: running.box.counters.of_interface(running.bench.wires[0].index))
    assert after["rx packets"] - before["rx packets"] == 300


def test_a_link_that_ends_while_the_worker_works_on_it(running):
    one = running.bench.wires[0]
    for mode in ("interrupt", "polling") * 3:
        sleep(running, mode)
        one.link.send(many(one, A, B, 500), timeout=0)
        one.link.close()
        running.until(lambda: one.memif.connection is None)
        one.link = memif.Client(one.link.path, 0)
        one.link.start()
        one.link.wait_up()
        running.until(lambda: one.memif.connection)
    sleep(running)
    while running.bench.wires[1].link.receive(timeout=0.1):
        pass
    carries(running)


def test_a_sleeping_worker_sleeps(running):
    state = running.box.vms[1].state
    time.sleep(0.05)
    before = int(state[TURNS])
    time.sleep(0.5)
    assert int(state[TURNS]) - before < 200  # its wheel comes round a hundred times a second


def test_two_workers_take_turns_in_getting_queues(folder):
    bench = prepared(folder, 2)
    with Running(bench.box, (CORE, CORE)) as running:
        running.bench = bench
        sleep(running)
        assert sorted(threads(running)) == [1, 2]
        carries(running)
        assert [int(vm.state[THREAD]) for vm in bench.box.vms] == [0, 1, 2]
        assert len(set(running.workers.tids)) == 2
        for tid in running.workers.tids:
            assert Path(f"/proc/self/task/{tid}/comm").read_text().startswith("glass_wk_")
            assert os.sched_getaffinity(tid) == {CORE}
    assert not [each for each in threading.enumerate() if each.name.startswith("worker ")]
    bench.check()
    bench.close()


def test_a_core_that_is_not_there_is_refused_in_words(folder):
    bench = prepared(folder, 1)
    with pytest.raises(LabError, match="1000"):
        Worker(bench.box, 0, 1000)
    bench.close()


def test_a_new_link_of_a_polling_box_polls_on_the_worker(running):
    one = running.bench.wires[0]
    running.do(lambda: running.box.set_up(one.interface, is_up=False))
    running.do(lambda: running.box.set_up(one.interface, is_up=True))
    entry = running.box.vm.rx_queues[one.memif.rows[0]]
    assert (int(entry["mode"]), int(entry["thread"])) == (POLLING, 1)
    carries(running)
    assert sys.version_info >= (3, 11)
