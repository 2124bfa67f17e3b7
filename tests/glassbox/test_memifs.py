"""memif interfaces whose other end comes, goes, breaks its rings, or changes how it waits: the box goes on."""

from __future__ import annotations

import gc
import ipaddress
import multiprocessing
import os
import random
import socket
import tempfile
import threading
import time
from pathlib import Path

import pytest
from glassbox_bench import WAIT, Bench, many, raw_mac, udp
from glassbox_peer import send_for_ever
from glassbox_running import Running
from hypothesis import given, settings
from hypothesis import strategies as st

from labs import memif
from labs.errors import LabError
from labs.glassbox.vm import ADAPTIVE, INTERRUPT, POLLING, QUEUES, TURNS
from labs.memif.errors import MemifError
from labs.memif.ring import DESCRIPTOR, HEAD_AT

A, B = "10.0.0.2", "10.0.1.2"


@pytest.fixture
def place(folder):
    """Return a directory of a test's own."""
    return Path(tempfile.mkdtemp(dir=folder))


@pytest.fixture
def running(place):
    """Run a box with two wires; what is sent into the first comes out of the second."""
    bench = Bench(place)
    for number in range(2):
        wire = bench.wire(number, f"10.0.{number}.1/24", retry=1.5)
        bench.neighbour(wire, f"10.0.{number}.2")
    with Running(bench.box) as running:
        running.bench = bench
        sleep(running)
        yield running
    bench.turn(2)
    bench.check()
    bench.close()


def sleep(running, *others):
    """Let all queues, or these wires', sleep on their doorbells: the tests' own machine has work to do."""
    for wire in others or running.bench.wires:
        running.do(lambda wire=wire: running.box.memifs.set_mode(wire.memif, "interrupt"))


def open_files():
    kinds = ("memfd", "eventfd", "eventpoll", "socket:")
    found = []
    for each in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(each.readlink()))
        except FileNotFoundError:
            continue
    return sum(any(kind in name for kind in kinds) for name in found)


def mapped():
    return Path("/proc/self/maps").read_text().count("memfd:memif")


def frames(wire, count, size=18):
    return many(wire, A, B, count, size)


def receive(link, count, timeout=WAIT):
    got, deadline = [], time.monotonic() + timeout
    while len(got) < count and time.monotonic() < deadline:
        got += link.receive(timeout=0.05)
    return got


def carries(running, count=300):
    """See that packets still go from the first wire to the second."""
    one, other = running.bench.wires
    one.link.wait_up()
    other.link.wait_up()
    running.until(lambda: one.memif.connection and other.memif.connection)
    sleep(running, other)
    marked = frames(one, count, size=99)  # others may still be under way
    assert one.link.send(marked) == count
    got, deadline = 0, time.monotonic() + WAIT
    while got < count and time.monotonic() < deadline:
        got += sum(len(each) == len(marked[0]) for each in other.link.receive(timeout=0.05))
    assert got == count


# --- how a queue waits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["polling", "interrupt", "adaptive"])
def test_every_packet_gets_out_in_every_mode(running, mode):
    one, other = running.bench.wires
    running.do(lambda: running.box.memifs.set_mode(one.memif, mode))
    for count in (1, 2, 9, 10, 11, 255, 256, 257, 700, 1000):
        assert one.link.send(frames(one, count)) == count
        assert len(receive(other.link, count)) == count
        time.sleep(0.003)


def test_a_thousand_packets_behind_one_doorbell_all_get_out(running):
    one, other = running.bench.wires
    running.do(lambda: running.box.memifs.set_mode(one.memif, "interrupt"))
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
            running.box.memifs.set_mode(one.memif, mode)

        running.do(change)
        assert len(receive(other.link, 600)) == 600
        running.do(lambda: running.box.memifs.set_mode(one.memif, "polling"))


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
        mode = random.Random(step).choice(["polling", "interrupt", "adaptive"])
        running.do(lambda mode=mode: running.box.memifs.set_mode(one.memif, mode))
        got += len(other.link.receive(timeout=0.002))
    stop.set()
    thread.join()
    full = running.do(lambda: running.bench.counts().get(("memif-tx", "no free tx slots"), 0))
    got += len(receive(other.link, sent[0] - got - full, timeout=3))
    full = running.do(lambda: running.bench.counts().get(("memif-tx", "no free tx slots"), 0))
    assert got + full == sent[0]


def test_an_adaptive_queue_polls_while_it_is_busy_and_sleeps_again(running):
    one, other = running.bench.wires
    running.do(lambda: running.box.memifs.set_mode(one.memif, "adaptive"))
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
    running.do(lambda: running.box.memifs.set_mode(one.memif, "interrupt"))
    assert running.box.vm.rx_queues[one.memif.rows[0]]["mode"] == INTERRUPT
    running.do(lambda: running.box.set_up(one.interface, is_up=False))
    running.do(lambda: running.box.set_up(one.interface, is_up=True))
    assert running.box.vm.rx_queues[one.memif.rows[0]]["mode"] == POLLING
    running.do(lambda: running.box.memifs.set_mode(one.memif, "interrupt"))
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
        running.do(lambda: running.box.memifs.set_mode(running.bench.wires[0].memif, "polling", 9))


# --- peers that go and come --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["polling", "interrupt"])
def test_an_end_that_goes_and_comes_ten_times(running, mode):
    one = running.bench.wires[0]
    files, maps = None, None
    for number in range(10):
        running.do(lambda: running.box.memifs.set_mode(one.memif, mode))
        one.link.send(frames(one, 50))
        one.link.close()
        running.until(lambda: one.memif.connection is None)
        assert not one.interface.is_linked
        one.link = memif.Client(one.link.path, 0)
        one.link.start()
        carries(running)
        gc.collect()
        if number == 1:
            files, maps = open_files(), mapped()
    assert open_files() <= files
    assert mapped() <= maps


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
        running.do(lambda made=made: box.routes.add_address(made.interface, ipaddress.ip_interface("10.0.1.1/24")))
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
        made = running.do(lambda: box.add_memif(0, role="slave", socket_id=5, mac=raw_mac("02:00:00:00:05:0a")))
        running.do(lambda: box.routes.add_address(made.interface, ipaddress.ip_interface("10.5.0.1/24")))
        running.do(lambda: box.set_up(made.interface, is_up=True))
        running.do(lambda: box.routes.learn(made.interface.index, ipaddress.ip_address("10.5.0.2"), b"\x02" * 6, static=True))
        for _ in range(3):
            with memif.Server(path, 0) as server:
                server.wait_up(WAIT)
                running.until(lambda: made.connection)
                raw = raw_mac("02:00:00:00:05:0a") + b"\x02" * 6 + b"\x08\0" + bytes(udp("10.5.0.2", "10.5.0.2"))
                server.send([raw] * 10)
                assert len(receive(server, 10)) == 10
            running.until(lambda: made.connection is None)
    bench.close()


# --- peers that break things --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def processes():
    """Return what starts processes quickly: they have loaded all modules already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["glassbox_peer"])
    return context


@pytest.mark.parametrize("role", ["client", "server"])
def test_a_neighbour_that_is_killed_ten_times_while_it_sends(running, processes, role):
    box, bench = running.box, running.bench
    path = str(box.folder / "killed.sock")
    running.do(lambda: box.memifs.add_socket(9, path))
    ours = "slave" if role == "server" else "master"
    made = running.do(lambda: box.add_memif(9, role=ours, socket_id=9, mac=raw_mac("02:00:00:00:09:0a")))
    running.do(lambda: box.routes.add_address(made.interface, ipaddress.ip_interface("10.9.0.1/24")))
    running.do(lambda: box.set_up(made.interface, is_up=True))
    frame = raw_mac("02:00:00:00:09:0a") + b"\x02" * 6 + b"\x08\0" + bytes(udp("10.9.0.2", "99.0.0.1"))
    maps = None
    for number in range(10):
        ready = processes.Event()
        peer = processes.Process(target=send_for_ever, args=(role, path, 9, [frame] * 100, ready), daemon=True)
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
            maps = open_files(), mapped()
    gc.collect()
    assert (open_files(), mapped()) == maps
    carries(running)
    assert bench.box is box


def spoil_head(link):
    """Jump ahead in the ring that the box receives on, farther than it is long."""
    ring = link.connection.tx[0].ring
    ring.memory[HEAD_AT : HEAD_AT + 2].view("<u2")[0] += ring.size + 7


def spoil_tail_of_sending(link):
    """Jump ahead in the ring that the box sends on."""
    ring = link.connection.rx[0].ring
    ring.memory[HEAD_AT : HEAD_AT + 2].view("<u2")[0] += ring.size + 7


def spoil_descriptor(link, direction, **fields):
    ring = getattr(link.connection, direction)[0].ring
    for name, value in fields.items():
        ring.memory[2 * ring.line :].view(DESCRIPTOR)[name] = value


SPOILS = {
    "received index": (spoil_head, "index jumped"),
    "sent index": (spoil_tail_of_sending, "index jumped"),
    "sent region": (lambda link: spoil_descriptor(link, "rx", region=9), "descriptor names no region"),
    "sent offset": (lambda link: spoil_descriptor(link, "rx", offset=0xFFFFFF00), "descriptor points outside its region"),
    "sent length": (lambda link: spoil_descriptor(link, "rx", length=0), "descriptor has a bad length"),
    "received region": (lambda link: spoil_late(link, region=200), "descriptor names no region"),
    "received offset": (lambda link: spoil_late(link, offset=0xFFFFFF00), "descriptor points outside its region"),
    "received chain": (lambda link: spoil_late(link, flags=1, all_slots=True), "chain does not end"),
}


def spoil_late(link, *, all_slots=False, **fields):
    """Fill slots with descriptors that are wrong, and hand them over."""
    ring = link.connection.tx[0].ring
    slots = ring.memory[2 * ring.line :].view(DESCRIPTOR)
    for name, value in fields.items():
        slots[name] = value
    ring.memory[HEAD_AT : HEAD_AT + 2].view("<u2")[0] = (ring.tail + (ring.size if all_slots else 1)) & 0xFFFF


@pytest.mark.parametrize("name", SPOILS)
@pytest.mark.parametrize("mode", ["polling", "interrupt"])
def test_whoever_breaks_a_ring_is_told_and_the_box_goes_on(running, name, mode):
    one, other = running.bench.wires
    spoil, reason = SPOILS[name]
    victim = other if name.startswith("sent") else one
    running.do(lambda: running.box.memifs.set_mode(victim.memif, mode))
    carries(running, 50)
    spoil(victim.link)
    if victim is other:
        one.link.send(frames(one, 20))
    elif mode == "interrupt":
        queue = victim.link.connection.tx[0]
        os.eventfd_write(queue.doorbell, 1)
    running.until(lambda: victim.memif.link.last_error is not None)  # until the peer comes back, 1.5 s later
    assert victim.memif.link.last_error.reason == reason
    running.until(lambda: victim.link.last_error is not None)
    assert reason in victim.link.last_error.message
    assert victim.memif.connection is None
    running.until(lambda: victim.memif.connection)
    while other.link.receive(timeout=0.05):
        pass
    carries(running, 50)


def test_two_rings_broken_at_once_end_two_links(running):
    wires = running.bench.wires
    before = [each.memif.link.times_up for each in wires]

    def both():
        for each in wires:
            running.box.memifs.set_mode(each.memif, "polling")
            spoil_head(each.link)

    running.do(both)
    running.until(lambda: all(each.memif.link.times_up > was for each, was in zip(wires, before, strict=True)))
    carries(running)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_random_bytes_in_the_rings(seed, wild):
    running, counts = wild
    rng = random.Random(seed)
    one, other = running.bench.wires
    for _ in range(20):
        victim = rng.choice((one, other))
        try:
            queue = rng.choice(victim.link.connection.queues)
            memory = queue.ring.memory
            at = rng.randrange(4, min(len(memory), 2 * queue.ring.line + 16 * 8))
            memory[at] = rng.randrange(256)
            one.link.send(frames(one, rng.randrange(1, 30)), timeout=0)
            other.link.receive(timeout=0)
        except MemifError:
            time.sleep(0.002)
    counts.append(running.do(lambda: 1))


@pytest.fixture(scope="module")
def wild(folder):
    """Run a box for peers that write anything anywhere; at the end it must still carry packets."""
    (folder / "wild").mkdir()
    bench = Bench(folder / "wild")
    for number in range(2):
        wire = bench.wire(number, f"10.0.{number}.1/24", retry=0.01)
        bench.neighbour(wire, f"10.0.{number}.2")
    counts = []
    with Running(bench.box) as running:
        running.bench = bench
        sleep(running)
        yield running, counts
        for each in bench.wires:
            each.link.close()
            each.link = memif.Client(each.link.path, each.number)
            each.link.start()
        carries(running)
    bench.turn(2)
    bench.check()
    assert counts
    bench.close()


# --- what is refused -----------------------------------------------------------------------------------------------


def test_more_queues_than_the_box_has_are_refused_with_a_reason(bench):
    links = []
    made = []
    for number in range(20, 20 + QUEUES // 16 + 1):
        made.append(bench.box.add_memif(number, role="master"))
        bench.box.set_up(made[-1].interface, is_up=True)
        link = memif.Client(bench.box.folder / "memif.sock", number, queues=16, ring_size=16)
        link.start()
        links.append(link)
        bench.until(lambda: made[-1].connection or made[-1].link.last_error)  # noqa: B023 - used at once
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
    before = open_files(), mapped()
    for _ in range(3):
        bench = Bench(place)
        bench.wire(50, "10.0.0.1/24")
        bench.turn(3)
        bench.close()
        del bench
        gc.collect()
    assert (open_files(), mapped()) == before


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
