"""Saving at the bench: always a sentence, never a lost or overwritten file."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bench_fakes import desk

from labs.bench import saving, writing
from labs.bench.recording import load_recording
from labs.bench.saving import save
from labs.bench.tables import Column

KINDS = ("report", "csv", "run")


def recorded(rows=20):
    recorder, _ = desk()
    track = recorder.add_track("probe", [Column("probe_p50", "our probe, p50", "µs")])
    for number in range(rows):
        track.append(1000.0 + number, [5.0])
    return recorder.snapshot()


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in a directory of our own, with runs kept in another."""
    place = tmp_path / "notebooks"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("LABS_RUNS", str(tmp_path / "kept"))
    return place


def saved(folder):
    return sorted(path for path in folder.glob("*") if not path.name.startswith("."))


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_where_the_file_is(here, kind):
    said = save(recorded(), kind)
    (path,) = saved(here / "runs")
    assert said.startswith(f"Saved runs/{path.name}. ")
    assert path.stat().st_size > 100


def test_a_saved_run_is_loaded_as_the_sentence_says(here):
    said = save(recorded(), "run")
    name = said.partition("labs.replay('")[2].partition("')")[0]
    assert len(load_recording(name).tables["probe"]) == 20


def test_a_table_has_a_row_for_each_sample(here):
    save(recorded(), "csv")
    (path,) = saved(here / "runs")
    assert len(pd.read_csv(path, comment="#")) == 20


@pytest.mark.parametrize("kind", KINDS)
def test_two_in_one_second_are_two_files(here, kind, monkeypatch):
    monkeypatch.setattr(saving.time, "strftime", lambda *_: "20260101-000000")
    sentences = {save(recorded(), kind) for _ in range(3)}
    assert len(sentences) == 3
    assert len(saved(here / "runs")) == 3


def test_two_big_ones_in_one_second_are_two_files_too(here, monkeypatch):
    """A big run is compressed, and its name is longer than the one that was looked for."""
    monkeypatch.setattr(saving.time, "strftime", lambda *_: "20260101-000000")
    monkeypatch.setattr("labs.bench.recording_format._BIG", 10)
    said = {save(recorded(), "run") for _ in range(3)}
    assert len(said) == 3
    assert len(saved(here / "runs")) == 3
    assert all(path.name.endswith(".json.gz") for path in saved(here / "runs"))


def test_clicks_at_the_same_time_are_as_many_files(here, monkeypatch):
    monkeypatch.setattr(saving.time, "strftime", lambda *_: "20260101-000000")
    made = recorded()
    threads = [threading.Thread(target=save, args=(made, "csv")) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert len(saved(here / "runs")) == 8


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_measured_is_nothing_saved(here, kind):
    assert save(recorded(0), kind).startswith("Nothing was measured yet")
    assert saved(here) == []


def test_where_the_notebook_may_not_write_it_goes_where_runs_are_kept(here, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    said = save(recorded(), "csv")
    (path,) = saved(tmp_path / "kept")
    assert f"Saved {path}." in said


def test_a_directory_that_may_not_be_made(here, tmp_path, monkeypatch):
    make = Path.mkdir

    def refuse(path, *args, **options):
        if path.name == "runs":
            raise OSError(errno.EROFS, "Read-only file system")
        return make(path, *args, **options)

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert "kept" in save(recorded(), "csv")
    assert len(saved(tmp_path / "kept")) == 1


def test_a_file_in_the_folders_place(here, tmp_path):
    (here / "runs").write_text("mine")
    assert "kept" in save(recorded(), "csv")
    assert (here / "runs").read_text() == "mine"


def test_a_working_directory_that_was_deleted(here, tmp_path):
    here.rmdir()
    assert "kept" in save(recorded(), "csv")


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_is_a_sentence_and_leaves_no_half_file(here, kind, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", full)
    said = save(recorded(), kind)
    assert "No space left on device" in said
    assert said.endswith("Nothing that was measured is lost: it is still in the bench.")
    assert "\n" not in said
    assert list((here / "runs").iterdir()) == []


def test_nowhere_to_write_at_all(here, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    monkeypatch.setenv("LABS_RUNS", "/proc/nowhere")
    said = save(recorded(), "csv")
    assert "could not be saved" in said
    assert "still in the bench" in said


def test_any_other_fault_is_a_sentence_too(here, monkeypatch):
    def fault(*_):
        raise MemoryError

    monkeypatch.setattr("labs.bench.recording.Recording.to_csv", fault)
    assert save(recorded(), "csv").startswith("The csv could not be saved: MemoryError.")


def test_a_run_with_gaps_alone_is_saved(here):
    recorder, _ = desk()
    recorder.add_track("probe", [Column("probe_p50", "our probe, p50", "µs")]).append(5.0, [np.nan])
    assert save(recorder.snapshot(), "run").startswith("Saved")
