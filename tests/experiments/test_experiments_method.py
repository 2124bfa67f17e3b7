from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs import load_run
from labs.errors import LabError, NodeDied
from labs.experiments import Run, method
from labs.experiments.ending import judge_quality
from labs.experiments.figures import figure, outliers_in, windows_of
from labs.experiments.method import (
    Span,
    in_turn,
    measure_in_turn,
    plan,
)

USUAL = {"full": (2.0, 3), "ci": (1.0, 2), "shortest": 0.05}


@pytest.fixture(autouse=True)
def runs(monkeypatch, tmp_path):
    monkeypatch.setenv("LABS_RUNS", str(tmp_path))
    monkeypatch.delenv("LABS_PROFILE", raising=False)


def a_run():
    return Run("rx_mode", "process", {"data plane": "VPP"}, {})


def quality(run, **changes):
    values = {"seconds": 10.0, "stolen": 0.0, "fewest": 100, "nodes": 2, **changes}
    return [reason.what for reason in judge_quality(run, **values).reasons]


def test_the_profile_decides_where_nothing_was_asked(monkeypatch):
    assert vars(plan(None, None, **USUAL)) == {"seconds": 2.0, "rounds": 3}
    monkeypatch.setenv("LABS_PROFILE", "ci")
    assert vars(plan(None, None, **USUAL)) == {"seconds": 1.0, "rounds": 2}
    assert vars(plan(0.5, 7, **USUAL)) == {"seconds": 0.5, "rounds": 7}


@pytest.mark.parametrize(
    ("seconds", "rounds"),
    [(0, 1), (-1, 1), (0.04, 1), (float("nan"), 1), (float("inf"), 1), (1, 0), (1, -1), (1, 1.5)],
)
def test_a_plan_of_nothing_is_refused_with_one_that_works(seconds, rounds):
    with pytest.raises(LabError, match="Nothing can be measured") as told:
        plan(seconds, rounds, **USUAL)
    assert told.value.hint == "try seconds=2, rounds=3."


@given(st.lists(st.integers(), min_size=1, max_size=8, unique=True), st.integers(1, 6))
def test_every_setting_has_its_turn_in_every_round(settings, rounds):
    order = in_turn(settings, rounds)
    size = len(settings)
    for turn in range(rounds):
        part = order[turn * size : (turn + 1) * size]
        assert part == (settings[::-1] if turn % 2 else settings)
    assert set(Counter(order).values()) == {rounds}


def test_with_an_even_number_of_rounds_a_drift_falls_on_all_settings_alike():
    order = in_turn("abc", 4)
    assert {sum(at for at, each in enumerate(order) if each == name) for name in "abc"} == {22}


def test_windows_are_saved_one_by_one_and_told(tmp_path):
    run, told = a_run(), []
    measure_in_turn(
        run, "ab", 2, lambda name: {"name": name}, lambda done, window: told.append((done, window["name"]))
    )
    assert told == [(0.25, "a"), (0.5, "b"), (0.75, "b"), (1.0, "a")]
    (path,) = tmp_path.iterdir()
    assert [each["name"] for each in load_run(path).windows] == ["a", "b", "b", "a"]


def test_what_warms_up_is_not_kept():
    run, seen = a_run(), []
    measure_in_turn(run, "a", 1, lambda name: {"name": name}, lambda *_: None, warm_up=lambda: seen.append(1))
    assert seen == [1]
    assert len(run.windows) == 1


@pytest.mark.parametrize("end", [KeyboardInterrupt(), NodeDied("vpp2 is not running.", "start it again.")])
def test_what_was_measured_is_kept_when_it_ends_early(end, tmp_path):
    def window(name):
        if name == "c":
            raise end
        return {"name": name}

    with pytest.raises(LabError) as told:
        measure_in_turn(a_run(), "abc", 1, window, lambda *_: None)
    (path,) = tmp_path.iterdir()
    assert f"(2) are kept in {path}" in told.value.hint


def test_an_interrupt_in_the_warm_up_is_a_sentence_too():
    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(LabError, match="The run was interrupted"):
        measure_in_turn(a_run(), "a", 1, dict, lambda *_: None, warm_up=interrupt)


class Pinned:
    """A lab whose nodes are this process, and remember where they were put."""

    def __init__(self, **cores):
        self.nodes = {name: self.Node(at) for name, at in cores.items()}

    def __getitem__(self, name):
        return self.nodes[name]

    class Node:
        def __init__(self, cores):
            self.spec = SimpleNamespace(cores=cores)
            self.handle = SimpleNamespace(pid=os.getpid())
            self.dead = False

        def pin(self, cores):
            if self.dead:
                raise NodeDied("It is not running.")
            self.spec = SimpleNamespace(cores=cores)


def test_a_span_tells_what_each_node_did_and_how_busy_others_were():
    with Span(Pinned(a=())) as span:
        sum(range(10**5))
    assert [share.node for share in span.shares] == ["a"]
    assert span.others is None or span.others >= 0
    assert set(span.to_dict()) == {"scheduler", "others", "stolen"}


def test_what_this_process_did_itself_is_no_other_program(monkeypatch):
    monkeypatch.setattr(method, "busy_seconds", iter([10.0, 13.0]).__next__)
    monkeypatch.setattr(method, "stolen_seconds", iter([1.0, 1.5]).__next__)
    own = iter([5.0, 6.0])
    monkeypatch.setattr(method, "time", SimpleNamespace(process_time=own.__next__))
    share = SimpleNamespace(running=0.5, seconds=2.0)
    monkeypatch.setattr(method, "Watch", lambda _: FakeWatch((share, share)))
    with Span(Pinned()) as span:
        pass
    assert span.others == pytest.approx((3.0 - 2 * 1.0 - 1.0) / 2.0)
    assert span.stolen == 0.5


def test_a_kernel_that_does_not_tell_who_ran_blames_no_one(monkeypatch):
    share = SimpleNamespace(running=None, seconds=2.0)
    monkeypatch.setattr(method, "Watch", lambda _: FakeWatch((share,)))
    with Span(Pinned()) as span:
        pass
    assert span.others is None


class FakeWatch:
    def __init__(self, shares):
        self.evidence = SimpleNamespace(shares=shares)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def with_others(*others):
    return replace(a_run(), windows=[{"others": each} for each in others])


def test_the_windows_that_were_disturbed_are_named():
    told = quality(with_others(0.0, 0.9, 0.1, 0.0, 0.5, None))
    assert "Other programs were busy during windows 2 and 5 of 6." in told


def test_where_most_were_disturbed_the_run_was():
    told = quality(with_others(0.9, 0.9, 0.1))
    assert any("Other programs used 0.9 cores" in each for each in told)
    assert not any("during" in each and "windows" in each for each in told)


def test_quiet_windows_are_no_reason():
    assert not any("Other programs" in each for each in quality(with_others(0.0, 0.1, None)))


def test_outliers_are_named_and_many_are_counted():
    run = with_others(*[0.0] * 9)
    assert "Window 3 of 9 lies far from the others of its setting." in quality(run, outliers=[3])
    assert "Windows 1, 2 and 9 of 9 lie far from the others of their setting." in quality(
        run, outliers=[9, 2, 1, 2]
    )
    assert "6 windows of 9 lie far from the others of their setting." in quality(run, outliers=range(1, 7))


def test_outliers_are_numbered_as_in_the_run():
    windows = [{"name": name} for name in "abababab"]
    numbers = windows_of(windows, lambda window: window["name"], "b")
    assert numbers == [2, 4, 6, 8]
    assert outliers_in([(numbers, figure([1.0, 1.0, 50.0, 1.01])), (numbers, figure([1.0] * 4))]) == [6]
