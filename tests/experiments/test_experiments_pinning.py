from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from long_tests import LONG

from labs import load_run, two_vpps
from labs.errors import LabError, NodeDied
from labs.experiments import method
from labs.experiments import pinning as experiment
from labs.experiments.pinning import SLOWER, judge, pinning, summarise
from labs.kernel import allowed_cores
from labs.ping import Ping
from labs.placement import STATES, Placed
from labs.topology import NodeSpec
from labs.views import LabView

two_cores = pytest.mark.skipif(len(allowed_cores()) < 2, reason="this session may use one core only")

# What one CPU shows where both nodes poll: see the issue's own figures.
FIGURES = {
    "same": {"times_ms": [7.4, 7.6, 8.0], "running": 0.5, "waiting": 0.5, "wait_ms": 4.0},
    "apart": {"times_ms": [0.08, 0.08, 0.09], "running": 0.99, "waiting": 0.01, "wait_ms": 0.5},
    "free": {"times_ms": [0.06, 0.06], "running": 0.99, "waiting": 0.01, "wait_ms": 0.5},
}


def window(state, **changes):
    values = {**FIGURES[state], **changes}
    share = {name: values[name] for name in ("running", "waiting", "wait_ms")} | {"involuntary": 3.0}
    times = values["times_ms"]
    return {"state": state, "sent": 3, "times_ms": times, "scheduler": [share, share], "others": 0.2}


def judged(*windows):
    return judge(summarise(list(windows)))


def test_figures_as_measured_by_hand_pass_every_verdict():
    verdicts = judged(*(window(state) for state in STATES))
    assert len(verdicts) == 5
    assert all(verdict.passed for verdict in verdicts), [str(each) for each in verdicts]


@pytest.mark.parametrize(
    ("changes", "number", "because"),
    [
        ({"same": {"times_ms": [1.0], "wait_ms": 0.5}}, 0, "12.5 times"),
        ({"same": {"waiting": 0.1}}, 1, "10 %"),
        ({"same": {"wait_ms": 0.4}}, 2, "one wait took 0.4 ms, a ping 7.6 ms"),
        ({"apart": {"waiting": 0.4}}, 3, "40 % of the time against 50 %"),
        ({"apart": {"running": 0.3}}, 4, "30 %"),
    ],
)
def test_a_relation_that_does_not_hold_fails_alone_with_its_figures(changes, number, because):
    verdicts = judged(*(window(state, **changes.get(state, {})) for state in STATES))
    assert [verdict.passed for verdict in verdicts] == [index != number for index in range(5)]
    assert because in verdicts[number].because


def test_exactly_twenty_times_holds():
    assert SLOWER == 20
    verdicts = judged(
        window("same", times_ms=[20.0]), window("apart", times_ms=[1.0]), window("free", times_ms=[1.0])
    )
    assert verdicts[0].passed


@pytest.mark.parametrize("missing", [("same",), ("apart",), ("same", "apart"), tuple(STATES)])
def test_without_an_answered_ping_nothing_is_claimed(missing):
    verdicts = judged(*(window(state, **({"times_ms": []} if state in missing else {})) for state in STATES))
    assert not verdicts[0].passed
    assert verdicts[0].because == "no ping was answered"
    assert all(str(verdict) for verdict in verdicts)


def test_a_kernel_without_schedstat_leaves_the_verdict_about_the_ping():
    blind = {"running": None, "waiting": None, "wait_ms": None}
    verdicts = judged(*(window(state, **blind) for state in STATES))
    assert len(verdicts) == 1
    assert verdicts[0].passed


def test_nodes_that_never_gave_the_core_back_have_no_mean_wait():
    verdicts = judged(*(window(state, wait_ms=None) for state in STATES))
    assert not verdicts[2].passed
    assert "an unknown time" in verdicts[2].because


def test_without_a_window_there_are_no_figures_and_no_claim_holds():
    summary = summarise([])
    assert summary["same_over_apart"] is None
    assert all(summary[state]["p50_ms"] is None and summary[state]["sent"] == 0 for state in STATES)
    assert not any(verdict.passed for verdict in judge(summary))


def test_the_ratio_is_of_the_medians_of_the_windows_medians():
    windows = [window("same", times_ms=[t]) for t in (1.0, 6.0, 50.0)]
    windows += [window("apart", times_ms=[t]) for t in (0.1, 0.2, 0.9)]
    summary = summarise(windows)
    assert summary["same"]["p50_ms"] == 6.0
    assert (summary["same"]["p50_lowest_ms"], summary["same"]["p50_highest_ms"]) == (1.0, 50.0)
    assert summary["same_over_apart"] == pytest.approx(30.0)


some = st.none() | st.floats(0, 100)


@given(
    st.lists(
        st.builds(
            window,
            st.sampled_from(list(STATES)),
            times_ms=st.lists(st.floats(0, 1000), max_size=3),
            running=some,
            waiting=some,
            wait_ms=some,
        ),
        max_size=6,
    )
)
def test_any_windows_can_be_summed_up_judged_and_told(windows):
    summary = summarise(windows)
    for verdict in judge(summary):
        assert verdict.claim in str(verdict)
        assert not any(character.isdigit() for character in verdict.claim)


@dataclass
class FakeLab:
    """A lab whose pings are made up, and whose nodes are this process."""

    pings: list
    engine: str = "process"
    version: str = "VPP"
    placed: list = field(default_factory=list)
    nodes: dict = field(init=False)

    def __post_init__(self):
        self.nodes = {name: FakeNode(NodeSpec(name, (5,))) for name in ("vpp1", "vpp2")}

    def __getitem__(self, name):
        return self.nodes[name]

    def view(self):
        return LabView(f"{self.version}, engine {self.engine}", ())

    def place(self, state):
        self.placed.append(state)
        for node in self.nodes.values():
            node.pin((len(self.placed),))
        return Placed({"vpp1": (0,)}, {"vpp1": (0,)}, [f"taskset {state}"])

    def ping(self, source, target, count, interval):
        assert count * interval > 0
        what = self.pings.pop(0)
        if isinstance(what, BaseException):
            raise what
        return Ping(source, target, "10.10.2.2", count, np.arange(1, len(what) + 1), np.array(what, float))


class FakeNode:
    def __init__(self, spec):
        self.spec = spec
        self.handle = SimpleNamespace(pid=os.getpid())

    def pin(self, cores):
        self.spec = replace(self.spec, cores=cores)


@pytest.fixture(autouse=True)
def quick(monkeypatch, tmp_path):
    monkeypatch.setattr(experiment, "_SETTLE", 0.0)
    monkeypatch.setattr(experiment, "allowed_cores", lambda: (0, 1))
    monkeypatch.setenv("LABS_RUNS", str(tmp_path))


def test_placements_take_turns_forwards_and_backwards():
    lab = FakeLab([[1.0]] * 9)
    run = pinning(lab, 1.0, 3)
    assert lab.placed == [*sorted(STATES), *sorted(STATES, reverse=True), *sorted(STATES)]
    assert len(run.windows) == 9
    assert run.complete
    assert load_run(run.path).complete


def test_progress_is_told_to_the_end():
    told = []
    pinning(FakeLab([[1.0]] * 3), 1.0, 1, lambda done, what: told.append((done, what)))
    assert [done for done, _ in told] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert all("p50 1 ms" in what for _, what in told)


def test_a_run_without_an_answer_ends_in_verdicts_that_do_not_hold():
    run = pinning(FakeLab([[]] * 3), 1.0, 1)
    assert run.complete
    assert not run.passed
    assert "n/a" in run.table().to_string()


def test_the_ci_profile_makes_it_short(monkeypatch):
    monkeypatch.setenv("LABS_PROFILE", "ci")
    assert len(pinning(FakeLab([[1.0]] * 6)).windows) == 6
    monkeypatch.delenv("LABS_PROFILE")
    assert len(pinning(FakeLab([[1.0]] * 9)).windows) == 9


@pytest.mark.parametrize("end", [KeyboardInterrupt(), NodeDied("vpp2 is not running.", "start it again.")])
def test_a_run_that_is_cut_short_says_where_its_windows_are(end, tmp_path):
    lab = FakeLab([[1.0], [2.0], end])
    with pytest.raises(LabError) as told:
        pinning(lab, 1.0, 1)
    (path,) = tmp_path.iterdir()
    assert f"(2) are kept in {path}" in told.value.hint
    kept = load_run(path)
    assert [each["times_ms"] for each in kept.windows] == [[1.0], [2.0]]
    assert not kept.passed


@pytest.mark.parametrize("pings", [[[1.0]] * 3, [[1.0], KeyboardInterrupt()]])
def test_the_nodes_are_back_where_they_were_however_it_ends(pings):
    lab = FakeLab(list(pings))
    try:
        pinning(lab, 1.0, 1)
    except LabError:
        assert len(pings) == 2
    assert [node.spec.cores for node in lab.nodes.values()] == [(5,), (5,)]


def test_it_records_what_it_measured_with_a_mark_at_each_turn():
    run = pinning(FakeLab([[1.0] * 20, [2.0] * 20, [3.0] * 20]), 1.0, 1)
    recording = load_run(run.path).recording
    assert recording == run.recording
    assert [mark.label for mark in recording.marks] == [STATES[state] for state in sorted(STATES)]
    assert [mark.commands for mark in recording.marks] == [(f"taskset {state}",) for state in sorted(STATES)]
    pings = recording.tables["ping"].column("ping_p50")
    assert pings[~np.isnan(pings)].tolist() == [1000.0] * 2 + [2000.0] * 2 + [3000.0] * 2
    assert {column.name for column in recording.tables["cpu"].columns} == {
        f"{node}_{what}" for node in ("vpp1", "vpp2") for what in ("runs", "waits")
    }
    assert recording.quality == run.quality
    assert "engine process" in recording.picture


def test_pings_that_were_lost_are_recorded_as_lost_in_their_burst():
    run = pinning(FakeLab([[1.0] * 10, [], [2.0] * 20]), 1.0, 1)
    lost = run.recording.tables["ping"].column("ping_lost")
    assert lost[~np.isnan(lost)].tolist() == [0, 100, 100, 100, 0, 0]


def test_a_run_that_is_cut_short_keeps_its_recording(tmp_path):
    with pytest.raises(LabError):
        pinning(FakeLab([[1.0] * 20, KeyboardInterrupt()]), 1.0, 1)
    (path,) = tmp_path.iterdir()
    assert len(load_run(path).recording.tables["ping"]) == 3


def test_a_kernel_that_does_not_tell_who_ran_blames_no_one_else(monkeypatch):
    real = method.Watch

    class Blind(real):
        def __exit__(self, *args):
            super().__exit__(*args)
            shares = (replace(share, running=None) for share in self.evidence.shares)
            self.evidence = replace(self.evidence, shares=tuple(shares))

    monkeypatch.setattr(method, "Watch", Blind)
    run = pinning(FakeLab([[1.0]] * 3), 1.0, 1)
    assert all(each["others"] is None for each in run.windows)
    assert "Other programs" not in str(run.quality)


def test_on_one_core_it_is_refused_with_the_core(monkeypatch):
    monkeypatch.setattr(experiment, "allowed_cores", lambda: (3,))
    with pytest.raises(LabError, match=r"needs two cores, and this session may use one \(3\)"):
        pinning(FakeLab([]))


def test_with_one_node_it_is_refused():
    lab = FakeLab([])
    del lab.nodes["vpp2"]
    with pytest.raises(LabError, match="needs two nodes"):
        pinning(lab)


@pytest.mark.parametrize(
    ("seconds", "rounds"), [(0, 1), (-1, 1), (float("nan"), 1), (1, 0), (1, -1), (1, 1.5)]
)
def test_a_run_of_nothing_is_refused(seconds, rounds):
    with pytest.raises(LabError, match="Nothing can be measured"):
        pinning(FakeLab([]), seconds, rounds)


@two_cores
def test_one_core_is_at_least_twenty_times_slower_and_waiting_explains_it(engine, monkeypatch):
    if not LONG:
        pytest.skip("notebook 03 runs it on each engine; LABS_LONG_TESTS=1 runs this, too")
    monkeypatch.setattr(experiment, "_SETTLE", 0.2)
    lab = two_vpps("pinning", engine=engine)
    lab.start()
    try:
        runs = [pinning(lab, 2.0, 3)]
        if not runs[0].passed:  # someone may have come in between
            runs.append(pinning(lab, 2.0, 3))
    finally:
        lab.stop()
    for each in (window for run in runs for window in run.windows):
        free = {name: cores or list(allowed_cores()) for name, cores in each["cores asked"].items()}
        assert each["cores read back"] == free
    if all(is_disturbed(run) for run in runs):
        used = next(reason.what for reason in runs[-1].quality.reasons if "Other programs" in reason.what)
        pytest.skip(f"no placement can show here now. {used}")
    assert runs[-1].verdicts[0].passed, f"{runs[-1].verdicts[0]}\n{runs[-1].quality}"
    assert runs[-1].summary["same"]["waiting"] > runs[-1].summary["apart"]["waiting"]


def is_disturbed(run):
    """Return whether the relation does not show in a run, and others used a good part of its cores."""
    return not run.passed and any("Other programs used" in reason.what for reason in run.quality.reasons)
