from __future__ import annotations

import pytest

from labs.course.verdict import Verdict
from labs.errors import LabError
from labs.experiments import Run
from labs.experiments.figures import figure

LAPTOP = {"cpu": "a laptop", "cores": [0, 1], "virtual": False, "kernel": "6.1"}
CLAIM = "sleeping costs time"


def a_run(wire=(3.0, 3.1, 3.2), machine=LAPTOP, engine="process", name="rx_mode", verdicts=()):
    made = Run(name, engine, {"data plane": "VPP 26.06"}, dict(machine), verdicts=list(verdicts))
    made.summary = {"polling": {"wire_p50_us": figure(wire).to_dict(), "sent": 3}, "ratio": 5.0}
    return made


def verdict_of(a, b):
    return a.beside(b).frame.loc[("polling", "wire_p50_us"), "B against A"]


def test_a_difference_is_told_with_its_factor():
    assert verdict_of(a_run(), a_run((30.0, 31.0, 32.0))) == "rose (x 10)"
    assert verdict_of(a_run((30.0, 31.0, 32.0)), a_run()) == "fell (x 0.1)"


def test_what_scatters_as_much_as_it_differs_is_noise():
    assert verdict_of(a_run((3.0, 5.0, 9.0)), a_run((6.0, 8.0, 12.0))) == "within the noise"
    assert verdict_of(a_run(), a_run()) == "within the noise"


def test_of_one_window_each_nothing_can_be_said():
    assert verdict_of(a_run((3.0,)), a_run((30.0,))) == "too few windows"


def test_both_figures_are_shown_with_their_spread():
    row = a_run().beside(a_run((30.0, 31.0, 32.0))).frame.loc[("polling", "wire_p50_us")]
    assert (row["A"], row["B"]) == ("3.1 (3 to 3.2)", "31 (30 to 32)")


def test_only_figures_with_a_spread_that_both_have_are_compared():
    b = a_run()
    b.summary["sleeping"] = b.summary["polling"]
    assert list(a_run().beside(b).frame.index) == [("polling", "wire_p50_us")]


def test_other_machines_and_engines_are_named():
    told = str(a_run().beside(a_run(machine={**LAPTOP, "cpu": "a server"}, engine="docker")))
    assert "different engines: process and docker" in told
    assert "The machines differ (cpu)" in told
    assert "a laptop, 2 cores" in told


def test_cores_read_from_a_file_are_the_same_cores():
    assert a_run().beside(a_run(machine={**LAPTOP, "cores": (0, 1)})).notes == ()


def test_a_verdict_that_only_one_shows_is_named():
    a = a_run(verdicts=[Verdict(CLAIM, passed=True)])
    b = a_run(verdicts=[Verdict(CLAIM, passed=False)])
    assert a.beside(b).notes == (f"Only A shows: {CLAIM}.",)
    assert b.beside(a).notes == (f"Only B shows: {CLAIM}.",)
    assert a.beside(a).notes == ()


def test_runs_of_two_experiments_are_refused():
    with pytest.raises(LabError, match="experiment rx_mode, the other of pinning"):
        a_run().beside(a_run(name="pinning"))


def test_runs_without_a_common_figure_are_refused():
    empty = a_run()
    empty.summary = {}
    with pytest.raises(LabError, match="no figure in common"):
        a_run().beside(empty)
    with pytest.raises(LabError, match="no figure in common"):
        a_run().beside(a_run((None,)))
