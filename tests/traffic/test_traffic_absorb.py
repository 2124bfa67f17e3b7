"""The sink's kernel against a plain model of the same rules, and against a sender that means no good."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memif_loops import loop

from labs.memif import Burst
from labs.memif.control import BAD_LENGTH, BAD_REGION, ENDLESS_CHAIN, INDEX_JUMPED, OUTSIDE_REGION
from labs.traffic import blocks
from labs.traffic.absorb import absorb
from labs.traffic.sink import _flows
from labs.traffic.stamp import Stamp

HEADER = bytes(42)


class Receiver:
    """A sink's kernel on one end of a ring."""

    def __init__(self, ring, flows=4, stream=-1):
        self.ring = ring
        self.run = np.zeros(blocks.SIZE, np.int64)
        self.run[blocks.FLOWS], self.run[blocks.AT], self.run[blocks.STREAM] = flows, 42, stream
        self.run[blocks.WAITS], self.run[blocks.WINDOW] = 1, 1_000_000
        self.run[blocks.DELAY], self.run[blocks.DELAY_MIN] = 1, 1 << 62
        self.table = np.zeros((flows, blocks.ROW), np.int64)
        self.windows = np.zeros((16, 3), np.int64)
        assert self.take() == blocks.IDLE

    def take(self):
        with self.ring.receiver.in_use() as block:
            return absorb(block, self.run, self.table, self.windows)

    def feed(self, packets):
        """Send packets through the ring, as many at a time as it takes."""
        burst = Burst.of(packets)
        sent = 0
        while sent < len(burst):
            sent += self.ring.sender.send(burst, sent)
            assert self.take() == blocks.IDLE

    @property
    def flows(self):
        return _flows(self.table)


def stamped(sequence, flow=0, stream=1, time=0, size=64):
    return (HEADER + bytes(Stamp(stream, flow, sequence, time))).ljust(size, b"\0")


class Model:
    """The rules in plain words: the last 64 numbers are remembered, the lowest counts as the first sent."""

    def __init__(self):
        self.seen = set()
        self.next = self.lowest = None
        self.unique = self.reordered = self.duplicates = 0

    def take(self, sequence):
        if self.next is None:
            self.next = self.lowest = sequence
        if sequence >= self.next:
            self.next = sequence + 1
        elif sequence in self.seen and self.next - sequence <= 64:
            self.duplicates += 1
            return
        else:
            self.reordered += 1
            self.lowest = min(self.lowest, sequence)
        self.seen.add(sequence)
        self.unique += 1

    @property
    def lost(self):
        return 0 if self.next is None else max(self.next - self.lowest - self.unique, 0)


NEAR = st.lists(st.integers(0, 200), min_size=1, max_size=300)
MIXED = st.lists(st.one_of(st.integers(0, 200), st.integers(0, (1 << 48) - 1)), min_size=1, max_size=100)


@settings(deadline=None)
@given(st.one_of(NEAR, MIXED))
def test_gaps_reordering_and_duplicates_are_the_models(sequences):
    ring = loop(log2_size=6)
    receiver, model = Receiver(ring), Model()
    receiver.feed([stamped(each) for each in sequences])
    ring.close()
    for each in sequences:
        model.take(each)
    flow = receiver.flows[0]
    assert flow["packets"] == len(sequences)
    assert (flow["lost"], flow["reordered"], flow["duplicates"]) == (
        model.lost, model.reordered, model.duplicates,
    )  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 50)), max_size=200))
def test_flows_are_kept_apart(packets):
    ring = loop(log2_size=6)
    receiver = Receiver(ring)
    models = [Model() for _ in range(4)]
    receiver.feed([stamped(sequence, flow) for flow, sequence in packets])
    ring.close()
    for flow, sequence in packets:
        if flow < 4:
            models[flow].take(sequence)
    assert receiver.run[blocks.STRANGE] == sum(flow >= 4 for flow, _ in packets)
    for row, model in zip(receiver.flows, models, strict=True):
        assert (row["packets"] - row["duplicates"], row["lost"]) == (model.unique, model.lost)


@settings(deadline=None)
@given(st.permutations(range(60)))
def test_an_order_without_gaps_loses_nothing(sequences):
    ring = loop(log2_size=6)
    receiver = Receiver(ring)
    receiver.feed([stamped(each) for each in sequences])
    ring.close()
    flow = receiver.flows[0]
    assert (flow["lost"], flow["duplicates"], flow["packets"]) == (0, 0, 60)
    highest = np.maximum.accumulate(sequences)
    assert flow["reordered"] == int((highest > np.array(sequences)).sum())


@pytest.mark.parametrize(("back", "duplicates"), [(1, 1), (63, 1), (64, 0)])
def test_a_duplicate_is_known_among_the_last_64_numbers(ring, back, duplicates):
    receiver = Receiver(ring())
    receiver.feed([stamped(each) for each in range(101)])
    receiver.feed([stamped(100 - back)])
    flow = receiver.flows[0]
    assert (flow["duplicates"], flow["reordered"], flow["lost"]) == (duplicates, 1 - duplicates, 0)


def test_another_generators_numbers_begin_anew(ring):
    receiver = Receiver(ring())
    receiver.feed([stamped(each, stream=1) for each in (5, 6, 8)])
    receiver.feed([stamped(each, stream=2) for each in (0, 1, 4)])
    flow = receiver.flows[0]
    assert (flow["packets"], flow["lost"], flow["reordered"]) == (6, 1 + 2, 0)


def test_two_generators_of_one_flow_at_once_lose_nothing(ring):
    receiver = Receiver(ring())
    receiver.feed([stamped(number // 2, stream=number % 2) for number in range(100)])
    flow = receiver.flows[0]
    assert (flow["packets"], flow["lost"], flow["reordered"]) == (100, 0, 0)


def test_of_one_stream_only_its_own_packets_count(ring):
    receiver = Receiver(ring(), stream=7)
    receiver.feed([stamped(number, stream=7 + number % 2) for number in range(10)])
    assert receiver.run[blocks.STRANGE] == 5
    assert receiver.flows[0]["packets"] == 5


@pytest.mark.parametrize("packet", [b"x", bytes(63), bytes(64), HEADER + bytes(Stamp(1, 0, 0))[:-1]])
def test_packets_without_a_stamp_are_counted_apart(ring, packet):
    receiver = Receiver(ring())
    receiver.feed([packet] * 3)
    assert (receiver.run[blocks.OTHER], receiver.run[blocks.PACKETS]) == (3, 3)
    assert receiver.run[blocks.BYTES] == 3 * len(packet)


def test_a_chain_is_one_packet(ring):
    receiver = Receiver(ring(buffer_size=64, log2_size=4))
    receiver.feed([stamped(number, size=500) for number in range(20)])
    flow = receiver.flows[0]
    assert (flow["packets"], flow["bytes"], flow["lost"]) == (20, 10_000, 0)


def test_a_stamp_across_two_slots_is_not_read(ring):
    receiver = Receiver(ring(buffer_size=64))
    receiver.run[blocks.AT] = 50
    receiver.feed([bytes(50) + bytes(Stamp(1, 0, 0))])
    assert receiver.run[blocks.OTHER] == 1


def test_what_waits_before_it_begins_is_thrown_away(ring):
    ends = ring()
    ends.sender.send(Burst.of([stamped(each) for each in range(3)]))
    receiver = Receiver(ends)
    assert receiver.run[blocks.STALE] == 3
    receiver.feed([stamped(0, stream=2)])
    assert receiver.run[blocks.PACKETS] == 1
    assert receiver.flows[0]["lost"] == 0


def test_delay_is_from_stamp_to_burst(ring):
    receiver = Receiver(ring())
    now = int(receiver.run[blocks.NOW])
    receiver.feed([stamped(0, time=now - 1_000_000), stamped(1, time=0), stamped(2, time=now + (1 << 50))])
    assert receiver.run[blocks.DELAY_COUNT] == 1
    assert receiver.run[blocks.DELAY_MIN] == receiver.run[blocks.DELAY_MAX] == receiver.run[blocks.DELAY_SUM]
    assert receiver.run[blocks.DELAY_MIN] == receiver.run[blocks.NOW] - (now - 1_000_000) or (
        receiver.run[blocks.DELAY_MIN] >= 1_000_000
    )


def test_more_than_a_burst_takes_is_taken_next_time(ring):
    receiver = Receiver(ring(log2_size=11))
    burst = Burst.of([stamped(each) for each in range(2000)])
    assert receiver.ring.sender.send(burst) == 2000
    assert receiver.take() == blocks.IDLE
    assert (receiver.flows[0]["packets"], receiver.flows[0]["lost"]) == (2000, 0)


def test_the_slots_can_be_used_again(ring):
    receiver = Receiver(ring(log2_size=3))
    receiver.feed([stamped(each) for each in range(100)])
    counters = receiver.ring.receiver.counters
    assert (counters.packets, counters.bytes) == (100, 6400)
    assert receiver.ring.sender.waiting() == 8


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"region": 1}, BAD_REGION),
        ({"offset": 0xFFFFFFC0}, OUTSIDE_REGION),
        ({"length": 0xFFFFFFFF}, OUTSIDE_REGION),
    ],
)
def test_descriptors_of_a_hostile_client_are_refused(change, fault):
    ring = loop("s2m")
    receiver = Receiver(ring)
    ring.sender.send(Burst.of([stamped(0)]))
    for name, value in change.items():
        ring.ring.descriptors[name][0] = value
    assert receiver.take() == fault
    ring.close()


def test_a_length_beyond_the_clients_own_buffer_is_refused():
    ring = loop("m2s")
    receiver = Receiver(ring)
    ring.sender.send(Burst.of([stamped(0)]))
    ring.ring.descriptors["length"][0] = 65
    assert receiver.take() == BAD_LENGTH
    ring.close()


def test_packets_before_a_fault_are_counted():
    ring = loop("s2m")
    receiver = Receiver(ring)
    ring.sender.send(Burst.of([stamped(each) for each in range(5)]))
    ring.ring.descriptors["region"][3] = 9
    assert receiver.take() == BAD_REGION
    assert receiver.flows[0]["packets"] == receiver.run[blocks.PACKETS] == 3
    ring.close()


def test_a_chain_without_end_is_refused(ring):
    ends = ring(log2_size=3)
    receiver = Receiver(ends)
    ends.sender.send(Burst.of([stamped(each) for each in range(8)]))
    ends.ring.descriptors["flags"] = 1
    assert receiver.take() == ENDLESS_CHAIN


def test_a_chain_that_is_not_all_there_is_waited_for(ring):
    ends = ring(log2_size=3)
    receiver = Receiver(ends)
    ends.sender.send(Burst.of([stamped(0), stamped(1)]))
    ends.ring.descriptors["flags"][1] = 1
    assert receiver.take() == blocks.IDLE
    assert receiver.run[blocks.PACKETS] == 1
    ends.sender.send(Burst.of([stamped(2)]))
    assert receiver.take() == blocks.IDLE
    assert receiver.run[blocks.PACKETS] == 2


def test_an_index_that_jumps_is_refused():
    ring = loop("s2m", log2_size=3)
    receiver = Receiver(ring)
    ring.ring.memory[6:8].view("<u2")[0] = 9
    assert receiver.take() == INDEX_JUMPED
    ring.close()


def test_empty_slots_are_counted_and_given_back(ring):
    ends = ring(log2_size=3)
    receiver = Receiver(ends)
    ends.sender.send(Burst.of([stamped(0), stamped(1)]))
    ends.ring.descriptors["length"][0] = 0
    assert receiver.take() == blocks.IDLE
    assert (receiver.run[blocks.EMPTY], receiver.run[blocks.PACKETS]) == (1, 1)
    assert ends.sender.waiting() == 8
