"""memif interfaces: how their queues wait, and what is refused."""

from __future__ import annotations

import gc
import socket
import threading
import time

import pytest
from glassbox_bench import WAIT, Bench, chance, udp
from glassbox_running import carries, frames, held, receive

from labs import memif
from labs.errors import LabError
from labs.glassbox.vm import ADAPTIVE, INTERRUPT, POLLING, QUEUES, TURNS

A, B = "10.0.0.2", "10.0.1.2"


@pytest.mark.parametrize("mode", ["polling", "interrupt", "adaptive"])
def test_every_packet_gets_out_in_every_mode(running, mode):
    one, other = running.bench.wires
    running.do(lambda: running.box.memifs.queues.set_mode(one.memif, mode))
    for count in (1, 2, 9, 10, 11, 255, 256, 257, 700, 1000):
        assert one.link.send(frames(one, count)) == count
        assert len(receive(other.link, count)) == count
        time.sleep(0.003)


def test_a_thousand_packets_behind_one_doorbell_all_get_out(running):
    one, other = running.bench.wires
    running.do(lambda: running.box.memifs.queues.set_mode(one.memif, "interrupt"))
    burst = memif.Burst.of(frames(one, 1000))
    for _ in range(20):
        time.sleep(0.015)  # it sleeps
        rung = one.link.counters()["tx"].rung
        assert one.link.send_burst(burst) == 1000
        assert one.link.counters()["tx"].rung == rung + 1
        assert len(receive(other.link, 1000)) == 1000


@pytest.mark.parametrize("mode", ["interrupt", "adaptive"])
def test_packets_that_came_before_the_mode_changed_get_out(running, mode):
    one, other = running.bench.wires
    for _ in range(10):

        def change():
            """Let packets arrive while the main loop is at a command."""
            assert one.link.send(frames(one, 600), timeout=0) == 600
            running.box.memifs.queues.set_mode(one.memif, mode)

        running.do(change)
        assert len(receive(other.link, 600)) == 600
        running.do(lambda: running.box.memifs.queues.set_mode(one.memif, "polling"))


def test_the_mode_may_change_under_traffic(running):
    one, other = running.bench.wires
    stop, sent = threading.Event(), [0]

    def pump():
        number = 0
        while not stop.is_set():
            sent[0] += one.link.send(frames(one, 1 + number % 40), timeout=0.5)
            number += 1

    thread = threading.Thread(target=pump)
    thread.start()
    got = 0
    for step in range(120):
        mode = chance(step).choice(["polling", "interrupt", "adaptive"])
        running.do(lambda mode=mode: running.box.memifs.queues.set_mode(one.memif, mode))
        got += len(other.link.receive(timeout=0.002))
    stop.set()
    thread.join()
    full = running.do(lambda: running.bench.counts().get(("memif-tx", "no free tx slots"), 0))
    got += len(receive(other.link, sent[0] - got - full, timeout=3))
    full = running.do(lambda: running.bench.counts().get(("memif-tx", "no free tx slots"), 0))
    assert got + full == sent[0]


def test_an_adaptive_queue_polls_while_it_is_busy_and_sleeps_again(running):
    one, other = running.bench.wires
    running.do(lambda: running.box.memifs.queues.set_mode(one.memif, "adaptive"))
    row = one.memif.rows[0]
    entry = running.box.vm.rx_queues[row]
    assert (entry["mode"], entry["polls"]) == (ADAPTIVE, 0)
    was_polling = False
    burst = memif.Burst.of(frames(one, 64))
    deadline = time.monotonic() + WAIT
    while not was_polling and time.monotonic() < deadline:
        one.link.send_burst(burst)
        was_polling = bool(entry["polls"])
        other.link.receive(timeout=0)
    assert was_polling
    running.until(lambda: not entry["polls"] and not entry["pending"])
    before = int(running.box.vm.state[TURNS])
    time.sleep(0.3)
    assert int(running.box.vm.state[TURNS]) - before < 300  # it turns a hundred times a second, not a million


def test_the_mode_is_forgotten_when_the_other_end_comes_back(running):
    one = running.bench.wires[0]
    running.do(lambda: running.box.memifs.queues.set_mode(one.memif, "interrupt"))
    assert running.box.vm.rx_queues[one.memif.rows[0]]["mode"] == INTERRUPT
    running.do(lambda: running.box.set_up(one.interface, is_up=False))
    running.do(lambda: running.box.set_up(one.interface, is_up=True))
    assert running.box.vm.rx_queues[one.memif.rows[0]]["mode"] == POLLING
    running.do(lambda: running.box.memifs.queues.set_mode(one.memif, "interrupt"))
    one.link.close()
    running.until(lambda: one.memif.connection is None)
    one.link = memif.Client(one.link.path, 0)
    one.link.start()
    one.link.wait_up()
    running.until(lambda: one.memif.connection)
    assert running.box.vm.rx_queues[one.memif.rows[0]]["mode"] == POLLING
    carries(running)


def test_there_is_no_queue_nine(running):
    with pytest.raises(LabError, match="9"):
        running.do(lambda: running.box.memifs.queues.set_mode(running.bench.wires[0].memif, "polling", 9))


def test_more_queues_than_the_box_has_are_refused_with_a_reason(bench):
    links = []
    made = []
    for number in range(20, 20 + QUEUES // 16 + 1):
        made.append(bench.box.add_memif(number, role="master"))
        bench.box.set_up(made[-1].interface, is_up=True)
        link = memif.Client(bench.box.folder / "memif.sock", number, queues=16, ring_size=16)
        link.start()
        links.append(link)
        bench.until(lambda: made[-1].connection or made[-1].link.last_error)
    reasons = [each.link.last_error and each.link.last_error.reason for each in made]
    assert "no receive queue left" in reasons
    for link in links:
        link.close()
    for each in made:
        bench.box.remove_interface(each.interface)
    packet = udp(A, B)
    assert len(bench.through(bench.wires[0], bench.wires[0].frame() / packet)[1]) == 1


def test_a_closed_box_leaves_no_descriptor_open(place):
    gc.collect()
    before = held()
    for _ in range(3):
        bench = Bench(place)
        bench.wire(50, "10.0.0.1/24")
        bench.turn(3)
        bench.close()
        del bench
        gc.collect()
    assert held() == before


def test_deleting_an_interface_does_not_wait_for_a_silent_peer(bench):
    made = bench.box.add_memif(60, role="master")
    bench.box.set_up(made.interface, is_up=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.connect(str(bench.box.folder / "memif.sock"))
        bench.turn(5)
        began = time.monotonic()
        bench.box.remove_interface(made.interface)
        assert time.monotonic() - began < 2


def test_what_vpp_refuses_is_refused(bench):
    memifs = bench.box.memifs
    with pytest.raises(LabError):
        memifs.create(0, role="master")
    with pytest.raises(LabError):
        memifs.create(5, role="slave")
    with pytest.raises(LabError):
        memifs.create(5, role="master", socket_id=77)
    with pytest.raises(LabError):
        memifs.remove_socket(0)
    memifs.add_socket(7, "seven.sock")
    memifs.add_socket(7, "seven.sock")
    with pytest.raises(LabError):
        memifs.add_socket(7, "other.sock")
    memifs.remove_socket(7)
    with pytest.raises(LabError):
        memifs.remove_socket(7)
    assert len(memifs.by_index) == 3
