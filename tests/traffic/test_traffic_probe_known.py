"""The probe against nodes whose latency is known: arithmetic says what it has to see."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rehearsal import A_TURN_US, planned, rehearse, run_of
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether

from labs.memif.burst import Burst
from labs.traffic import floor, probe_kernels
from labs.traffic.probe_pair import Pair
from labs.traffic.stamp import Stamp


def test_times_are_in_the_order_in_which_things_happen():
    run = rehearse(0.2, 200e-6)
    assert run.received == run.planned == 1000
    assert (run.due_ns <= run.sent_ns).all()
    assert (run.sent_ns < run.got_ns).all()
    assert (np.diff(run.due_ns) == 200_000).all()
    assert (run.samples_us >= run.uncorrected_us).all()


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 20_000))
def test_a_known_delay_is_seen_to_a_turn_of_the_loop(delay_us):
    run = rehearse(0.02, 1e-3, delay=delay_us / 1e6)
    assert run.received == 20
    assert (run.uncorrected_us >= delay_us).all()
    quiet = run.undisturbed()
    late = (quiet.sent_ns - quiet.due_ns) / 1e3
    assert (quiet.uncorrected_us <= delay_us + A_TURN_US).all()
    assert (quiet.samples_us <= delay_us + A_TURN_US + late).all()


def test_a_plain_loop_in_python_is_not_faster():
    """A second instrument: the same way by Python's own calls and clock, which cost more."""
    with Pair() as pair:
        packet = Burst.of([bytes(64)])
        loop = []
        for _ in range(500):
            began = time.perf_counter()
            pair.near[0].send(packet)
            pair.far[0].send(pair.far[1].receive(1))
            assert len(pair.near[1].receive(1)) == 1
            loop.append((time.perf_counter() - began) * 1e6)
    assert 0 < floor.measure().min_us < min(loop)


STALL = (0.3, 0.2)
"""From 300 ms on, for 200 ms, of a second."""


def stalled(**options):
    """Return a run, the stall's end, and which requests were due meanwhile."""
    run = rehearse(1.0, 500e-6, stall=STALL, **options)
    begin, end = (run.due_ns[0] + round(each * 1e9) for each in (STALL[0], sum(STALL)))
    return run, end, (run.due_ns >= begin) & (run.due_ns < end)


def test_a_stall_shows_in_every_request_that_was_due_meanwhile():
    run, end, hit = stalled()
    assert hit.sum() == 400
    assert run.received == run.planned
    assert (run.got_ns[hit] >= end).all()
    quiet = hit & ~run.disturbed
    assert (run.got_ns[quiet] - end <= 2 * A_TURN_US * 1e3).all()


@pytest.mark.parametrize("q", [82, 85, 90, 95, 99])
def test_percentiles_of_a_stall_are_those_of_arithmetic(q):
    """A fifth of the requests waits, evenly from 200 ms down to nothing."""
    run, _, _ = stalled()
    expected = 200e3 * (1 - (1 - q / 100) / 0.2)
    assert run.percentile(q) >= expected * 0.998 - 500
    assert run.percentile(q) <= (expected + 500 + run.gap_total_ns / 1e3) * 1.002 + A_TURN_US * run.gap_count


def test_a_closed_loop_leaves_the_stall_out_and_the_correction_puts_it_back():
    """With one request at a time only one meets the stall: the figures from sending hide it."""
    run, _, _ = stalled(outstanding=1)
    if run.gap_total_ns < 50e6:  # else other stalls, our own, would be counted with it
        assert (run.uncorrected_us > 150e3).sum() == 1
        assert run.percentile(99, corrected=False) < 100e3
    assert (run.samples_us >= 100e3).sum() >= 199
    assert run.percentile(99) >= 185e3


@pytest.mark.parametrize("ring", [2, 32, 1024])
def test_a_stall_that_fills_the_ring_loses_nothing(ring):
    run, end, hit = stalled(ring=ring)
    assert (run.received, run.lost) == (2000, 0)
    assert (run.got_ns[hit] >= end).all()


@settings(deadline=None, max_examples=10)
@given(st.integers(1, 20))
def test_what_is_dropped_is_lost_and_nothing_else(drop):
    run = rehearse(0.05, 500e-6, drop=drop, patience=0.05)
    assert run.sent == 100
    assert np.flatnonzero(run.got_ns == 0).tolist() == list(range(drop - 1, 100, drop))
    assert run.lost == 100 // drop == run.to_frame()["latency (µs)"].isna().sum()
    assert any("were not answered" in each for each in run.notes)


def test_losses_do_not_stop_a_closed_loop_for_good():
    run = rehearse(0.5, 1e-3, drop=5, outstanding=1, patience=0.01)
    first_lost = np.flatnonzero((run.got_ns == 0) & (run.sent_ns > 0))[0]
    assert first_lost == 4
    assert np.flatnonzero(run.got_ns)[-1] > 10


def test_many_losses_do_not_hold_up_an_open_loop():
    """What an answered request has overtaken no longer counts as under way."""
    run = rehearse(0.3, 100e-6, drop=2, ring=8, patience=0.5)
    assert (run.sent, run.lost) == (3000, 1500)
    took = run.sent_ns[-1] - run.due_ns[0]
    assert took < 0.3e9 + 0.5e9 + run.gap_total_ns  # not one pause of 0.5 s for each 8 that were lost


def test_random_times_have_the_mean_that_was_asked_for():
    run = run_of(planned(1.0, 100e-6, poisson=True, seed=7))
    steps = np.diff(run.due_ns)
    assert not run.even
    assert steps.mean() == pytest.approx(100e3, rel=0.05)
    assert steps.std() == pytest.approx(steps.mean(), rel=0.05)  # of an exponential distribution
    assert "at random" in str(run.summary())


@pytest.mark.parametrize("first", [0, 250, 65_530, 131_060])
def test_the_packets_on_the_wire_are_right_also_beyond_sixteen_bits(first):
    floor.warm_up()
    plan = planned((first + 20) * 100e-6, 100e-6, patience=0.3)
    plan.begin(time.monotonic_ns() - int(plan.due[-1]))
    plan.state[probe_kernels.NEXT], plan.state[probe_kernels.HIGHEST] = first, first - 1
    with Pair() as pair:
        probe_kernels.probe(*(queue.control for queue in pair.near), *plan.arguments)
        packets = pair.far[1].receive(256).packets()
    assert [Stamp.read(each).sequence for each in packets] == list(range(first, first + 20))
    for number, packet in enumerate(packets, first):
        assert Ether(packet)[ICMP].seq == number & 0xFFFF
        again = Ether(packet)
        del again[IP].chksum
        del again[ICMP].chksum
        assert bytes(again) == packet
