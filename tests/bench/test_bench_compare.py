from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.bench.compare import FELL, FEW, NOISE, ROSE, compare, statistics
from labs.bench.recording import Recording
from labs.bench.settings import differences
from labs.bench.spread import differ, spread, windows
from labs.bench.tables import Column, Mark, Table

BASE = {"probe_p50": 17.0, "received": 2.0, "vpp1_waits": 3.0}


def wander(rng, count, alike):
    """Return noise of which each value resembles the one before."""
    noise = rng.normal(size=count)
    for number in range(1, count):
        noise[number] = alike * noise[number - 1] + np.sqrt(1 - alike**2) * noise[number]
    return noise


def table(name, columns, rate, seconds, rng, *, spread=0.1, alike=0.3):
    times = np.arange(0, seconds, 1 / rate)
    made = [middle * np.exp(spread * wander(rng, len(times), alike)) for middle in columns.values()]
    cols = tuple(Column(column, column, "") for column in columns)
    return Table(name, cols, times, np.array(made, np.float32).T.reshape(len(times), len(cols)))


def run(seed, seconds=20.0, facts=None, *, noise=0.1, alike=0.3, **changed):
    rng = np.random.default_rng(seed)
    at = {**BASE, "probe_p99": 30.0, "ping_p50": 80.0, "lost": 0.0, "vpp1_runs": 90.0, **changed}
    tables = [
        ("probe", ("probe_p50", "probe_p99"), 4),
        ("ping", ("ping_p50",), 1),
        ("traffic", ("received", "lost"), 20),
        ("cpu", ("vpp1_runs", "vpp1_waits"), 4),
    ]
    made = {
        name: table(name, {c: at[c] for c in columns}, rate, seconds, rng, spread=noise, alike=alike)
        for name, columns, rate in tables
    }
    return Recording(facts or {}, made)


@pytest.mark.parametrize("alike", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("seconds", [6.0, 9.0, 30.0])
def test_equal_noise_is_within_the_noise(seconds, alike):
    said = [
        compare(run(seed, seconds, alike=alike), run(seed + 1000, seconds, alike=alike)).sentence()
        for seed in range(60)
    ]
    assert sum("alike within the noise" in each for each in said) >= 0.95 * len(said)


@pytest.mark.parametrize("noise", [0.02, 0.3])
def test_more_or_less_noise_at_the_same_middle_is_no_difference(noise):
    said = [
        compare(run(seed, 30, noise=noise), run(seed + 1, 30, noise=noise)).sentence() for seed in range(60)
    ]
    assert sum("alike within the noise" in each for each in said) >= 0.95 * len(said)


@pytest.mark.parametrize("seconds", [6.0, 8.0, 12.0, 40.0])
@pytest.mark.parametrize(
    ("name", "value", "verdict"),
    [
        ("probe_p50", 8000.0, ROSE),
        ("probe_p99", 3.0, FELL),
        ("ping_p50", 400.0, ROSE),
        ("received", 1.0, FELL),
        ("lost", 0.8, ROSE),
        ("vpp1_waits", 49.0, ROSE),
    ],
)
def test_a_known_shift_is_found_and_nothing_else(seconds, name, value, verdict):
    found = [compare(run(seed, seconds), run(seed + 500, seconds, **{name: value})) for seed in range(20)]
    assert all(each[name].verdict == verdict for each in found)
    others = [metric for each in found for metric in each.metrics if metric.name != name]
    assert sum(metric.verdict == NOISE for metric in others) >= 0.99 * len(others)


def test_a_small_shift_is_found_in_time():
    found = [
        compare(run(seed, 60, noise=0.03), run(seed + 500, 60, noise=0.03, received=1.8))
        for seed in range(20)
    ]
    assert all(each["received"].verdict == FELL for each in found)


def test_a_shift_that_is_smaller_than_links_wander_is_none_however_sure():
    found = compare(run(1, 60, noise=0.001), run(2, 60, noise=0.001, received=2.06, probe_p50=17.5))
    assert {metric.verdict for metric in found.metrics} == {NOISE}


@pytest.mark.parametrize(("a", "b"), [(2, 30), (30, 2), (1, 1), (0, 0)])
def test_too_few_windows_are_said_to_be_too_few(a, b):
    found = compare(run(1, a), run(2, b, probe_p50=8000.0))
    assert all(metric.verdict == FEW for metric in found.metrics)
    assert found.sentence() == (
        f"It is too early to compare: A has {a} and B has {b} windows of 1 s, and each needs 5."
    )


def test_with_few_windows_only_a_great_change_is_one():
    few = compare(run(1, 6, noise=0.001), run(2, 6, noise=0.001, received=1.7))
    many = compare(run(1, 9, noise=0.001), run(2, 9, noise=0.001, received=1.7))
    assert (few["received"].verdict, many["received"].verdict) == (NOISE, FELL)


def test_a_run_without_any_figure_is_too_early():
    assert "A has 0 and B has 0 windows" in compare(Recording(), Recording()).sentence()
    assert compare(Recording(), Recording()).table().empty


def test_a_drift_is_no_difference_between_its_halves_by_itself():
    rng = np.random.default_rng(3)
    wrong = sum(differ(*np.split(100 + wander(rng, 60, 0.95), 2)) for _ in range(200))
    assert wrong <= 10


def test_one_wild_window_hides_no_great_change():
    a, b = np.full(6, 17.0), np.full(6, 8000.0)
    b[2] = 90_000.0
    assert differ(a + np.arange(6) / 10, b + np.arange(6))


def test_windows_are_medians_of_whole_seconds_and_gaps_are_none():
    times = np.arange(0, 4.6, 0.5)
    values = np.array([1, 3, np.nan, np.nan, 5, 5, 7, 90, 9, 9], np.float32)
    t = Table("t", (Column("c", "c", ""),), times, values[:, None])
    assert windows(t, "c").tolist() == [2.0, 5.0, 48.5, 9.0]
    assert spread(windows(t, "c")).low == 2.0
    assert windows(t, "no such column").tolist() == []


def test_statistics_know_every_column():
    found = statistics(run(1))
    assert set(found) >= set(BASE)
    assert found["received"].low < found["received"].median < found["received"].high


def test_the_sentence_says_what_was_set_and_what_came_of_it():
    a = run(1, facts={"pinning": "apart", "machine": {"cpu": 1}})
    b = run(2, facts={"pinning": "same", "machine": {"cpu": 2}}, probe_p50=8000.0, received=0.84)
    sentence = compare(a, b).sentence()
    assert sentence.startswith(
        "With pinning all nodes on one core instead of a core each, the round trip by our probe rose from"
    )
    assert "µs to" in sentence
    assert "(a factor of" in sentence
    assert "the rate received fell from" in sentence
    assert "(-5" in sentence
    assert sentence.count(".\n") == 0
    assert sentence.endswith(".")


def test_a_setting_without_effect_is_named_with_the_noise():
    a, b = run(1, facts={"ring size": 1024}), run(2, facts={"ring size": 2048})
    assert compare(a, b).sentence() == (
        "With ring size 2048 descriptors instead of 1024 descriptors, every difference is within the noise "
        "(20 and 20 windows of 1 s)."
    )


def test_with_the_same_settings_a_new_mark_is_the_cause():
    a, b = run(1), run(2)
    a.marks, b.marks = [Mark(1, "traffic on")], [Mark(1, "traffic on"), Mark(2, "vpp1 started anew")]
    assert differences(a, b) == "after “vpp1 started anew”"
    assert differences(a, a) == ""


def test_of_many_settings_three_are_named():
    a = Recording({str(number): 1 for number in range(6)})
    b = Recording({str(number): 2 for number in range(6)})
    assert differences(a, b).endswith("and 3 more settings changed")


def test_a_probe_that_is_answered_no_more_is_told_by_its_losses():
    a, b = run(1), run(2)
    for each, lost in ((a, 0.0), (b, 100.0)):
        old = each.tables["probe"]
        values = np.column_stack([old.values, np.full(len(old), lost, np.float32)])
        if lost:
            values[:, :2] = np.nan
        columns = (*old.columns, Column("probe_lost", "lost", "%"))
        each.tables["probe"] = Table("probe", columns, old.times, values)
    found = compare(a, b)
    assert found["probe_p50"].verdict == FEW
    assert found.sentence() == "The share of probes lost rose from 0 % to 100 %."


def test_the_table_shows_both_runs_with_their_spread():
    shown = compare(run(1), run(2, probe_p50=8000.0)).table()
    assert shown.loc["the round trip by our probe", "B against A"] == ROSE
    assert "20 windows" in shown.loc["the round trip by our probe", "A"]


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-1e6, 1e6, width=32)), min_size=1, max_size=40))
def test_a_window_s_figure_is_the_median_of_its_samples(samples):
    samples = [(0, 0.0), *sorted(samples), (6, 0.0)]
    times = np.array([second + 0.01 * n for n, (second, _) in enumerate(samples)])
    values = np.array([[value] for _, value in samples], np.float32)
    found = windows(Table("t", (Column("c", "c", ""),), times, values), "c")
    seconds = sorted({second for second, _ in samples} - {6})
    expected = [np.median([value for second, value in samples if second == each]) for each in seconds]
    assert found == pytest.approx(expected)
