from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from made_up import bench

from labs.bench.recording import Recording
from labs.bench.report import recording_page, run_page, to_html
from labs.bench.report_lines import MOST_POINTS, plots, window_plots
from labs.bench.tables import Column, Mark, Table
from labs.course.verdict import Verdict
from labs.errors import LabError
from labs.experiments.run import Run
from labs.quality import Quality, Reason

EMPTY_ELEMENTS = {"meta", "br", "rect", "line", "path", "circle", "input"}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'"


class Page(HTMLParser):
    """Collects a page's words, its addresses and its scripts, and checks that its elements are closed."""

    def __init__(self, text):
        super().__init__()
        self.words, self.addresses, self.scripts, self.open = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        if tag not in EMPTY_ELEMENTS:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append(dict(attrs).get("type"))
        self.addresses += [value for name, value in attrs if name in {"src", "href", "srcset", "action"}]
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.words.append(data)

    @property
    def said(self):
        return " ".join(" ".join(self.words).split())


def a_run(**changes):
    values = {"name": "pinning", "engine": "process", "versions": {"data plane": "VPP 26.06"}}
    windows = [{"state": state, "times_ms": [1.0, 2.0, 3.0]} for state in ("same", "apart")]
    summary = {"same": {"p50_ms": 7.1, "taken_away_per_s": None}, "same_over_apart": 83.2}
    verdicts = [Verdict("a claim", passed=True), Verdict("another", passed=False, because="it took 3 times")]
    rest = {"machine": {"cpu": "a processor"}, "windows": windows, "summary": summary, "complete": True}
    return Run(**{**values, **rest, "verdicts": verdicts, **changes})


def test_a_report_says_what_where_how_far_to_trust_it_and_how():
    said = Page(recording_page(bench())).said
    for words in (
        "vpp v26.06-release",
        "quality fair",
        "This is a virtual machine. Its host may run something else at any time.",
        "taskset -cp 0 4711 taskset -cp 0 4712",
        "2. pinning: all nodes on one core",
        "ring size 1024 descriptors",
        "cores asked vpp2 1",
        "processor a processor",
        "virtual machine yes",
        "probe p50",
        "8.0",
    ):
        assert words in said, words


def test_the_medians_of_a_stretch_are_of_that_stretch():
    said = Page(recording_page(bench())).said
    rows = re.findall(r"(\d\. [a-zA-Z :]+) \d+ to \d+ s ([\d.]+ [µm]s)", said)
    assert [name for name, _ in rows] == [
        "1. traffic on",
        "2. pinning: all nodes on one core",
        "3. kept as A",
        "4. pinning: a core each",
    ]
    assert [figure[-2:] for _, figure in rows] == ["µs", "ms", "ms", "µs"]


@pytest.mark.parametrize("page", [recording_page(bench()), run_page(a_run()), recording_page(Recording())])
def test_a_page_asks_for_nothing_and_runs_only_its_own_scripts(page):
    read = Page(page)
    assert read.addresses == []
    assert read.scripts in (["application/json", None, None], [])
    assert "default-src 'none'" in page


def test_nothing_that_was_recorded_can_become_markup():
    recording = bench()
    recording.facts = {HOSTILE: HOSTILE, "machine": {HOSTILE: [HOSTILE]}, "data plane": HOSTILE}
    recording.marks = [Mark(10.0, HOSTILE, (HOSTILE,))]
    recording.quality = Quality((Reason(HOSTILE, HOSTILE),))
    old = recording.tables["cpu"]
    columns = (Column(f"{HOSTILE}_runs", HOSTILE, HOSTILE), *old.columns[1:])
    recording.tables["cpu"] = Table("cpu", columns, old.times, old.values)
    for page in (recording_page(recording, HOSTILE), run_page(a_run(name=HOSTILE, recording=recording))):
        read = Page(page)
        assert read.scripts == ["application/json", None, None]
        assert "alert(1)" in read.said


def test_a_report_of_nothing_says_no_more_than_it_knows():
    said = Page(recording_page(Recording())).said
    assert "Nothing speaks against these numbers." in said
    assert "Medians" not in said


def test_a_gap_stays_a_gap_and_a_pause_becomes_one():
    times = np.array([0.0, 0.25, 0.5, 9.0, 9.25])
    values = np.array([1, np.nan, 2, 3, 4], np.float32)[:, None]
    recording = Recording(tables={"probe": Table("probe", (Column("probe_p50", "", ""),), times, values)})
    shown = plots(recording)["tables"]["probe"]
    assert shown["columns"]["probe_p50"] == [1, None, 2, None, 3, 4]
    assert 0.5 < shown["t"][3] < 9


def test_a_long_run_is_thinned_and_keeps_its_peak():
    times = np.arange(72_000) / 20
    values = np.ones((72_000, 1), np.float32)
    values[31_234] = 99_000
    recording = Recording(tables={"probe": Table("probe", (Column("probe_p50", "", ""),), times, values)})
    shown = plots(recording)["tables"]["probe"]["columns"]["probe_p50"]
    assert len(shown) <= MOST_POINTS + 4
    assert max(shown) == 99_000


def test_every_line_of_the_plots_has_its_samples():
    spec = plots(bench())
    json.dumps(spec, allow_nan=False)
    assert [panel["title"].split(",")[0] for panel in spec["panels"]] == [
        "Round trip",
        "Packets",
        "Processor time",
    ]
    for panel in spec["panels"]:
        for line in panel["lines"]:
            values = spec["tables"][line["table"]]["columns"][line["column"]]
            assert len(values) == len(spec["tables"][line["table"]]["t"])
            assert any(value is not None for value in values)


def test_two_lines_of_one_panel_never_look_the_same():
    for panel in plots(bench())["panels"]:
        looks = [(line["colour"], line["dash"], line["symbol"]) for line in panel["lines"]]
        assert len(set(looks)) == len(looks)


def test_a_run_is_told_with_verdicts_summary_and_windows():
    said = Page(run_page(a_run())).said
    for words in (
        "✓ holds a claim",
        "✗ does not hold another (it took 3 times)",
        "p50, ms 7.1",
        "taken away, a second n/a",
        "same over apart: 83.2",
        "What each window measured",
        "with 2 windows",
    ):
        assert words in said, words


def test_a_run_with_a_recording_shows_that_instead_of_its_windows():
    said = Page(run_page(a_run(recording=bench()))).said
    assert "What was measured" in said
    assert "What each window measured" not in said
    assert "Turns and commands" in said


def test_a_run_that_was_cut_short_says_so_and_one_without_windows_has_no_plots():
    said = Page(run_page(a_run(complete=False, windows=[], summary={}, verdicts=[]))).said
    assert "0 windows, and was cut short" in said
    assert "What each window" not in said


@pytest.mark.parametrize("windows", [[], [{}], [{"times_ms": []}], [{"state": "x"}]])
def test_windows_without_times_have_no_plots(windows):
    assert window_plots(windows) == {}


def test_windows_stand_in_the_order_of_measuring():
    states = ("same", "apart", "same")
    spec = window_plots([{"state": each, "times_ms": [float(n)]} for n, each in enumerate(states, 1)])
    same = spec["tables"]["same"]
    assert [round(x) for x in same["t"]] == [1, 3]
    assert same["columns"]["time"] == [1000.0, 3000.0]


def test_a_report_that_cannot_be_written_is_a_sentence(tmp_path):
    with pytest.raises(LabError, match="The report could not be saved"):
        to_html(bench(2), tmp_path)
