"""The generator's kernel on a ring of its own: what lies in the slots, and when it was due."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memif_loops import loop

from labs.memif.control import BAD_INPUT, BAD_REGION, OUTSIDE_REGION
from labs.traffic import Packets, blocks, udp
from labs.traffic.generate import due, generate, turn
from labs.traffic.stamp import Stamp

STREAM = 0xBEEF


class Sender:
    """A generator's kernel on one end of a ring, and a reader at the other."""

    def __init__(self, ring, packets):
        self.ring, self.packets = ring, packets
        self.run = np.zeros(blocks.SIZE, np.int64)
        self.sequences = np.zeros(packets.flows, np.int64)

    def send(self, count):
        """Send so many more packets, or until the ring is full for a moment."""
        self.run[blocks.LIMIT] = self.run[blocks.PACKETS] + count
        self.run[blocks.LASTS] = 50_000_000
        plan = self.packets.plan(STREAM)
        with self.ring.sender.in_use() as block:
            return generate(block, self.run, plan, self.packets.lengths, self.packets.pattern, self.sequences)

    def received(self):
        return self.ring.receiver.receive(4096).packets()


def without_stamp(packet, at):
    return packet[:at] + bytes(22) + packet[at + 22 :]


@pytest.mark.parametrize("size", [64, 65, 100, 127, 128, 1500, 2048])
def test_every_byte_arrives_as_it_was_made(ring, size):
    packets = udp(size=size, flows=2)
    sender = Sender(ring(buffer_size=2048), packets)
    for lap in range(6):  # the ring has 8 slots: descriptors are met again
        assert sender.send(4) == blocks.DONE
        received = sender.received()
        assert len(received) == 4
        for number, packet in enumerate(received):
            wanted = packets.packet(0, number % 2)
            assert without_stamp(packet, 42) == without_stamp(wanted, 42)
            stamp = Stamp.read(packet)
            assert (stamp.stream, stamp.flow) == (STREAM, number % 2)
            assert stamp.sequence == 2 * lap + number // 2


@pytest.mark.parametrize(
    ("size", "buffer_size"), [(65, 64), (128, 64), (500, 64), (9000, 2048), (9216, 2048)]
)
def test_a_packet_larger_than_a_slot_goes_on_in_the_next(ring, size, buffer_size):
    packets = udp(size=size)
    sender = Sender(ring(buffer_size=buffer_size, log2_size=3), packets)
    for number in range(9):
        assert sender.send(1) == blocks.DONE
        (packet,) = sender.received()
        assert without_stamp(packet, 42) == without_stamp(packets.packet(), 42)
        assert Stamp.read(packet).sequence == number


def test_sizes_change_from_packet_to_packet(ring):
    packets = udp(size=(64, 300, 1500), flows=3)
    sender = Sender(ring(buffer_size=2048), packets)
    seen = set()
    for _ in range(9):
        sender.send(1)
        (packet,) = sender.received()
        seen.add((Stamp.read(packet).flow, len(packet)))
    assert seen == {(flow, size) for flow in range(3) for size in (64, 300, 1500)}


@settings(deadline=None)
@given(st.integers(1, 7), st.lists(st.sampled_from((64, 70, 90, 120)), min_size=1, max_size=7))
def test_every_flow_gets_every_size(flows, sizes):
    ring = loop(log2_size=6, buffer_size=128)
    sender = Sender(ring, udp(size=sizes, flows=flows))
    counts = {}
    rounds = len(sizes)
    for _ in range(rounds):
        sender.send(flows)
        for packet in sender.received():
            key = Stamp.read(packet).flow, len(packet)
            counts[key] = counts.get(key, 0) + 1
    ring.close()
    assert counts == {(flow, size): sizes.count(size) for flow in range(flows) for size in set(sizes)}


def test_what_does_not_fit_waits_and_keeps_its_number(ring):
    sender = Sender(ring(buffer_size=64, log2_size=3), udp(size=150))  # 3 slots each, so 2 fit
    sender.send(5)
    assert sender.run[blocks.PACKETS] == 2
    assert sender.run[blocks.FULL] >= 1
    numbers = [Stamp.read(packet).sequence for packet in sender.received()]
    sender.send(2)
    numbers += [Stamp.read(packet).sequence for packet in sender.received()]
    assert numbers == [0, 1, 2, 3]


def test_a_packet_larger_than_the_ring_is_refused(ring):
    sender = Sender(ring(buffer_size=64, log2_size=3), udp(size=513))
    assert sender.send(1) == BAD_INPUT


def test_a_head_larger_than_a_slot_is_refused(ring):
    sender = Sender(ring(buffer_size=64), Packets.of(bytes(200), stamp_at=78))
    assert sender.send(1) == BAD_INPUT


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"region": 1}, BAD_REGION),
        ({"offset": -35}, OUTSIDE_REGION),
        ({"offset": 0xFFFFFFC0}, OUTSIDE_REGION),
        ({"length": 0}, BAD_INPUT),
    ],
)
@pytest.mark.parametrize(("size", "slot"), [(64, 0), (100, 1)])
def test_a_server_writes_nowhere_but_into_the_clients_region(size, slot, change, fault):
    """A hostile client's descriptors, in a packet's first slot and in one where it goes on."""
    ring = loop("m2s", buffer_size=64)
    for name, value in change.items():
        ring.ring.descriptors[name][slot] = ring.region.size + value if value < 0 else value
    before = ring.region.memory.copy()
    assert Sender(ring, udp(size=size)).send(1) == fault
    if slot == 0:
        assert (ring.region.memory == before).all()
    ring.close()


def test_a_client_does_not_care_what_a_server_writes_into_descriptors():
    ring = loop("s2m", buffer_size=64)
    ring.ring.descriptors["region"], ring.ring.descriptors["offset"] = 9, 0xFFFFFFC0
    sender = Sender(ring, udp())
    assert sender.send(8) == blocks.DONE
    assert [Stamp.read(packet).sequence for packet in sender.received()] == list(range(8))
    ring.close()


def test_unstamped_packets_go_as_they_are(ring):
    templates = [bytes([number]) * length for number, length in enumerate((1, 14, 63, 64, 200))]
    sender = Sender(ring(buffer_size=2048), Packets.of(templates))
    assert sender.send(5) == blocks.DONE
    assert sender.received() == templates


def test_the_counts_are_the_rings(ring):
    sender = Sender(ring(buffer_size=2048), udp(size=(64, 1000)))
    sender.send(5)
    counters = sender.ring.sender.counters
    assert (counters.packets, counters.bytes) == (5, 3 * 64 + 2 * 1000)
    assert (sender.run[blocks.PACKETS], sender.run[blocks.BYTES]) == (5, 3 * 64 + 2 * 1000)


STEPS = st.lists(st.tuples(st.integers(0, 3_000_000), st.integers(0, 400)), min_size=1, max_size=50)


@settings(deadline=None)
@given(st.integers(1, 10**11), st.integers(1, 1000), STEPS)
def test_every_packet_due_is_sent_or_missed_or_still_owed(rate, bucket, steps):
    run = np.zeros(blocks.SIZE, np.int64)
    run[blocks.RATE], run[blocks.BUCKET] = rate, bucket
    start = time = 5_000_000_000
    owed = due(run, time)
    assert owed == 0
    sent = 0
    for passed, room in steps:
        time += passed
        owed = due(run, time)
        assert 0 <= owed <= bucket
        taken = min(owed, room)
        sent += taken
        run[blocks.SINCE] += taken
        wanted = (time - start) * rate // 10**12
        assert abs(sent + run[blocks.MISSED] + owed - taken - wanted) <= 1


@settings(deadline=None)
@given(st.integers(1, 10**8), st.integers(1, 10**8), st.integers(0, 10**6))
def test_a_new_rate_counts_from_when_it_is_set(before, after, passed):
    run = np.zeros(blocks.SIZE, np.int64)
    run[blocks.RATE], run[blocks.BUCKET] = before, 1 << 20
    due(run, 1000)
    due(run, 1000 + passed)
    run[blocks.RATE] = after
    assert due(run, 2000 + passed) == 0 or before == after


def test_at_a_high_rate_packets_go_in_bursts():
    run = np.zeros(blocks.SIZE, np.int64)
    run[blocks.RATE], run[blocks.BUCKET] = 10_000_000_000, 256  # 10 Mpps: 100 ns apart, 20 in 2 µs
    turn(run, 1_000_000)
    assert turn(run, 1_000_000 + 1_800) == 0
    assert turn(run, 1_000_000 + 2_010) == 20


def test_how_far_behind_it_got_is_kept():
    run = np.zeros(blocks.SIZE, np.int64)
    run[blocks.RATE], run[blocks.BUCKET] = 1_000_000, 10  # 1000 pps
    due(run, 1_000_000_000)
    assert due(run, 1_000_000_000 + 5_500_000) == 5
    assert run[blocks.BEHIND] == pytest.approx(4_500_000, abs=1000)
    assert run[blocks.MISSED] == 0
    assert due(run, 1_000_000_000 + 25_500_000) == 10
    assert run[blocks.MISSED] == 15
