"""The main loop: when it sleeps, when it wakes, and who is served meanwhile."""

from __future__ import annotations

import ipaddress
import os
import re
import statistics
import tempfile
import time
from pathlib import Path

import pytest
from glassbox_bench import WAIT, Bench, echo, raw_mac
from glassbox_running import Running

from labs import memif
from labs.glassbox.box import Box
from labs.glassbox.turns import WHEEL_MS
from labs.glassbox.vm import SLEEPS, TICKS_PER_MS, TURNS


@pytest.fixture
def pair(folder):
    """Run two boxes with one link between them."""
    place = Path(tempfile.mkdtemp(dir=folder))
    boxes = [Box(place), Box(place)]
    ends = []
    for number, (box, role) in enumerate(zip(boxes, ("master", "slave"), strict=True), 1):
        end = box.add_memif(0, role=role, mac=raw_mac(f"02:00:00:00:00:0{number}"))
        box.routes.add_address(end.interface, ipaddress.ip_interface(f"10.10.2.{number}/24"))
        ends.append(end)
    with Running(boxes[0]) as one, Running(boxes[1]) as other:
        for each, end in zip((one, other), ends, strict=True):
            each.end = end
            each.do(lambda each=each: each.box.set_up(each.end.interface, is_up=True))
        for each in (one, other):
            each.until(lambda each=each: each.end.connection)
        wait(one, "interrupt")
        wait(other, "interrupt")
        yield one, other
    for box in boxes:
        box.close()


@pytest.fixture
def running(folder):
    """Run a box with one wire, which is polled until a test says otherwise."""
    bench = Bench(Path(tempfile.mkdtemp(dir=folder)))
    bench.neighbour(bench.wire(0, "10.0.0.1/24"), "10.0.0.2")
    with Running(bench.box) as running:
        running.bench = bench
        running.end = bench.wires[0].memif
        wait(running, "interrupt")
        yield running
    bench.close()


def wait(running, mode):
    running.do(lambda: running.box.memifs.queues.set_mode(running.end, mode))


def busy(running):
    """Return the processor time that the main loop has used, in seconds."""
    path = Path(f"/proc/self/task/{running._thread.native_id}/schedstat")
    return int(path.read_text().split()[0]) / 1e9


def pinged(running, **knobs):
    """Ping the other box and return the lines."""
    knobs = {"repeat": 5, "interval": 0.05} | knobs
    ping = running.do(lambda: running.box.ping(ipaddress.ip_address("10.10.2.2"), **knobs))
    lines, deadline = [], time.monotonic() + WAIT
    while (more := running.do(ping.poll)) is not None:
        assert time.monotonic() < deadline
        lines += more
        time.sleep(0.01)
    return lines


def times(lines):
    return [float(found[1]) for each in lines if (found := re.search(r"time=([\d.]+) ms", each))]


def test_a_box_whose_queues_sleep_uses_hardly_any_time(running):
    time.sleep(0.2)
    began, used = time.monotonic(), busy(running)
    time.sleep(1.5)
    assert (busy(running) - used) / (time.monotonic() - began) < 0.03


def test_a_box_without_a_link_sleeps_too(folder):
    box = Box(Path(tempfile.mkdtemp(dir=folder)))
    with Running(box) as running:
        time.sleep(0.2)
        began, used = time.monotonic(), busy(running)
        time.sleep(1.0)
        assert (busy(running) - used) / (time.monotonic() - began) < 0.03
    box.close()


def test_a_ping_that_goes_on_costs_hardly_more(running):
    ping = running.do(lambda: running.box.ping(ipaddress.ip_address("10.0.0.2"), repeat=1000, interval=0.1))
    time.sleep(0.7)  # its first packet may have to be compiled
    began, used = time.monotonic(), busy(running)
    time.sleep(1.0)
    share = (busy(running) - used) / (time.monotonic() - began)
    running.do(ping.abort)
    assert share < 0.1


def test_a_sleeping_loop_turns_a_hundred_times_a_second_and_a_polling_one_all_the_time(running):
    def turns(seconds=0.4):
        before = int(running.box.vm.state[TURNS])
        time.sleep(seconds)
        return int(running.box.vm.state[TURNS]) - before

    asleep = turns()
    wait(running, "polling")
    awake = turns()
    wait(running, "interrupt")
    assert asleep < 200
    assert awake > 50 * asleep


def test_a_doorbell_wakes_it_at_once(running):
    """Without it an echo would wait for half a turn of the wheel on average."""
    wire = running.bench.wires[0]
    took = []
    request = bytes(wire.frame() / echo("10.0.0.2", "10.0.0.1"))
    for _ in range(60):
        time.sleep(0.012)
        began = time.monotonic()
        wire.link.send(request)
        assert wire.link.receive(timeout=WAIT)
        took.append(time.monotonic() - began)
    assert statistics.quantiles(took, n=4)[0] < WHEEL_MS / 1000 / 4


def test_pings_of_sleeping_boxes_show_their_sleep_and_those_of_polling_ones_do_not(pair):
    """The interval is no multiple of the wheel's: else all pings would meet it at the same place."""
    one, other = pair
    pinged(one, repeat=1)
    asleep = times(pinged(one, repeat=30, interval=0.0331))
    wait(one, "polling")
    wait(other, "polling")
    awake = times(pinged(one, repeat=30, interval=0.0331))
    wait(one, "interrupt")
    wait(other, "interrupt")
    assert len(asleep) == len(awake) == 30
    assert min(awake) < statistics.median(asleep) / 3
    assert statistics.median(asleep) > WHEEL_MS / 10


def test_a_ping_says_how_it_went(pair):
    lines = pinged(pair[0], repeat=4)
    assert lines[-1] in (
        "Statistics: 4 sent, 4 received, 0% packet loss",
        "Statistics: 4 sent, 3 received, 25% packet loss",
    )
    assert pinged(pair[0], repeat=4)[-1] == "Statistics: 4 sent, 4 received, 0% packet loss"


@pytest.mark.parametrize("size", [0, 1, 60, 1472, 9500])
def test_pings_of_all_sizes(pair, size):
    pinged(pair[0], repeat=1)
    last = pinged(pair[0], repeat=2, size=size, interval=0.02)[-1]
    assert ("2 received" in last) == (size < 9000)


def test_both_ping_each_other_at_once(pair):
    one, other = pair
    pinged(one, repeat=1)
    back = other.do(lambda: other.box.ping(ipaddress.ip_address("10.10.2.1"), repeat=10, interval=0.02))
    assert "10 received" in pinged(one, repeat=10, interval=0.02)[-1]
    lines = []
    while (more := other.do(back.poll)) is not None:
        lines += more
    assert "10 received" in lines[-1]


def test_a_ping_that_is_stopped_is_over(pair):
    one, _ = pair
    ping = one.do(lambda: one.box.ping(ipaddress.ip_address("10.10.2.2"), repeat=1000, interval=0.01))
    time.sleep(0.05)
    one.do(ping.abort)
    assert not one.box.pings
    lines = one.do(ping.poll)
    assert lines[-1].startswith("Statistics:")
    assert one.do(ping.poll) is None


def test_an_address_of_our_own_answers(pair):
    one, _ = pair
    ping = one.do(lambda: one.box.ping(ipaddress.ip_address("10.10.2.1"), repeat=2, interval=0.02))
    lines, deadline = [], time.monotonic() + WAIT
    while (more := one.do(ping.poll)) is not None and time.monotonic() < deadline:
        lines += more
    assert "2 received" in lines[-1]


def test_who_watches_is_called_and_doors_are_given_a_moment(folder):
    class Door:
        def __init__(self):
            self.bell, self.calls = os.eventfd(0, os.EFD_NONBLOCK), []

        def fileno(self):
            return self.bell

        def ready(self):
            os.eventfd_read(self.bell)
            self.calls.append("ready")

        def tick(self):
            self.calls.append("tick")

    box, door = Box(Path(tempfile.mkdtemp(dir=folder))), Door()
    with Running(box) as running:
        running.do(lambda: running.loop.add(door))
        time.sleep(0.5)
        assert 2 <= door.calls.count("tick") <= 7
        for number in range(5):
            os.eventfd_write(door.bell, 1)
            running.until(lambda number=number: door.calls.count("ready") > number)
    os.close(door.bell)
    box.close()


def test_heartbeat_goes_on_asleep_and_awake(running):
    def heartbeat():
        return int(running.box.counters._layout.system["heartbeat"][0])

    def beats():
        before = heartbeat()
        deadline = time.monotonic() + WAIT
        while heartbeat() == before:
            assert time.monotonic() < deadline
            time.sleep(0.02)

    beats()
    wait(running, "polling")
    beats()
    wait(running, "interrupt")


def test_a_flood_does_not_lock_out_commands(running):
    """Commands are carried out between two turns, however many packets wait."""
    wire = running.bench.wires[0]
    wait(running, "polling")
    burst = memif.Burst.of([bytes(wire.frame() / echo("10.0.0.2", "10.0.0.1"))] * 256)
    for _ in range(50):
        wire.link.send_burst(burst)
        assert running.do(lambda: 7) == 7
        wire.link.receive(timeout=0)
    wait(running, "interrupt")


def test_the_clock_of_the_box_runs(running):
    state = running.box.vm.state
    assert state[TICKS_PER_MS] > 0
    before = int(state[SLEEPS])
    time.sleep(0.2)
    assert 5 < int(state[SLEEPS]) - before < 100
