"""memif interfaces whose other end comes and goes: the box goes on, and loses nothing."""

from __future__ import annotations

import gc
import ipaddress
import multiprocessing
import threading
import time

import pytest
from glassbox_bench import WAIT, Bench, raw_mac, udp
from glassbox_peer import send_for_ever
from glassbox_running import Running, carries, frames, held, receive

from labs import memif
from labs.memif.errors import MemifError

B = "10.0.1.2"


@pytest.mark.parametrize("mode", ["polling", "interrupt"])
def test_an_end_that_goes_and_comes_ten_times(running, mode):
    one = running.bench.wires[0]
    before = None
    for number in range(10):
        running.do(lambda: running.box.memifs.queues.set_mode(one.memif, mode))
        one.link.send(frames(one, 50))
        one.link.close()
        running.until(lambda: one.memif.connection is None)
        assert not one.interface.is_linked
        one.link = memif.Client(one.link.path, 0)
        one.link.start()
        carries(running)
        gc.collect()
        if number == 1:
            before = held()
    assert all(now <= then for now, then in zip(held(), before, strict=True))


def test_a_link_that_goes_down_while_the_main_loop_sleeps(running):
    """Its thread waits for the main loop to let go of the queues."""
    time.sleep(0.03)
    one = running.bench.wires[0]
    began = time.monotonic()
    one.link.close()
    running.until(lambda: not one.memif.link.is_up)
    assert time.monotonic() - began < WAIT / 2
    one.link = memif.Client(one.link.path, 0)
    one.link.start()
    carries(running)


def test_an_interface_may_be_deleted_under_traffic(running):
    one, other = running.bench.wires
    box = running.box
    for _ in range(5):
        stop = threading.Event()

        def pump(stop=stop):
            burst = memif.Burst.of(frames(one, 100))
            while not stop.is_set():
                try:
                    one.link.send_burst(burst)
                    other.link.receive(timeout=0)
                except MemifError:
                    stop.wait(0.001)

        thread = threading.Thread(target=pump)
        thread.start()
        time.sleep(0.02)
        running.do(lambda: box.remove_interface(other.interface))
        made = running.do(lambda: box.add_memif(1, role="master", mac=raw_mac(other.theirs)))
        running.do(
            lambda made=made: box.routes.add_address(made.interface, ipaddress.ip_interface("10.0.1.1/24"))
        )
        running.do(lambda made=made: box.set_up(made.interface, is_up=True))
        other.memif = made
        running.do(lambda: running.bench.neighbour(other, B))
        running.until(lambda made=made: made.connection)
        stop.set()
        thread.join()
        other.link.wait_up()
        while other.link.receive(timeout=0.05):
            pass
        carries(running)


def test_down_and_up_under_traffic(running):
    one, other = running.bench.wires
    for number in range(20):
        one.link.send(frames(one, 20), timeout=0)
        wire = (one, other)[number % 2]
        running.do(lambda wire=wire: running.box.set_up(wire.interface, is_up=False))
        one.link.send(frames(one, 20), timeout=0)
        running.do(lambda wire=wire: running.box.set_up(wire.interface, is_up=True))
    while other.link.receive(timeout=0.1):
        pass
    carries(running)


def test_the_box_dials_too_and_again_when_the_server_comes_back(place):
    bench = Bench(place)
    path = place / "dialled.sock"
    bench.box.memifs.add_socket(5, str(path))
    with Running(bench.box) as running:
        box = running.box
        made = running.do(
            lambda: box.add_memif(0, role="slave", socket_id=5, mac=raw_mac("02:00:00:00:05:0a"))
        )
        running.do(lambda: box.routes.add_address(made.interface, ipaddress.ip_interface("10.5.0.1/24")))
        running.do(lambda: box.set_up(made.interface, is_up=True))
        running.do(
            lambda: box.routes.learn(
                made.interface.index, ipaddress.ip_address("10.5.0.2"), b"\x02" * 6, static=True
            )
        )
        for _ in range(3):
            with memif.Server(path, 0) as server:
                server.wait_up(WAIT)
                running.until(lambda: made.connection)
                raw = (
                    raw_mac("02:00:00:00:05:0a")
                    + b"\x02" * 6
                    + b"\x08\0"
                    + bytes(udp("10.5.0.2", "10.5.0.2"))
                )
                server.send([raw] * 10)
                assert len(receive(server, 10)) == 10
            running.until(lambda: made.connection is None)
    bench.close()


@pytest.fixture(scope="module")
def processes():
    """Return what starts processes quickly: they have loaded all modules already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["glassbox_peer"])
    return context


@pytest.mark.parametrize("role", ["client", "server"])
def test_a_neighbour_that_is_killed_ten_times_while_it_sends(running, processes, role):
    box = running.box
    path = str(box.folder / "killed.sock")
    running.do(lambda: box.memifs.add_socket(9, path))
    ours = "slave" if role == "server" else "master"
    made = running.do(lambda: box.add_memif(9, role=ours, socket_id=9, mac=raw_mac("02:00:00:00:09:0a")))
    running.do(lambda: box.routes.add_address(made.interface, ipaddress.ip_interface("10.9.0.1/24")))
    running.do(lambda: box.set_up(made.interface, is_up=True))
    frame = raw_mac("02:00:00:00:09:0a") + b"\x02" * 6 + b"\x08\0" + bytes(udp("10.9.0.2", "99.0.0.1"))
    before = None
    for number in range(10):
        ready = processes.Event()
        peer = processes.Process(
            target=send_for_ever, args=(role, path, 9, [frame] * 100, ready), daemon=True
        )
        peer.start()
        assert ready.wait(30)
        running.until(lambda: made.connection)
        running.until(lambda: box.counters.of_interface(made.interface.index)["rx packets"] > 100)
        peer.kill()
        peer.join()
        running.until(lambda: made.connection is None)
        assert not made.interface.is_linked
        if number == 1:
            gc.collect()
            before = held()
    gc.collect()
    assert held() == before
    carries(running)
