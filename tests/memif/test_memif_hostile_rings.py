"""A peer that breaks the shared rings: each fault is told from the others, and no byte outside is touched."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memif_loops import loop

from labs.memif.burst import Burst
from labs.memif.control import PEER_FAULTS
from labs.memif.errors import BadMemory, MemifError
from labs.memif.ring import NEXT

LONG = float(os.environ.get("LABS_LONG_TESTS", "0"))
"""Seconds that the random peers run; without it, a few."""


@pytest.fixture(params=["s2m", "m2s"])
def ends(request):
    made = loop(request.param)
    faults = []
    made.sender.on_fault = made.receiver.on_fault = faults.append
    made.faults = faults
    yield made
    made.close()


def index_of(ends, whose):
    """Return the shared index that an end moves, as an array of one."""
    head = ends.ring.memory[6:8].view("<u2")
    tail = ends.ring.memory[ends.ring.line : ends.ring.line + 2].view("<u2")
    return head if whose is ends.client else tail


def move(ends, whose, step):
    index = index_of(ends, whose)
    index[0] = (int(index[0]) + step) % 65536


def refused(ends, action, reason):
    with pytest.raises(BadMemory) as caught:
        action()
    assert caught.value.reason == reason
    assert [each.reason for each in ends.faults] == [reason]


@pytest.mark.parametrize("step", [9, 100, 32768, 65535])
def test_a_senders_index_that_jumps(ends, step):
    move(ends, ends.sender, step)
    refused(ends, lambda: ends.receiver.receive(4), "index jumped")


@pytest.mark.parametrize("step", [9, 100, 32768, 65535])
def test_a_receivers_index_that_jumps(ends, step):
    ends.sender.waiting()
    move(ends, ends.receiver, step)
    refused(ends, lambda: ends.sender.send(Burst.of([b"x"])), "index jumped")


def test_a_senders_index_that_goes_back(ends):
    ends.sender.send(Burst.of([b"x"] * 3))
    assert ends.receiver.waiting() == 3
    move(ends, ends.sender, -1)
    refused(ends, ends.receiver.waiting, "index jumped")


def test_a_receivers_index_that_goes_back(ends):
    ends.sender.send(Burst.of([b"x"] * 5))
    ends.receiver.receive(3)
    assert ends.sender.waiting() == 6
    move(ends, ends.receiver, -1)
    refused(ends, ends.sender.waiting, "index jumped")


@pytest.mark.parametrize("size", [0x1_0000, 0xFFFF_FFFF])
def test_a_length_that_is_too_large(ends, size):
    ends.sender.send(Burst.of([b"x"]))
    ends.ring.descriptors["length"][0] = size
    reason = (
        "descriptor points outside its region" if ends.ring.place.is_s2m else "descriptor has a bad length"
    )
    refused(ends, lambda: ends.receiver.receive(4), reason)


def test_a_chain_without_end(ends):
    ends.sender.send(Burst.of([b"x"] * 8))
    ends.ring.descriptors["flags"][:] = NEXT
    refused(ends, lambda: ends.receiver.receive(4), "chain does not end")


def test_a_chain_that_is_not_all_there_waits(ends):
    ends.sender.send(Burst.of([b"x"]))
    ends.ring.descriptors["flags"][0] = NEXT
    assert not len(ends.receiver.receive(4))
    ends.sender.send(Burst.of([b"y"]))
    assert ends.receiver.receive(4).packets() == [b"xy"]


def test_a_packet_without_bytes_is_dropped(ends):
    ends.sender.send(Burst.of([b"x", b"y"]))
    ends.ring.descriptors["length"][0] = 0
    assert ends.receiver.receive(4).packets() == [b"y"]
    assert ends.receiver.counters.dropped == 1


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("region", 1, "descriptor names no region"),
        ("region", 0xFFFF, "descriptor names no region"),
        ("offset", 0xFFFF_FFFF, "descriptor points outside its region"),
        ("offset", 0xFFFF_F000, "descriptor points outside its region"),
    ],
)
def test_a_server_believes_no_place_that_a_client_names(ends, field, value, reason):
    if ends.server is ends.receiver:
        ends.sender.send(Burst.of([b"x"]))
    ends.ring.descriptors[field][0] = value
    if ends.server is ends.receiver:
        refused(ends, lambda: ends.receiver.receive(4), reason)
    else:
        refused(ends, lambda: ends.sender.send(Burst.of([b"x"])), reason)


def test_a_client_uses_no_place_that_a_server_names():
    """Its buffers are where it put them, whatever stands in the shared descriptors."""
    for direction in ("s2m", "m2s"):
        ends = loop(direction)
        if direction == "m2s":
            ends.sender.send(Burst.of([b"packet"]))
        ends.ring.descriptors["region"][:] = 9
        ends.ring.descriptors["offset"][:] = 0xFFFF_FFFF
        if direction == "m2s":
            assert ends.receiver.receive(4).packets() == [b"packet"]
        else:
            ends.sender.send(Burst.of([b"packet"]))
            assert ends.receiver.receive(4).packets() == [b"packet"]
        ends.close()


def test_a_server_does_not_fill_buffers_without_bytes():
    ends = loop("m2s")
    ends.faults = []
    ends.sender.on_fault = ends.faults.append
    ends.ring.descriptors["length"][:] = 0
    refused(ends, lambda: ends.sender.send(Burst.of([b"x"])), "descriptor has a bad length")
    ends.close()


def test_the_last_byte_of_a_region_may_be_used_and_the_next_not():
    ends = loop("s2m")
    ends.faults = []
    ends.receiver.on_fault = ends.faults.append
    ends.sender.send(Burst.of([b"x" * 64, b"y" * 64]))
    ends.ring.descriptors["offset"][0] = ends.region.size - 64
    ends.ring.descriptors["offset"][1] = ends.region.size - 63
    with pytest.raises(BadMemory, match="outside its region"):
        ends.receiver.receive(4)
    assert ends.receiver.counters.packets == 1
    ends.close()


@pytest.mark.parametrize("victim", ["sender", "receiver"])
def test_a_fault_holds_no_memory(victim):
    """Who catches the error does not keep the peer's memory mapped until the next garbage collection."""
    ends = loop()
    gone = weakref.ref(ends.region)
    gc.disable()
    try:
        if victim == "sender":
            ends.sender.waiting()
        move(ends, ends.receiver if victim == "sender" else ends.sender, 100)
        with contextlib.suppress(BadMemory):
            ends.sender.send(Burst.of([b"x"])) if victim == "sender" else ends.receiver.receive(4)
        ends.close()
        del ends
        assert gone() is None
    finally:
        gc.enable()


PACKETS = Burst.of([bytes(60), bytes(130), bytes(64)])
ACTIONS = st.one_of(
    st.tuples(st.just("write"), st.integers(0, 2 * 64 + 8 * 16 - 1), st.integers(0, 255)),
    st.tuples(st.just("move"), st.sampled_from(["sender", "receiver"]), st.integers(-3, 9)),
    st.tuples(st.sampled_from(["send", "receive"])),
)


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(["s2m", "m2s"]), st.lists(ACTIONS, min_size=1, max_size=30))
def test_whatever_stands_in_a_ring_each_end_goes_on_or_says_what_is_wrong(direction, actions):
    ends = loop(direction)
    faults = []
    ends.sender.on_fault = ends.receiver.on_fault = faults.append
    doing = {
        "write": ends.ring.memory.__setitem__,
        "move": lambda whose, step: move(ends, getattr(ends, whose), step),
        "send": lambda: ends.sender.send(PACKETS),
        "receive": lambda: ends.receiver.receive(4),
    }
    raised = [reason_of(doing[name], *arguments) for name, *arguments in actions]
    assert [each for each in raised if each] == [each.reason for each in faults]
    assert set(raised) <= {None, *PEER_FAULTS.values()}
    ends.close()


def reason_of(action, *arguments):
    """Return what an action finds wrong with the peer, or nothing."""
    try:
        action(*arguments)
    except BadMemory as error:
        return error.reason
    return None


@pytest.mark.parametrize("direction", ["s2m", "m2s"])
@pytest.mark.parametrize("victim", ["sender", "receiver"])
def test_random_bytes_in_the_ring_while_traffic_runs(direction, victim):
    """A peer that writes anything anywhere, at any time: each link ends in a fault or goes on, no worse."""
    rng = np.random.default_rng(7)
    began = time.monotonic()
    least = LONG / 4 if LONG else 0.5
    faults = 0
    moved = 0
    while (passed := time.monotonic() - began) < least or (faults <= 3 and passed < 60):
        ends = loop(direction, log2_size=4, buffer_size=64)
        stop = threading.Event()

        def scribble(memory=ends.ring.memory, stop=stop, seed=faults):
            noise = np.random.default_rng(seed)
            while not stop.is_set():
                at = noise.integers(0, memory.size, 8)
                memory[at] = noise.integers(0, 256, 8, np.uint8)
                time.sleep(0)

        thread = threading.Thread(target=scribble)
        thread.start()
        burst = Burst.of([bytes(60), bytes(130), bytes(64)])
        try:
            for _ in range(2000):
                if victim == "sender":
                    moved += ends.sender.send(burst)
                    if rng.random() < 0.5:
                        move(ends, ends.receiver, 1)
                else:
                    moved += len(ends.receiver.receive(16))
                    if rng.random() < 0.5:
                        move(ends, ends.sender, 1)
        except MemifError:
            faults += 1
        finally:
            stop.set()
            thread.join()
            ends.close()
    assert faults > 3
