"""The data path, both ends in this process, against a model: a list of packets."""

from __future__ import annotations

import os
import select
from collections import deque

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from memif_loops import loop

from labs.memif.burst import Burst
from labs.memif.doorbell import sleep_until_any
from labs.memif.errors import Down, MemifError
from labs.memif.ring import MASK_INTERRUPT

DIRECTIONS = ("s2m", "m2s")


@pytest.fixture(params=DIRECTIONS)
def direction(request):
    return request.param


@pytest.fixture
def ends(direction):
    made = loop(direction)
    yield made
    made.close()


class RingAgainstModel(RuleBasedStateMachine):
    """Any order of sends and receives, of any sizes, at any place in the ring."""

    def __init__(self):
        super().__init__()
        self.ends = None

    @initialize(
        direction=st.sampled_from(DIRECTIONS),
        log2_size=st.integers(0, 5),
        buffer_size=st.sampled_from([64, 128]),
        line=st.sampled_from([64, 128]),
        turns=st.integers(0, 40),
    )
    def connect(self, direction, log2_size, buffer_size, line, turns):
        self.ends = loop(direction, log2_size, buffer_size, line)
        self.size, self.buffer = 1 << log2_size, buffer_size
        self.model = deque()
        self.number = 0
        for _ in range(turns):
            self.ends.sender.send(Burst.of([b"x"]))
            assert self.ends.receiver.receive(4).packets() == [b"x"]
        self.turns = turns

    def slots(self, packet):
        return -(-len(packet) // self.buffer)

    def used(self):
        return sum(self.slots(each) for each in self.model)

    @rule(lengths=st.lists(st.integers(1, 400), min_size=1, max_size=12), first=st.integers(0, 2))
    def send(self, lengths, first):
        packets = []
        for length in lengths:
            self.number += 1
            packets.append(bytes((self.number + each) % 251 for each in range(length)))
        first = min(first, len(packets) - 1)
        fit = []
        free = self.size - self.used()
        too_large = False
        for packet in packets[first:]:
            if self.slots(packet) > free:
                too_large = free == self.size
                break
            free -= self.slots(packet)
            fit.append(packet)
        if too_large:
            with pytest.raises(MemifError, match="more than the whole ring"):
                self.ends.sender.send(Burst.of(packets), first)
        else:
            assert self.ends.sender.send(Burst.of(packets), first) == len(fit)
        self.model.extend(fit)

    @rule(most=st.integers(1, 9))
    def receive(self, most):
        count = min(most, len(self.model))
        wanted = [self.model.popleft() for _ in range(count)]
        assert self.ends.receiver.receive(most).packets() == wanted

    @invariant()
    def both_count_the_same(self):
        if self.ends:
            assert self.ends.sender.waiting() == self.size - self.used()
            assert self.ends.receiver.waiting() == self.used()
            sent, received = self.ends.sender.counters, self.ends.receiver.counters
            assert sent.packets - received.packets == len(self.model)
            assert sent.bytes - received.bytes == sum(map(len, self.model))

    def teardown(self):
        if self.ends:
            self.ends.close()


TestRingAgainstModel = RingAgainstModel.TestCase
TestRingAgainstModel.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)


def test_indexes_wrap(direction):
    """More packets than 16 bits count, through a small and the largest ring."""
    for log2_size in (2, 14):
        ends = loop(direction, log2_size)
        count = min(1 << log2_size, 256)
        packets = [bytes([each % 256]) * 60 for each in range(count)]
        burst = Burst.of(packets)
        for _ in range(70_000 // count + 1):
            assert ends.sender.send(burst) == count
            assert len(ends.receiver.receive(count)) == count
        ends.sender.send(burst)
        assert ends.receiver.receive(count).packets() == packets
        ends.close()


def test_a_jumbo_frame_arrives_as_it_left(direction):
    ends = loop(direction, 10, 2048)
    packet = np.random.default_rng(1).integers(0, 256, 65_535, np.uint8).tobytes()
    assert ends.sender.send(Burst.of([packet, b"after"])) == 2
    assert ends.receiver.receive(8).packets() == [packet, b"after"]
    ends.close()


def test_a_packet_larger_than_the_receivers_room_is_dropped_and_counted(direction):
    ends = loop(direction, 10, 2048)
    assert ends.sender.send(Burst.of([bytes(1_500_000), b"after"])) == 2
    assert ends.receiver.receive(8).packets() == [b"after"]
    assert ends.receiver.counters.dropped == 1
    ends.close()


def test_packets_that_fill_the_receivers_room_come_in_the_next_burst(direction):
    ends = loop(direction, 10, 2048)
    packets = [bytes([each]) * 600_000 for each in (1, 2, 3)]
    assert ends.sender.send(Burst.of(packets)) == 3
    assert [ends.receiver.receive(8).packets() for _ in range(4)] == [[each] for each in packets] + [[]]
    ends.close()


def test_a_full_ring_is_counted_and_takes_the_rest_later(ends):
    burst = Burst.of([b"x"] * 12)
    assert ends.sender.send(burst) == 8
    assert ends.sender.counters.full == 1
    assert ends.sender.send(burst, 8) == 0
    assert len(ends.receiver.receive(3)) == 3
    assert ends.sender.send(burst, 8) == 3


def test_a_bursts_memory_is_used_again(ends):
    ends.sender.send(Burst.of([b"one"]))
    first = ends.receiver.receive(4)
    ends.sender.send(Burst.of([b"two"]))
    assert np.shares_memory(first.data, ends.receiver.receive(4).data)


@pytest.mark.parametrize(
    ("offset", "length"),
    [(0, 0), (0, 65), (64, 1), (0xFFFFFFFF, 1), (1, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF)],
)
def test_a_burst_that_points_outside_its_data_is_refused(ends, offset, length):
    burst = Burst(np.zeros(64, np.uint8), np.array([offset], np.uint32), np.array([length], np.uint32))
    with pytest.raises(MemifError):
        ends.sender.send(burst)
    assert not len(ends.receiver.receive(4))


def rings_of(queue):
    """Return whether a queue's doorbell has rung since the last look."""
    rang = bool(select.select([queue.doorbell], [], [], 0)[0])
    queue.clear_doorbell()
    return rang


def test_the_doorbell_rings_only_for_who_sleeps(ends):
    ends.receiver.polls(polls=True)
    ends.sender.send(Burst.of([b"x"]))
    assert not rings_of(ends.receiver)
    ends.receiver.polls(polls=False)
    ends.sender.send(Burst.of([b"x"]))
    assert rings_of(ends.receiver)
    assert ends.sender.counters.rung == 1


def test_a_doorbell_whose_counter_is_full_does_not_block_the_sender(ends):
    os.set_blocking(ends.sender.doorbell, True)
    os.eventfd_write(ends.sender.doorbell, (1 << 64) - 2)
    ends.receiver.polls(polls=False)
    assert ends.sender.send(Burst.of([b"x"])) == 1
    assert ends.sender.counters.rung == 0


def test_sleeping_ends_at_once_where_packets_are(ends):
    other, also = os.pipe()
    try:
        ends.sender.send(Burst.of([b"x"]))
        ends.receiver.polls(polls=True)
        assert sleep_until_any([ends.receiver], other, 60)
        assert ends.ring.flags == MASK_INTERRUPT
        ends.receiver.receive(4)
        assert not sleep_until_any([ends.receiver], other, 0.01)
        os.close(also)
        also = -1
        assert not sleep_until_any([ends.receiver], other, 60)
    finally:
        os.close(other)
        if also >= 0:
            os.close(also)


def test_a_closed_queue_says_so(ends):
    ends.sender.close()
    with pytest.raises(Down):
        ends.sender.send(Burst.of([b"x"]))
    assert ends.sender.doorbell == -1
