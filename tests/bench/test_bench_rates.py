"""Rates from counters that go back, vanish, stand still: unknown is a gap, and never a zero."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench_fakes import WIRE, Clock, FakeLab, desk

from labs.bench import sample_rates
from labs.bench.sample_rates import Rates
from labs.bench.wiring import Wire
from labs.vpp.counters import InterfaceCounters

PERIOD = 0.05


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(sample_rates, "time", made)
    return made


class Desk:
    """Rates of a made-up lab, sampled as often as a test says."""

    def __init__(self, clock, *names, wires=(WIRE,)):
        self.lab, self.clock = FakeLab(*names), clock
        self.recorder, self.notes = desk()
        self.rates = Rates(self.lab, self.recorder, self.notes, wires)

    def sample(self, times=1, **sent):
        """Sample; each time the first node has sent and the last received so much more."""
        for _ in range(times):
            self.clock.now += PERIOD
            if sent:
                self.lab["vpp1"].count(tx_packets=sent["packets"])
                self.lab["vpp2"].count(rx_packets=sent["packets"], rx_bytes=64 * sent["packets"])
            self.rates.sample()

    def last(self, column, track="traffic"):
        return float(self.recorder.tracks[track].last().column(column)[0])

    def all(self, column, track="traffic"):
        return self.recorder.tracks[track].since(-math.inf).column(column)


@pytest.fixture
def table(clock):
    return Desk(clock)


def test_the_first_sample_knows_no_rate(table):
    table.sample()
    assert all(math.isnan(table.last(name)) for name in ("sent", "received", "lost", "gbits"))


def test_rates_are_growth_a_second_in_millions(table):
    table.sample(2, packets=50_000)
    assert table.last("sent") == pytest.approx(1.0)
    assert table.last("received") == pytest.approx(1.0)
    assert table.last("gbits") == pytest.approx(0.512)
    assert table.last("lost") == 0
    assert table.last("link0_forth", "links") == pytest.approx(1.0)
    assert table.last("link0_back", "links") == 0


def test_what_comes_back_is_the_other_way(table):
    table.sample()
    table.lab["vpp1"].count(rx_packets=5_000)
    table.sample()
    assert table.last("link0_back", "links") == pytest.approx(0.1)
    assert table.last("link0_forth", "links") == 0


def test_lost_is_what_found_no_room(table):
    table.sample(packets=50_000)
    table.lab["vpp1"].refuse(10_000)
    table.sample(packets=50_000)
    assert table.last("lost") == pytest.approx(0.2)


def test_counters_that_were_cleared_are_a_gap_of_one_sample(table):
    table.sample(2, packets=50_000)
    for node in table.lab.nodes.values():
        node.counts = {"memif0/0": InterfaceCounters()}
    table.sample()
    assert math.isnan(table.last("sent"))
    assert math.isnan(table.last("received"))
    table.sample(packets=50_000)
    assert table.last("sent") == pytest.approx(1.0)


def test_an_error_counter_that_goes_back_is_no_loss(table):
    table.lab["vpp1"].refuse(10_000)
    table.sample()
    table.lab["vpp1"].stats.refused = {}
    table.sample()
    assert math.isnan(table.last("lost"))
    table.sample()
    assert table.last("lost") == 0


def test_an_interface_that_vanishes_and_comes_back_is_a_gap(table):
    table.sample(2, packets=50_000)
    kept = table.lab["vpp2"].counts.pop("memif0/0")
    table.sample()
    assert math.isnan(table.last("received"))
    assert math.isnan(table.last("link0_forth", "links"))
    assert not math.isnan(table.last("sent"))
    table.lab["vpp2"].counts["memif0/0"] = kept
    table.sample()
    assert math.isnan(table.last("received"))
    table.sample(packets=50_000)
    assert table.last("received") == pytest.approx(1.0)


def test_no_time_between_two_samples_is_no_division(table):
    table.sample()
    table.rates.sample()
    assert math.isnan(table.last("sent"))


def test_a_node_that_ends_is_a_gap_and_a_sentence_of_one_line(table):
    table.sample(3, packets=50_000)
    table.lab["vpp2"].alive = False
    table.sample(7)
    assert np.isnan(table.all("received")[-7:]).all()
    assert np.isnan(table.all("lost")[-7:]).sum() == 0
    assert table.notes.all() == ("vpp2 is not running: it was ended.",)


def test_a_node_that_comes_back_is_measured_again_within_half_a_second_and_spoken_of_no_more(table):
    table.sample(3, packets=50_000)
    table.lab["vpp2"].alive = False
    table.sample(3)
    table.lab["vpp2"].alive = True
    table.sample(10, packets=50_000)
    assert table.last("received") == pytest.approx(1.0)
    assert table.notes.all() == ()


def test_a_node_that_stands_still_is_a_gap_and_never_a_zero(table):
    table.sample(10, packets=50_000)
    table.lab["vpp2"].still = True
    table.sample(5)  # a look at the heartbeat is among them
    before = len(table.all("received"))
    table.sample(40)
    assert np.isnan(table.all("received")[before:]).all()
    assert not np.isnan(table.all("sent")[before:]).any()


def test_the_sentence_about_it_names_the_node_and_stays_the_same(table):
    table.lab["vpp2"].still = True
    said = set()
    for _ in range(30):
        table.sample()
        said.add(table.notes.all())
    assert said - {()} == {("vpp2 stands still: it is stopped, or busy with a long command.",)}


def test_a_node_that_stands_still_is_asked_no_more_often_than_before(table):
    table.lab["vpp2"].still = True
    table.sample(50)
    assert table.lab["vpp2"].heartbeats_asked == 10


def test_a_node_that_goes_on_is_measured_again(table):
    table.lab["vpp2"].still = True
    table.sample(10)
    table.lab["vpp2"].still = False
    table.sample(10, packets=50_000)
    assert table.last("received") == pytest.approx(1.0)
    assert table.notes.all() == ()


def test_of_a_chain_the_first_sends_the_last_receives_and_all_lose(clock):
    wires = (WIRE, Wire("vpp2", "memif1/0", "vpp3", "memif1/0"))
    chain = Desk(clock, "vpp1", "vpp2", "vpp3", wires=wires)
    for node, interface in (("vpp2", "memif1/0"), ("vpp3", "memif1/0")):
        chain.lab[node].count(interface)
    chain.sample()
    chain.lab["vpp1"].count(tx_packets=50_000)
    chain.lab["vpp2"].count(rx_packets=40_000)
    chain.lab["vpp2"].refuse(5_000, "memif1/0")
    chain.lab["vpp1"].refuse(10_000)
    chain.lab["vpp3"].count("memif1/0", rx_packets=35_000)
    chain.sample()
    assert [round(chain.last(name), 3) for name in ("sent", "received", "lost")] == [1.0, 0.7, 0.3]
    assert chain.last("link1_forth", "links") == pytest.approx(0.7)


def test_a_link_made_by_hand_later_is_measured_and_one_too_many_does_no_harm(clock):
    bare = Desk(clock, wires=())
    bare.sample(2)
    assert math.isnan(bare.last("link0_forth", "links"))
    bare.rates.wires = (WIRE,)
    bare.sample(2, packets=50_000)
    assert bare.last("link0_forth", "links") == pytest.approx(1.0)
    assert bare.last("received") == pytest.approx(1.0)
    bare.rates.wires = (WIRE, Wire("vpp1", "memif1/0", "vpp2", "memif1/0"))
    bare.sample(2, packets=50_000)
    assert bare.last("link0_forth", "links") == pytest.approx(1.0)
    bare.rates.wires = ()
    bare.sample(2)
    assert math.isnan(bare.last("link0_forth", "links"))


def test_without_links_all_interfaces_count_together(clock):
    alone = Desk(clock, "vpp1", wires=())
    alone.lab["vpp1"].count("pg0")
    alone.sample()
    alone.lab["vpp1"].count("pg0", rx_packets=50_000, drops=5_000)
    alone.sample()
    assert [round(alone.last(name), 3) for name in ("sent", "received", "lost")] == [0.0, 1.0, 0.1]
    assert "links" not in alone.recorder.tracks
    alone.lab["vpp1"].alive = False
    alone.sample()
    assert all(math.isnan(alone.last(name)) for name in ("sent", "received", "lost"))
