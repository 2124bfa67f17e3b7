from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.bench import recording_format
from labs.bench.recording import Recorder, Recording, load_recording
from labs.bench.report import recording_page
from labs.bench.tables import Column, Mark, Table
from labs.errors import LabError
from labs.quality import Quality, Reason

words = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
moments = st.floats(0, 1e5)
facts = st.dictionaries(words, st.none() | st.integers(-(10**9), 10**9) | words | st.lists(words), max_size=4)
marks = st.lists(st.builds(Mark, moments, words, st.lists(words, max_size=2).map(tuple)), max_size=4)
qualities = st.lists(st.builds(Reason, words, words), max_size=3).map(lambda each: Quality(tuple(each)))


@st.composite
def tables(draw):
    names = draw(st.lists(st.from_regex("[a-z_0-9]{1,8}", fullmatch=True), max_size=3, unique=True))
    columns = tuple(Column(name, draw(words), draw(words)) for name in names)
    times = sorted(draw(st.lists(moments, max_size=12)))
    count = len(times) * len(columns)
    values = draw(st.lists(st.floats(width=32, allow_infinity=False), min_size=count, max_size=count))
    shaped = np.array(values, np.float32).reshape(len(times), len(columns))
    return Table(draw(words), columns, np.array(times, np.float64), shaped)


recordings = st.builds(
    Recording,
    facts,
    st.lists(tables(), max_size=3).map(lambda each: {table.name: table for table in each}),
    marks,
    qualities,
    st.just("2026-12-01T00:00:00Z"),
    st.just("<svg></svg>"),
)


def a_recording(rows=20):
    recorder = Recorder({"engine": "glassbox"})
    track = recorder.add_track("probe", [Column("probe_p50", "p50", "µs"), Column("lost", "lost", "%")])
    for number in range(rows):
        track.append(100 + number / 4, [math.nan if number == 3 else number, 0])
    recorder.mark("pinning: same", ["taskset -cp 0 1"], 102.0)
    return recorder.snapshot()


@settings(deadline=None)
@given(recordings, st.sampled_from(["a.json", "a.json.gz"]))
def test_what_is_saved_is_loaded_again_gaps_included(recording, name):
    with TemporaryDirectory() as folder:
        path = recording.save(Path(folder) / name)
        assert load_recording(path) == recording
        assert [each.name for each in Path(folder).iterdir()] == [name]


@settings(deadline=None)
@given(recordings)
def test_the_csv_says_the_same_to_pandas(recording):
    with TemporaryDirectory() as folder:
        path = recording.to_csv(Path(folder) / "run.csv")
        read = pd.read_csv(
            path, comment="#", keep_default_na=False, dtype={"value": str, "column": str, "track": str}
        )
    rows = iter(read[read["track"] != "mark"].itertuples())
    for table in recording.tables.values():
        for column in table.columns:
            for t, value in zip(table.times, table.column(column.name), strict=True):
                if table.name == "mark":
                    continue
                row = next(rows)
                assert (row.time_s, str(row.column)) == (t, column.name)
                assert np.array_equal(np.float32(row.value or "nan"), value, equal_nan=True)
    assert next(rows, None) is None


def test_the_csv_keeps_words_with_marks_of_their_own():
    label = 'rate # 1, "flat out"'
    recording = Recording({"engine": "x"}, {}, [Mark(1.5, label)])
    with TemporaryDirectory() as folder:
        path = recording.to_csv(Path(folder) / "run.csv")
        assert pd.read_csv(path, comment="#")["label"].tolist() == [label]
        assert "# engine: x\n" in path.read_text(encoding="utf-8")


def test_a_big_recording_is_compressed_and_found_by_either_name(tmp_path):
    times = np.arange(100_000.0)
    table = Table("t", (Column("c", "c", ""),), times, np.float32(times)[:, None])
    recording = Recording(tables={"t": table})
    path = recording.save(tmp_path / "big.json")
    assert path.name == "big.json.gz"
    assert load_recording(path) == load_recording(tmp_path / "big.json") == recording


def test_facts_that_json_does_not_know_are_kept_as_text_or_nothing(tmp_path):
    given_facts = {"rate": math.nan, "cores": (0, 1), "path": Path("x"), "n": np.int64(3), 7: {1: math.inf}}
    loaded = load_recording(Recording(given_facts).save(tmp_path / "a.json"))
    assert loaded.facts == {"rate": None, "cores": [0, 1], "path": "x", "n": 3, "7": {"1": None}}


def test_an_infinite_value_is_saved_as_the_greatest_there_is(tmp_path):
    table = Table("t", (Column("c", "c", ""),), np.zeros(1), np.array([[np.inf]], np.float32))
    loaded = load_recording(Recording(tables={"t": table}).save(tmp_path / "a.json"))
    assert loaded.tables["t"].column("c")[0] == np.finfo(np.float32).max


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | words,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(["kind", "format", "facts", "tables", "marks", "quality", "started", "picture", None]),
)
def test_no_file_is_loaded_that_is_no_recording_and_none_ends_in_a_traceback(other, key):
    record = other if key is None else {**json.loads(json.dumps(a_recording(4).to_dict())), key: other}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        path.write_text(json.dumps(record), encoding="utf-8")
        with contextlib.suppress(LabError):  # any other error fails the test
            loaded = load_recording(path)
            loaded.to_csv(Path(folder) / "x.csv")
            recording_page(loaded)


@pytest.mark.parametrize("content", [b"", b"{", b"\x1f\x8b\x08broken", b"\xff\xfe", b"[" * 100_000, b"null"])
def test_rubbish_is_refused_in_a_sentence(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(LabError, match="is not a recording of this course"):
        load_recording(path)


def test_a_later_format_is_refused_for_what_it_is(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**a_recording().to_dict(), "format": 99}), encoding="utf-8")
    with pytest.raises(LabError, match="later version"):
        load_recording(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(LabError, match=r"nowhere.json cannot be read: No such file"):
        load_recording(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    "picture",
    ["<svg><script>x</script></svg>", '<svg onload="x"/>', '<a href="javascript:x">', "<svg/onload=x>"],
)
def test_a_picture_from_elsewhere_that_could_act_is_left_out(tmp_path, picture):
    recording = a_recording()
    recording.picture = picture
    assert load_recording(recording.save(tmp_path / "x.json")).picture == ""


@pytest.mark.parametrize("ending", ["save", "to_csv", "to_html"])
def test_a_full_disk_is_a_sentence_and_leaves_what_was_there(tmp_path, monkeypatch, ending):
    path = tmp_path / "run.out"
    path.write_text("before", encoding="utf-8")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
    recording = a_recording()
    with pytest.raises(LabError, match=r"No space left.\nHint: it is not lost: make room there"):
        getattr(recording, ending)(path)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    getattr(recording, ending)(tmp_path / "again")


@pytest.mark.parametrize("name", ["file/run.json", "folder", "a\0b", "x" * 300])
def test_a_place_where_nothing_can_be_written_is_a_sentence(tmp_path, name):
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    with pytest.raises(LabError, match="could not be saved"):
        a_recording().save(f"{tmp_path}/{name}")
    assert {each.name for each in tmp_path.iterdir()} == {"file", "folder"}


def test_a_file_that_the_system_cuts_short_is_no_file(tmp_path):
    code = f"""
import resource
from labs.bench.recording import Recording
from labs.errors import LabError
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    Recording({{"text": "x" * 5000}}).save({str(tmp_path / "run.json")!r})
except LabError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "File too large" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_snapshot_begins_with_its_first_row_or_mark():
    recording = a_recording()
    assert recording.tables["probe"].times[0] == 0
    assert [(mark.t, mark.label) for mark in recording.marks] == [(2.0, "pinning: same")]
    assert recording.duration == 4.75


def test_a_snapshot_since_a_moment_has_its_times_from_there():
    recorder = Recorder()
    track = recorder.add_track("t", [Column("c", "c", "")])
    for t in range(10):
        track.append(t, [t])
        recorder.mark(str(t), t=t + 0.5)
    recording = recorder.snapshot(since=7)
    assert recording.tables["t"].times.tolist() == [0.0, 1.0, 2.0]
    assert [(mark.t, mark.label) for mark in recording.marks] == [(0.5, "7"), (1.5, "8"), (2.5, "9")]


def test_a_snapshot_says_when_it_began():
    recorder = Recorder()
    recorder.add_track("t", [Column("c", "c", "")]).append(time.monotonic() - 3600, [1])
    told = time.strptime(recorder.snapshot().started, "%Y-%m-%dT%H:%M:%SZ")
    assert abs(time.mktime(told) - time.mktime(time.gmtime()) + 3600) < 60


@settings(deadline=None)
@given(recordings, moments, moments)
def test_parts_of_a_recording_hold_all_of_it(recording, one, other):
    low, high = sorted((one, other))
    parts = [
        recording.part(-math.inf if a is None else a, b) for a, b in ((0, low), (low, high), (high, math.inf))
    ]
    for name, table in recording.tables.items():
        assert sum(len(part.tables[name]) for part in parts) == len(table)
    assert sum(len(part.marks) for part in parts) == len(recording.marks)


def test_a_track_asked_for_again_is_the_same_one_and_never_replaced():
    recorder = Recorder()
    columns = [Column("c", "c", "")]
    assert recorder.add_track("t", columns) is recorder.add_track("t", columns)
    with pytest.raises(LabError, match="with other columns"):
        recorder.add_track("t", [Column("d", "d", "")])


def test_facts_and_marks_may_change_while_a_snapshot_is_taken():
    recorder = Recorder()
    failed, end = [], threading.Event()

    def change():
        number = 0
        while not end.is_set():
            number += 1
            recorder.facts.update({str(number % 500): number})
            recorder.mark(str(number))

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(100):
            recording = recorder.snapshot()
            if [mark.t for mark in recording.marks] != sorted(mark.t for mark in recording.marks):
                failed.append(recording)
    finally:
        end.set()
        thread.join()
    assert not failed
    assert len(recorder.marks) <= 2000


def test_a_snapshot_is_no_longer_changed_by_the_recorder():
    recorder = Recorder({"cores": {"vpp1": [0]}})
    recording = recorder.snapshot()
    recorder.facts["cores"]["vpp1"].append(1)
    assert recording.facts == {"cores": {"vpp1": [0]}}


def test_the_file_is_readable_by_others_as_the_user_s_mask_allows(tmp_path):
    mask = os.umask(0o022)
    try:
        assert a_recording().save(tmp_path / "x.json").stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(mask)


def test_a_saved_figure_is_as_short_as_it_was_measured():
    table = Table("t", (Column("c", "c", ""),), np.zeros(1), np.array([[0.1]], np.float32))
    assert recording_format.table_to_dict(table)["values"] == [[0.1]]
    assert re.search(r"0\.1[^0-9]", json.dumps(Recording(tables={"t": table}).to_dict()))
