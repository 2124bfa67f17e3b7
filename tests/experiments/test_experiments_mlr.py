from __future__ import annotations

import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from labs.errors import LabError, NotAvailable
from labs.experiments import mlr
from labs.experiments.mlr import search
from labs.experiments.mlr_trials import LOSSES, NDR, PDR, Bounds, Search, Trial, confirm

MILLION = 1e6


def link_of(capacity, drops=0.0):
    """Return what a link shows that takes so many packets a second, and loses a part of all."""

    def attempt(load, seconds):
        sent = round(load * seconds)
        return sent, round(min(sent, capacity * seconds) * (1 - drops))

    return attempt


def made_package(search_loads, *, lasts=False):
    """Return a stand-in for MLRsearch that tries given loads, and takes what came of them as its result."""

    @dataclass(frozen=True)
    class Goal:
        loss_ratio: float
        exceed_ratio: float
        relative_width: float
        initial_trial_duration: float
        final_trial_duration: float
        duration_sum: float
        preceding_targets: int
        expansion_coefficient: int
        fail_fast: bool

    class MultipleLossRatioSearch:
        def __init__(self, config):
            self.config = config

        def search(self, measurer, debug):
            debug("begins")
            done = [
                measurer.measure(intended_duration=1.0, intended_load=load * self.config.max_load)
                for load in search_loads
            ]
            if lasts:
                raise RuntimeError("Optimized search takes too long.")
            return {goal: self.bounds(goal, done) for goal in self.config.goals}

        @staticmethod
        def bounds(goal, done):
            def lost(each):
                return 1 - each.forwarding_count / each.offered_count

            low = [each.intended_load for each in done if lost(each) <= goal.loss_ratio]
            high = [each.intended_load for each in done if lost(each) > goal.loss_ratio]
            return SimpleNamespace(
                relevant_lower_bound=max(low, default=None),
                relevant_upper_bound=min(high, default=None),
                conditional_throughput=max(low, default=None),
            )

    return SimpleNamespace(
        AbstractMeasurer=object,
        Config=SimpleNamespace,
        MeasurementResult=SimpleNamespace,
        MultipleLossRatioSearch=MultipleLossRatioSearch,
        SearchGoal=Goal,
    )


def test_bounds_enclose_what_the_link_takes(monkeypatch):
    monkeypatch.setattr(mlr, "_package", lambda: made_package([1.0, 0.4, 0.6, 0.5, 0.55]))
    told = []
    found = search(link_of(5.2 * MILLION), 10 * MILLION, told.append)
    for name in LOSSES:
        assert found.bounds[name].low < 5.3 * MILLION
        assert found.bounds[name].low < found.bounds[name].high
    assert found.trials == told
    assert [each.asked for each in told][:2] == [10 * MILLION, 4 * MILLION]


def test_a_goal_that_no_load_keeps_to_has_no_lower_bound(monkeypatch):
    monkeypatch.setattr(mlr, "_package", lambda: made_package([1.0, 0.1]))
    found = search(link_of(5 * MILLION, drops=0.001), 10 * MILLION, lambda _: None)
    assert found.bounds[NDR].low is None
    assert found.bounds[PDR].low == pytest.approx(MILLION)


def test_a_search_that_does_not_end_says_so_and_keeps_its_trials(monkeypatch):
    monkeypatch.setattr(mlr, "_package", lambda: made_package([1.0, 0.5, 0.7], lasts=True))
    found = search(link_of(MILLION), 2 * MILLION, lambda _: None)
    assert "did not end in time; 3 trials were made" in found.why
    assert len(found.trials) == 3
    assert found.to_dict()["bounds"] == {}


def test_a_fault_of_a_trial_is_told_as_it_is_and_the_trials_before_are_kept(monkeypatch):
    monkeypatch.setattr(mlr, "_package", lambda: made_package([1.0, 0.5]))
    found = Search()

    def attempt(load, seconds):
        if found.trials:
            raise LabError("vpp2 is not running.")
        return link_of(MILLION)(load, seconds)

    with pytest.raises(LabError, match=r"vpp2 is not running\."):
        search(attempt, MILLION, lambda _: None, found)
    assert len(found.trials) == 1


def test_a_packet_that_is_counted_early_is_no_gain(monkeypatch):
    monkeypatch.setattr(mlr, "_package", lambda: made_package([1.0]))
    found = search(lambda *_: (100, 103), MILLION, lambda _: None)
    assert found.bounds[NDR].low == MILLION
    assert found.trials[0].loss == 0.0


def test_without_the_package_it_is_named_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "MLRsearch", None)
    with pytest.raises(NotAvailable, match="MLRsearch is not installed") as told:
        search(link_of(1.0), 1.0, lambda _: None)
    assert "pip install" in told.value.hint


@pytest.mark.parametrize(
    ("goal", "losses", "kept", "loss"),
    [
        (NDR, [0, 0], True, 0.0),
        (NDR, [0, 1], True, 0.0005),
        (NDR, [1, 1, 0], False, 0.002 / 3),
        (PDR, [5, 4], True, 0.0045),
        (PDR, [6, 6], False, 0.006),
    ],
)
def test_a_long_trial_is_kept_where_at_most_half_of_its_parts_lose_too_much(
    monkeypatch, goal, losses, kept, loss
):
    monkeypatch.delenv("LABS_PROFILE", raising=False)  # parts of a second
    left = iter(losses)
    passed = []
    found = confirm(
        lambda _load, _seconds: (1000, 1000 - next(left)),
        Bounds(goal, 1e3, 2e3, 1e3),
        len(losses),
        passed.append,
    )
    assert found.is_kept == kept
    assert found.loss == pytest.approx(loss)
    assert found.to_dict()["seconds"] == len(losses)
    assert passed == list(range(1, len(losses) + 1))


def test_without_a_lower_bound_there_is_nothing_to_confirm():
    assert confirm(link_of(1.0), Bounds(NDR, None, 1.0, None), 1.0) is None


@pytest.mark.parametrize(("sent", "received", "loss"), [(0, 0, 0.0), (10, 9, 0.1), (10, 11, 0.0)])
def test_a_loss_is_a_share_of_what_was_sent(sent, received, loss):
    assert Trial(1.0, 1.0, sent, received).loss == pytest.approx(loss)


def test_the_real_search_finds_what_a_link_takes(monkeypatch):
    pytest.importorskip("MLRsearch", reason="MLRsearch is not installed")
    monkeypatch.setenv("LABS_PROFILE", "ci")
    found = search(link_of(5 * MILLION), 10 * MILLION, lambda _: None)
    for name in LOSSES:
        bounds = found.bounds[name]
        assert bounds.low <= 5.03 * MILLION
        assert bounds.high >= 5 * MILLION
        assert bounds.low >= 0.9 * bounds.high
    assert found.bounds[NDR].low <= found.bounds[PDR].low


def test_a_link_that_always_loses_is_said_to(monkeypatch):
    pytest.importorskip("MLRsearch", reason="MLRsearch is not installed")
    monkeypatch.setenv("LABS_PROFILE", "ci")
    found = search(link_of(5 * MILLION, drops=0.01), 10 * MILLION, lambda _: None)
    assert found.bounds == {}
    assert found.why == "Packets are lost even at the least load that is tried, 10,000 a second."
    assert found.trials


def test_where_no_load_is_without_loss_pdr_is_found_all_the_same(monkeypatch):
    pytest.importorskip("MLRsearch", reason="MLRsearch is not installed")
    monkeypatch.setenv("LABS_PROFILE", "ci")
    found = search(link_of(5 * MILLION, drops=0.001), 10 * MILLION, lambda _: None)
    assert found.bounds[NDR].low is None
    assert 4.5 * MILLION <= found.bounds[PDR].low <= 5.03 * MILLION
    assert found.why == ""
