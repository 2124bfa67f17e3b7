"""Peers that break their rings: they are told, their link ends, and the box goes on."""

from __future__ import annotations

import contextlib
import os
import time

import pytest
from glassbox_bench import Bench, chance
from glassbox_running import Running, carries, frames, sleep
from hypothesis import given, settings
from hypothesis import strategies as st

from labs import memif
from labs.memif.errors import MemifError
from labs.memif.ring import DESCRIPTOR, HEAD_AT


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
    "sent offset": (
        lambda link: spoil_descriptor(link, "rx", offset=0xFFFFFF00),
        "descriptor points outside its region",
    ),
    "sent length": (lambda link: spoil_descriptor(link, "rx", length=0), "descriptor has a bad length"),
    "received region": (lambda link: spoil_late(link, region=200), "descriptor names no region"),
    "received offset": (
        lambda link: spoil_late(link, offset=0xFFFFFF00),
        "descriptor points outside its region",
    ),
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
    running.do(lambda: running.box.memifs.queues.set_mode(victim.memif, mode))
    carries(running, 50)
    spoil(victim.link)
    if victim is other:
        with contextlib.suppress(memif.Down):  # the link may end before all of them are in the ring
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
    for each in (one, other):
        each.link.wait_up()  # the box is connected a moment before its peer is
    while other.link.receive(timeout=0.05):
        pass
    carries(running, 50)


def test_two_rings_broken_at_once_end_two_links(running):
    wires = running.bench.wires
    before = [each.memif.link.times_up for each in wires]

    def both():
        for each in wires:
            running.box.memifs.queues.set_mode(each.memif, "polling")
            spoil_head(each.link)

    running.do(both)
    running.until(
        lambda: all(each.memif.link.times_up > was for each, was in zip(wires, before, strict=True))
    )
    carries(running)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_random_bytes_in_the_rings(seed, wild):
    running, counts = wild
    rng = chance(seed)
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
