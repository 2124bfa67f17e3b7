"""A and B at the bench: what is too short, what is kept, and when a sentence is said."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from bench_fakes import Clock

from labs.bench import comparing, recording
from labs.bench.comparing import SETTLES, Comparing
from labs.bench.recording import Recorder
from labs.bench.tables import Column


class Bench:
    """A recorder that is fed with a round trip, and time that goes on with it."""

    def __init__(self, patch):
        self.clock = Clock()
        self.clock.time = lambda: 1.7e9 + self.clock.now
        patch.setattr(comparing, "time", self.clock)
        patch.setattr(recording, "time", self.clock)
        self.recorder = Recorder({"pinning": "apart"})
        self.track = self.recorder.add_track("probe", [Column("probe_p50", "our probe, p50", "µs")])
        self.comparing = Comparing(self.recorder)
        self.rng = np.random.default_rng(1)

    def runs(self, seconds, p50=5.0):
        for _ in range(round(4 * seconds)):
            self.clock.now += 0.25
            self.track.append(self.clock.now, [p50 * self.rng.uniform(0.99, 1.01)])

    def turns(self, pinning):
        self.recorder.facts["pinning"] = pinning
        self.comparing.turned()


@pytest.fixture
def bench(monkeypatch):
    return Bench(monkeypatch)


def test_a_short_run_is_not_kept_and_the_sentence_says_how_long_it_is(bench):
    assert "0 s long" in bench.comparing.keep()
    bench.runs(3 + SETTLES)
    assert bench.comparing.keep() == (
        "This run is 3 s long since the last change; A needs 5 s, so wait a little and press again."
    )
    assert bench.comparing.reference is None
    assert bench.comparing.sentence() == ""
    assert bench.recorder.marks == []


def test_a_turn_begins_another_run(bench):
    bench.runs(20)
    bench.turns("same")
    assert "0 s long" in bench.comparing.keep()


def test_what_is_kept_is_drawn_and_marked(bench):
    bench.runs(10)
    assert bench.comparing.keep().startswith("Kept as A.")
    low, median, high = bench.comparing.reference.stats["probe_p50"]
    assert low < median < high
    assert median == pytest.approx(5.0, rel=0.02)
    assert [mark.label for mark in bench.recorder.marks] == ["kept as A"]


def test_a_kept_run_holds_nothing_from_before_its_last_turn(bench):
    bench.runs(10, p50=6000.0)
    bench.turns("same")
    bench.runs(10, p50=5.0)
    bench.comparing.keep()
    assert bench.comparing.reference.stats["probe_p50"][2] < 6


def test_it_is_too_early_at_first_and_then_there_is_a_sentence(bench):
    bench.runs(10)
    bench.comparing.keep()
    bench.turns("same")
    assert bench.comparing.sentence().startswith("It is too early to compare")
    bench.runs(10, p50=6000.0)
    said = bench.comparing.sentence()
    assert said.startswith(
        "With pinning all nodes on one core instead of a core each, the round trip by our probe rose "
    )
    assert "a factor of 1,2" in said


def test_the_same_again_is_within_the_noise(bench):
    bench.runs(12)
    bench.comparing.keep()
    bench.runs(12)
    assert "alike within the noise" in bench.comparing.sentence()


def test_what_is_forgotten_is_compared_no_more(bench):
    bench.runs(10)
    bench.comparing.keep()
    assert bench.comparing.forget() == "A is forgotten."
    assert bench.comparing.reference is None
    assert bench.comparing.sentence() == ""
    bench.comparing.forget()


def test_of_a_long_run_the_last_minute_counts(bench):
    bench.runs(100, p50=6000.0)
    bench.runs(61, p50=5.0)
    bench.comparing.keep()
    assert bench.comparing.reference.stats["probe_p50"][2] < 6


def test_forgetting_in_the_midst_of_a_comparison_does_no_harm(bench):
    bench.runs(10)
    bench.comparing.keep()
    bench.runs(10)
    faults, end = [], threading.Event()

    def compare():
        while not end.is_set():
            try:
                bench.comparing.sentence()
            except Exception as error:  # noqa: BLE001 - it is what is looked for
                faults.append(error)

    thread = threading.Thread(target=compare)
    thread.start()
    kept = bench.comparing._a
    for _ in range(300):
        bench.comparing.forget()
        bench.comparing._a = kept
    end.set()
    thread.join(10)
    assert faults == []
