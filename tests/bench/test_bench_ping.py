"""The ping sampler: times in µs, what is lost, and what it says where it cannot."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from bench_fakes import FakeLab, desk

from labs.bench.sample_ping import LivePing
from labs.errors import LabError
from labs.ping import Ping
from labs.vpp.sockets import DoorError


class Lab(FakeLab):
    def __init__(self):
        super().__init__()
        self.asked, self.answer = [], pinged(5, 1.0, 2.0, 3.0)
        self.looks = 0
        for name, address in (("vpp1", "10.10.2.1/24"), ("vpp2", "10.10.2.2/24")):
            self[name].addresses = lambda address=address: self._look(address)
        self["vpp1"].ping = self._ping

    def _look(self, address):
        self.looks += 1
        return {"memif0/0": [address]}

    def _ping(self, address, count, interval, *, target):
        assert count * interval < 0.5
        self.asked.append((address, target))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def pinged(sent, *times):
    return Ping("vpp1", "vpp2", "10.10.2.2", sent, np.arange(len(times)), np.array(times, float))


@pytest.fixture
def desk_of_pings():
    recorder, notes = desk()
    lab = Lab()
    return SimpleNamespace(lab=lab, notes=notes, ping=LivePing(lab, recorder, notes))


def last(ping):
    return [float(each) for each in ping.track.last().values[0]]


def test_times_are_in_microseconds_and_losses_in_per_cent(desk_of_pings):
    desk_of_pings.ping.sample()
    assert last(desk_of_pings.ping) == [2000.0, 3000.0, 40.0]
    assert desk_of_pings.lab.asked == [("10.10.2.2", "vpp2")]


def test_none_answered_is_a_gap_and_all_lost(desk_of_pings):
    desk_of_pings.lab.answer = pinged(5)
    desk_of_pings.ping.sample()
    p50, most, lost = last(desk_of_pings.ping)
    assert math.isnan(p50)
    assert math.isnan(most)
    assert lost == 100


def test_none_sent_is_not_divided_by(desk_of_pings):
    desk_of_pings.lab.answer = pinged(0)
    desk_of_pings.ping.sample()
    assert all(math.isnan(each) for each in last(desk_of_pings.ping))


def test_the_nodes_are_asked_for_the_address_once(desk_of_pings):
    for _ in range(5):
        desk_of_pings.ping.sample()
    assert desk_of_pings.lab.looks == 2


@pytest.mark.parametrize(
    "fault", [LabError("no way.\nmore", "x"), DoorError("silent.\nmore", "y", fault="timeout")]
)
def test_a_fault_is_a_gap_and_a_sentence_until_it_answers_again(desk_of_pings, fault):
    good, desk_of_pings.lab.answer = desk_of_pings.lab.answer, fault
    desk_of_pings.ping.sample()
    assert all(math.isnan(each) for each in last(desk_of_pings.ping))
    (said,) = desk_of_pings.notes.all()
    assert said == f"VPP's ping cannot measure: {fault.message.partition(chr(10))[0]}"
    desk_of_pings.lab.answer = good
    desk_of_pings.ping.sample()
    assert desk_of_pings.notes.all() == ()
    assert desk_of_pings.lab.looks == 4  # the address may be another by now
