from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs import load_run
from labs.bench.recording import Recording
from labs.bench.tables import Column, Mark, Table
from labs.course.verdict import Verdict
from labs.errors import CliError, LabError, NodeDied
from labs.experiments import Run
from labs.experiments.run import runs_dir
from labs.quality import Quality, Reason

words = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
numbers = st.none() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
leaves = numbers | words | st.booleans()
data = st.dictionaries(words, leaves | st.lists(leaves, max_size=4), max_size=4)
groups = st.dictionaries(words, st.dictionaries(words, numbers, max_size=3) | numbers, max_size=4)
claims = st.text(st.characters(whitelist_categories=["Ll", "Zs"]), min_size=1).filter(str.strip)


@pytest.fixture(autouse=True)
def runs(monkeypatch, tmp_path):
    monkeypatch.setenv("LABS_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def a_run(**changes):
    values = {"name": "pinning", "engine": "process", "versions": {"data plane": "VPP"}, "machine": {}}
    return Run(**{**values, **changes})


@given(
    st.lists(data, max_size=4),
    groups,
    st.lists(st.builds(Reason, words, words), max_size=3),
    st.lists(st.builds(Verdict, claims, st.booleans()), max_size=3),
    st.booleans(),
)
def test_what_is_saved_is_read_back(windows, summary, reasons, verdicts, complete):
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as place:
        patch.setenv("LABS_RUNS", place)
        run = a_run(
            windows=windows,
            summary=summary,
            quality=Quality(tuple(reasons)),
            verdicts=verdicts,
            complete=complete,
        )
        path = run.save()
        again = load_run(path)
        assert again == run
        assert again.path == path
        assert again.passed == run.passed


@given(groups)
def test_any_summary_can_be_shown(summary):
    run = a_run(summary=summary)
    assert set(run.table().columns) == {name for name, value in summary.items() if isinstance(value, dict)}


def test_a_figure_that_is_missing_is_shown_as_such():
    table = a_run(summary={"same": {"p50_ms": None, "sent": 3}, "ratio": None}).table()
    assert table.loc["p50_ms", "same"] == "n/a"
    assert table.loc["sent", "same"] == "3"


def test_every_window_is_on_disk_at_once(runs):
    run = a_run()
    for number in range(3):
        run.add({"state": "same", "times_ms": [float(number)]})
        (file,) = runs.iterdir()
        assert load_run(file).windows == run.windows
    assert not load_run(file).complete


def test_two_runs_of_one_second_have_a_file_each(runs):
    paths = {a_run(started="2026-01-01T00:00:00Z").save() for _ in range(3)}
    assert len(paths) == 3
    assert set(runs.iterdir()) == paths


def test_saving_again_keeps_the_file(runs):
    run = a_run()
    assert run.save() == run.save()
    assert list(runs.iterdir()) == [run.path]


def test_a_run_that_was_cut_short_has_not_passed():
    assert not a_run(verdicts=[Verdict("it holds", passed=True)]).passed
    assert a_run(complete=True, verdicts=[Verdict("it holds", passed=True)]).passed
    assert not a_run(complete=True, verdicts=[Verdict("it holds", passed=False)]).passed


def test_an_interrupt_says_how_many_windows_are_kept_and_where():
    run = a_run()

    def measure():
        with run.keeping():
            run.add({"state": "same"})
            run.add({"state": "apart"})
            raise KeyboardInterrupt

    with pytest.raises(LabError, match="The run was interrupted") as told:
        measure()
    assert told.value.hint == f"the windows measured so far (2) are kept in {run.path}."
    assert len(load_run(run.path).windows) == 2


def test_before_the_first_window_nothing_is_promised(runs):
    def measure():
        with a_run().keeping():
            raise KeyboardInterrupt

    with pytest.raises(LabError) as told:
        measure()
    assert told.value.hint == "no window of it had been saved yet."
    assert not runs.exists()


def test_a_node_that_died_is_still_told_of():
    run = a_run()

    def measure():
        with run.keeping():
            run.add({})
            raise NodeDied("vpp2 is not running.", "start it again.")

    with pytest.raises(NodeDied, match=r"vpp2 is not running\.") as told:
        measure()
    assert told.value.hint.startswith("start it again. the windows measured so far (1) are kept in ")


def test_a_line_that_vpp_refused_keeps_its_underline():
    def measure():
        with a_run().keeping():
            raise CliError("VPP refused this line: no.", statement="ping nowhere", at=5)

    with pytest.raises(CliError) as told:
        measure()
    assert str(told.value).startswith("ping nowhere\n     ^^^^^^^\n")


def test_a_place_where_nothing_can_be_saved_is_told_in_a_sentence(monkeypatch):
    monkeypatch.setenv("LABS_RUNS", "/proc/runs")
    with pytest.raises(LabError, match=r"could not be saved in /proc/runs: ") as told:
        a_run().save()
    assert "LABS_RUNS" in told.value.hint


def test_a_full_disk_does_not_hurt_what_was_saved_before():
    run = a_run()
    run.add({"state": "same"})

    def measure():
        with run.keeping(), pytest.MonkeyPatch.context() as patch:
            patch.setattr("os.fsync", full)
            run.add({"state": "apart"})

    with pytest.raises(LabError, match="No space left on device") as told:
        measure()
    assert f"(1) are kept in {run.path}" in told.value.hint
    assert load_run(run.path).windows == [{"state": "same"}]


def full(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"null",
        b'"text"',
        b"{}",
        b'{"format": 1}',
        b'{"format": 2, "name": "pinning"}',
        b'{"format": []}',
        b"\xff\xfe\x00",
    ],
)
def test_what_is_no_run_is_refused(tmp_path, content):
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(LabError, match="is not a run of this course"):
        load_run(path)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"surprise": 1},
        {"verdicts": None},
        {"verdicts": [{"claim": "x"}]},
        {"quality": None},
        {"quality": {"reasons": [{"what": "x"}]}},
    ],
)
def test_a_run_that_was_tampered_with_is_refused(change):
    path = a_run().save()
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(LabError, match="is not a run of this course"):
        load_run(path)


def test_a_file_that_is_not_there_is_missed_and_the_place_of_runs_named(runs):
    with pytest.raises(LabError, match="There is no run at nowhere") as missed:
        load_run("nowhere")
    assert str(runs) in missed.value.hint


def test_without_a_choice_runs_are_among_the_users_data(monkeypatch):
    monkeypatch.delenv("LABS_RUNS")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert runs_dir() == Path("/data/vpp-labs/runs")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/learner")
    assert runs_dir() == Path("/home/learner/.local/share/vpp-labs/runs")


def a_recording():
    values = np.array([[1.5], [np.nan]], np.float32)
    table = Table("ping", (Column("ping_p50", "p50", "µs"),), np.array([0.0, 1.0]), values)
    return Recording({"engine": "process"}, {"ping": table}, [Mark(0.5, "}\n{", ("taskset",))])


def test_a_recording_is_saved_with_the_run_on_one_line_and_read_back():
    run = a_run(windows=[{"state": "same"}], recording=a_recording())
    path = run.save()
    assert load_run(path) == run
    assert sum('"recording"' in line for line in path.read_text(encoding="utf-8").splitlines()) == 1
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60


@pytest.mark.parametrize("recording", [[], {}, "x", {"kind": "VPP Labs recording", "format": 1}])
def test_a_run_with_a_broken_recording_is_refused(recording):
    path = a_run().save()
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "recording": recording}), encoding="utf-8")
    with pytest.raises(LabError, match="is not a run of this course"):
        load_run(path)
