"""What is made of raw samples: percentiles, notes, the table."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.errors import LabError
from labs.traffic.floor import Floor
from labs.traffic.probe_run import ProbeRun

FLOOR = Floor(0.08, 0.1, 1.0, 1000, "an echo in the probe's own thread")


def made(latencies_us, *, lateness_us=0, gaps=(), interval_us=200.0, **changes):
    """Return a run with given latencies (None: lost), requests due every 200 µs from 1 s on."""
    due = 10**9 + (np.arange(len(latencies_us)) * interval_us * 1e3).astype(np.int64)
    got = [
        0 if each is None else when + round(each * 1e3) for each, when in zip(latencies_us, due, strict=True)
    ]
    gaps = np.array(gaps, np.int64).reshape(-1, 2)
    run = ProbeRun(
        "vpp2", "round trip", due, due + round(lateness_us * 1e3), np.array(got, np.int64), interval_us,
        gaps_ns=gaps, gap_count=len(gaps), gap_total_ns=int(gaps[:, 1].sum()),
    )  # fmt: skip
    return replace(run, **changes)


latencies = st.lists(st.none() | st.floats(0.1, 1e5), min_size=1, max_size=60)


@given(latencies)
def test_counts_add_up(values):
    run = made(values)
    lost = values.count(None)
    assert (run.planned, run.sent, run.lost, run.received) == (
        len(values),
        len(values),
        lost,
        len(values) - lost,
    )
    assert run.samples_us == pytest.approx([each for each in values if each is not None], abs=1e-3)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(0.1, 1e5), min_size=1, max_size=60))
def test_percentiles_rise_from_the_least_to_the_greatest(values):
    run = made(values)
    found = [run.percentile(q) for q in (0, 10, 50, 90, 99, 99.9, 100)]
    assert all(after >= before * 0.998 for before, after in pairwise(found))
    assert found[0] == pytest.approx(min(values), abs=1e-3)
    assert found[-1] == pytest.approx(max(values), abs=1e-3)
    assert (run.p50, run.p90, run.p99, run.p999) == tuple(found[2:6])


def test_uncorrected_counts_from_sending():
    run = made([10.0] * 20, lateness_us=4)
    assert run.p50 == pytest.approx(10, rel=1e-3)
    assert run.percentile(50, corrected=False) == pytest.approx(6, rel=1e-3)


spans = st.lists(st.tuples(st.integers(0, 12_000), st.integers(1, 900)), max_size=8)


@given(latencies, spans)
def test_disturbed_are_those_that_a_gap_falls_into(values, spans):
    at, gaps = 0, []
    for pause, length in spans:
        gaps.append((10**9 + (at + pause) * 1000, length * 1000))
        at += pause + length
    run = made(values, gaps=gaps)
    expected = [
        got > 0 and any(begin < got and begin + length > due for begin, length in gaps)
        for due, got in zip(run.due_ns, run.got_ns, strict=True)
    ]
    assert run.disturbed.tolist() == expected
    rest = run.undisturbed()
    assert rest.planned == len(values) - sum(expected)
    assert not rest.disturbed.any()
    assert rest.lost == run.lost


def test_a_good_run_has_no_notes():
    assert made([5.0] * 1000, floor=FLOOR).notes == []


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (made([5.0] * 100, gaps=[(10**9, 30_000)]), "did not run 1 times, 0.03 ms in all"),
        (made([500.0] * 100, lateness_us=300), "interval of 200 µs was not held: 100.0%"),
        (made([5.0, None]), "1 of 2 requests were not answered"),
        (made([5.0], twice=3), "3 replies came more than once"),
        (made([0.2] * 9, floor=FLOOR), "only 2.0 times the probe's own floor"),
        (made([5.0], ended="vpp2 is not running."), "vpp2 is not running."),
        (made([5.0, None], sent_ns=np.array([10**9, 0])), "1 of 2 requests were due and could not be sent"),
    ],
)
def test_what_speaks_against_the_figures_is_said(run, said):
    assert any(said in each for each in run.notes)
    assert said in str(run.summary())


def test_the_table():
    run = made(
        [2.0, 4.0, 1000.4, None], floor=FLOOR, where="vpp2 polling on core 0; the probe polls on core 1."
    )
    frame = run.summary().frame
    assert list(frame.index) == ["vpp2", "counted from sending", "the probe's own floor"]
    assert frame.loc["vpp2", "samples"] == 3
    assert frame.loc["vpp2", "lost"] == 1
    assert frame.loc["vpp2", "max (µs)"] == 1000
    assert np.isnan(frame.loc["the probe's own floor", "p99.9 (µs)"])
    text = str(run.summary())
    assert "Round trip, one each 200 µs, counted from when it was due" in text
    assert "the probe polls on core 1." in text
    assert "nan" not in text.lower()


def test_the_table_shows_what_is_left_without_our_own_gaps():
    run = made([9.0] * 50 + [900.0] + [9.0] * 49, gaps=[(10**9 + 50 * 200_000, 800_000)])
    frame = run.summary().frame
    assert frame.loc["vpp2", "max (µs)"] == 900
    assert frame.loc["while the probe ran undisturbed", "max (µs)"] == 9


def test_a_run_without_a_reply_still_has_a_table():
    run = made([None] * 3, ended="The link went down during the run.")
    assert run.summary().frame.loc["vpp2", "lost"] == 3
    assert "The link went down" in run.summary()._repr_html_()
    with pytest.raises(LabError, match=r"vpp2 answered none of 3 requests\. The link went down") as none:
        _ = run.p99
    assert none.value.hint


def test_a_run_of_nothing_has_a_table_too():
    empty = np.zeros(0, np.int64)
    run = made([1.0], due_ns=empty, sent_ns=empty, got_ns=empty)
    assert run.summary().frame.loc["vpp2", "samples"] == 0
    assert len(run.to_frame()) == 0


@pytest.mark.parametrize("q", [-1, 101])
def test_no_such_percentile(q):
    with pytest.raises(LabError, match="no percentile"):
        made([1.0]).percentile(q)


def test_text_for_the_page_is_escaped():
    page = made([1.0], where="<b>vpp2</b>").summary()._repr_html_()
    assert "<b>vpp2</b>" not in page
    assert "&lt;b&gt;vpp2" in page


def test_the_frame_has_a_row_for_each_request():
    frame = made([2.0, None, 4.0]).to_frame()
    assert frame["time (s)"].tolist() == pytest.approx([0, 200e-6, 400e-6])
    assert frame["latency (µs)"].isna().tolist() == [False, True, False]
