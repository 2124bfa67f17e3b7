"""The live probe's window, over a measurement that a test made up; and how it begins and ends."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from bench_fakes import Clock, FakeLab, desk

from labs.bench import sample_probe
from labs.bench.sample_probe import INTERVAL, WINDOW, LiveProbe, window
from labs.errors import LabError, NodeDied
from labs.traffic import probe_kernels as k

NOW = 1000.0
COLUMNS = ("probe_p50", "probe_p99", "probe_max", "probe_lost")


class MadeUp:
    """A measurement under way: requests every 10 ms, answered after 100 µs until the present."""

    def __init__(self, interval=INTERVAL, seconds=10.0, latency=100e-6, now=NOW):
        count = round(seconds / interval)
        due = ((now - 5.0) * 1e9 + np.arange(count) * interval * 1e9).astype(np.int64)
        got = np.where(due + latency * 1e9 < now * 1e9, due + int(latency * 1e9), 0)
        self.plan = SimpleNamespace(
            interval=interval,
            due=due,
            got=got,
            gaps=np.zeros((16, 2), np.int64),
            state=np.zeros(k.STATE_WORDS, np.int64),
        )
        self.is_over, self.stopped = False, False

    def between(self, start, end):
        """Return which requests are due from `start` to `end` seconds from the present."""
        since = self.plan.due - NOW * 1e9
        return (since >= start * 1e9) & (since < end * 1e9)

    def gap(self, start, length):
        at = int(self.plan.state[k.GAPS])
        self.plan.gaps[at] = (NOW + start) * 1e9, length * 1e9
        self.plan.state[k.GAPS] = at + 1

    def stop(self):
        self.stopped = True


class Lab(FakeLab):
    """A lab whose probes are made up."""

    folder = "nowhere"

    def __init__(self):
        super().__init__()
        self.probes, self.begun, self.refusal = [], [], None

    def probe(self, folder, nodes, node, to, **options):
        assert (folder, nodes) == (self.folder, self.nodes)
        assert options == {"wait": "sleep", "back": True, "standing": True}
        if self.refusal:
            raise self.refusal
        made = SimpleNamespace(start=self._start, close=lambda: self.probes.remove(made), ends=(node, to))
        self.probes.append(made)
        return made

    def _start(self, seconds, interval, *, floor):
        assert not floor
        self.begun.append(MadeUp(interval))
        self.begun[-1].seconds = seconds
        return self.begun[-1]


@pytest.fixture
def clock(monkeypatch):
    made = Clock(NOW)
    monkeypatch.setattr(sample_probe, "time", made)
    return made


@pytest.fixture
def lab(monkeypatch):
    made = Lab()
    monkeypatch.setattr(sample_probe, "NodeProbe", made.probe)
    return made


@pytest.fixture
def notes():
    return desk()[1]


@pytest.fixture
def probe(lab, notes, clock):
    return LiveProbe(lab, desk()[0], notes)


@pytest.fixture
def look(probe):
    """Return the figures of a measurement at the present."""

    def look(measurement):
        probe._running = measurement
        return dict(zip(COLUMNS, probe._window(NOW), strict=True))

    return look


def test_a_quiet_window(look):
    seen = look(MadeUp())
    assert seen == {"probe_p50": 100, "probe_p99": 100, "probe_max": 100, "probe_lost": 0}


def test_only_the_last_half_second_counts(look):
    made = MadeUp()
    before = made.between(-5, -WINDOW - 0.05)
    made.plan.got[before] += 10_000_000
    assert look(made)["probe_max"] == 100


def test_late_replies_belong_to_the_window_in_which_they_came(look):
    made = MadeUp()
    late = made.between(-1.0, -0.9)
    made.plan.got[late] = (NOW - 0.2) * 1e9
    seen = look(made)
    assert 700_000 <= seen["probe_max"] <= 800_000
    assert seen["probe_p50"] == 100
    assert seen["probe_lost"] == 0


def test_what_has_no_answer_after_a_second_is_lost_and_before_is_not(look):
    made = MadeUp()
    made.plan.got[made.between(-1.0, 0)] = 0
    seen = look(made)
    assert seen["probe_lost"] == 0
    assert math.isnan(seen["probe_p50"])
    made.plan.got[made.between(-1.26, -1.0)] = 0
    assert look(made)["probe_lost"] == pytest.approx(50, abs=3)
    made.plan.got[:] = 0
    assert look(made)["probe_lost"] == 100


def test_fewer_than_three_replies_are_no_percentile(look):
    made = MadeUp()
    made.plan.got[made.between(-0.48, 0)] = 0
    made.plan.got[made.between(-WINDOW - 0.1, -0.48)] = np.int64((NOW - 0.4) * 1e9)
    assert look(made)["probe_p50"] > 0
    made.plan.got[made.between(-WINDOW - 0.1, 0)] = 0
    made.plan.got[np.flatnonzero(made.between(-0.1, 0))[:2]] = np.int64((NOW - 0.01) * 1e9)
    seen = look(made)
    assert all(math.isnan(seen[name]) for name in COLUMNS[:3])


def test_replies_while_the_probe_itself_had_no_core_do_not_count(look):
    made = MadeUp()
    slow = made.between(-0.2, -0.1)
    made.plan.got[slow] = (NOW - 0.1) * 1e9
    assert look(made)["probe_max"] > 90_000
    made.gap(-0.2, 0.1)
    assert look(made)["probe_max"] == 100


def test_where_it_had_no_core_most_of_the_time_all_replies_count(look):
    made = MadeUp()
    made.plan.got[made.between(-0.4, -0.01)] += 5_000_000
    made.gap(-0.45, 0.45)
    assert look(made)["probe_max"] == pytest.approx(5_100)


def test_a_measurement_that_has_not_begun_is_a_gap(look):
    made = MadeUp()
    made.plan.due -= made.plan.due[0]  # as a plan is before it begins
    made.plan.got[:] = 0
    assert all(math.isnan(each) for each in look(made).values())


@pytest.mark.parametrize("interval", [1e-4, 1e-3, 0.01, 0.1, 0.5, 1.0])
def test_at_every_interval_that_the_knob_takes_a_window_has_replies_enough(look, interval):
    assert look(MadeUp(interval, seconds=max(10.0, 20 * interval)))["probe_p50"] == 100
    assert window(interval) >= 5 * interval
    assert window(INTERVAL) == WINDOW


def test_it_begins_at_once_and_goes_on(probe, lab, clock):
    for _ in range(5):
        clock.now += 0.25
        probe.sample()
    assert len(lab.begun) == 1
    assert lab.probes[0].ends == ("vpp1", "vpp2")
    assert len(probe.track) == 5


def test_another_interval_begins_anew_with_the_same_probe(probe, lab, clock):
    probe.sample()
    probe.interval = 0.001
    clock.now += 0.25
    probe.sample()
    assert [each.plan.interval for each in lab.begun] == [0.01, 0.001]
    assert lab.begun[0].stopped
    assert len(lab.probes) == 1


def test_nodes_that_have_moved_get_another_probe(probe, lab, clock):
    probe.sample()
    probe.renew()
    clock.now += 0.25
    probe.sample()
    assert len(lab.probes) == 2
    assert lab.begun[0].stopped


def test_a_measurement_that_is_over_is_followed_by_another(probe, lab, clock):
    probe.sample()
    lab.begun[0].is_over = True
    clock.now += 100
    probe.sample()
    assert len(lab.begun) == 2


def test_measurements_that_end_at_once_do_not_begin_at_each_sample(probe, lab, clock):
    for _ in range(40):  # ten seconds
        probe.sample()
        lab.begun[-1].is_over = True
        clock.now += 0.25
    assert len(lab.begun) <= 12


def test_why_it_cannot_is_said_and_it_tries_again_after_a_second(probe, lab, notes, clock):
    lab.refusal = NodeDied("vpp1 is not running: it was ended.\nIts last lines were:\n  x", "restart it")
    probe.sample()
    assert notes.all() == ("The probe cannot measure: vpp1 is not running: it was ended.",)
    lab.refusal = None
    clock.now += 0.5
    probe.sample()
    assert lab.begun == []
    clock.now += 0.6
    probe.sample()
    assert len(lab.begun) == 1
    assert notes.all() == ()
    assert all(math.isnan(each) for each in probe.track.last().values[0])


def test_closing_ends_it_and_takes_the_probe_away(probe, lab):
    probe.sample()
    probe.close()
    assert lab.begun[0].stopped
    assert lab.probes == []


def test_what_begins_while_it_is_closed_in_another_thread_does_not_stay(probe, lab):
    begin = probe._begin

    def slowly(asked):
        probe.close()
        begin(asked)

    probe._begin = slowly
    probe.sample()
    assert lab.begun[0].stopped
    assert lab.probes == []


def test_a_window_during_which_it_is_closed_is_a_gap(probe):
    assert all(math.isnan(each) for each in probe._window(NOW))


def test_a_fault_in_taking_it_away_is_passed_over(probe, lab):
    probe.sample()

    def refuse():
        raise LabError("gone", "")

    lab.probes[0].close = refuse
    probe.close()
    assert lab.begun[0].stopped
