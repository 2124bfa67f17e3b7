from __future__ import annotations

import errno
import fcntl
import json
import multiprocessing
import os
import threading
import time

import pytest

from labs.course import records, store
from labs.course.progress_file import parse
from labs.course.store import Store


def _on_disk(path):
    return records.Records(parse(path.read_bytes()))


def test_looking_makes_no_file(kept_in, progress_file):
    assert kept_in.read().attempts("02-a") == 0
    assert not progress_file.exists()


def test_an_event_is_on_disk_when_record_returns(kept_in, progress_file):
    kept_in.record(records.attempted("02-a", passed=True))
    assert _on_disk(progress_file).attempts("02-a") == 1
    assert _on_disk(progress_file).passed("02-a")


def test_a_second_store_sees_it(kept_in, progress_file):
    kept_in.record(records.attempted("02-a", passed=False))
    assert Store(progress_file).read().attempts("02-a") == 1


def test_nothing_else_is_left_in_the_folder(kept_in, progress_file):
    kept_in.record(records.visited("02"))
    assert list(progress_file.parent.iterdir()) == [progress_file]


def test_a_file_that_was_deleted_stays_deleted(kept_in, progress_file):
    kept_in.record(records.attempted("02-a", passed=True))
    progress_file.unlink()
    assert kept_in.read().attempts("02-a") == 0


def test_unknown_keys_stay_in_the_file(kept_in, progress_file):
    progress_file.write_text('{"course": "vpp-labs", "version": 1, "theme": "dark"}')
    kept_in.record(records.visited("02"))
    assert json.loads(progress_file.read_text())["theme"] == "dark"


def test_a_broken_file_is_set_aside_whole(kept_in, progress_file):
    progress_file.write_text("{ half a fi")
    kept_in.record(records.visited("02"))
    aside = progress_file.with_name("my-progress.broken-1.json")
    assert aside.read_text() == "{ half a fi"
    assert _on_disk(progress_file).was_visited("02")
    assert kept_in.notice == (
        "my-progress.json is not JSON. It was set aside as my-progress.broken-1.json, and a new file begun."
    )
    assert kept_in.trouble == ""


def test_a_second_broken_file_does_not_replace_the_first(kept_in, progress_file):
    for content in ("one", "two"):
        progress_file.write_text(content)
        kept_in.read()
    names = [progress_file.with_name(f"my-progress.broken-{n}.json").read_text() for n in (1, 2)]
    assert names == ["one", "two"]


def test_a_newer_file_is_not_touched_and_the_session_goes_on(kept_in, progress_file):
    newer = '{"course": "vpp-labs", "version": 2}'
    progress_file.write_text(newer)
    assert kept_in.record(records.attempted("02-a", passed=True)).attempts("02-a") == 1
    assert progress_file.read_text() == newer
    assert "version 2" in kept_in.trouble


def _no_space(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_a_full_disk_refused_is_written_later(kept_in, progress_file, monkeypatch):
    kept_in.record(records.attempted("02-a", passed=False))
    before = progress_file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(store.os, "fsync", _no_space)
        assert kept_in.record(records.attempted("02-a", passed=True)).attempts("02-a") == 2
    assert "No space left on device" in kept_in.trouble
    assert progress_file.read_bytes() == before
    assert list(progress_file.parent.iterdir()) == [progress_file]
    kept_in.record(records.visited("02"))
    assert kept_in.trouble == ""
    assert _on_disk(progress_file).attempts("02-a") == 2
    assert _on_disk(progress_file).was_visited("02")


@pytest.mark.parametrize("where", ["no/such/folder/p.json", "folder"])
def test_a_path_that_cannot_be_a_file_is_told(tmp_path, where):
    (tmp_path / "folder").mkdir()
    kept_in = Store(tmp_path / where)
    assert kept_in.record(records.attempted("02-a", passed=True)).passed("02-a")
    assert kept_in.trouble.startswith("Progress is not being saved: ")
    assert "LABS_PROGRESS" in kept_in.trouble


def test_a_link_to_a_file_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    link, real = tmp_path / "p.json", tmp_path / "real" / "p.json"
    link.symlink_to(real)
    Store(link).record(records.visited("02"))
    assert link.is_symlink()
    assert _on_disk(real).was_visited("02")


def test_permissions_that_a_learner_chose_stay(kept_in, progress_file):
    kept_in.record(records.visited("02"))
    progress_file.chmod(0o600)
    kept_in.record(records.visited("03"))
    assert progress_file.stat().st_mode & 0o777 == 0o600


def test_a_lock_that_another_holds_is_waited_for_and_then_told(kept_in, progress_file, monkeypatch):
    monkeypatch.setattr(store, "_LOCK_SECONDS", 0.05)
    folder = os.open(progress_file.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        kept_in.record(records.visited("02"))
        assert "another program holds it" in kept_in.trouble
    finally:
        os.close(folder)
    kept_in.record({})
    assert _on_disk(progress_file).was_visited("02")


def test_a_file_system_without_locks_is_no_trouble(kept_in, progress_file, monkeypatch):
    def unlocked(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(store.fcntl, "flock", unlocked)
    kept_in.record(records.visited("02"))
    assert _on_disk(progress_file).was_visited("02")


def test_the_file_is_beside_the_notebook_unless_the_learner_says_otherwise(tmp_path, monkeypatch):
    monkeypatch.delenv("LABS_PROGRESS")
    monkeypatch.chdir(tmp_path)
    assert store.store().path == tmp_path / "my-progress.json"
    monkeypatch.setenv("LABS_PROGRESS", str(tmp_path / "other.json"))
    assert store.store().path == tmp_path / "other.json"


def test_one_kernel_has_one_store_for_a_file():
    assert store.store() is store.store()


def _write_many(path, name, count, start):
    start.wait()
    kept_in = Store(path)
    for _ in range(count):
        kept_in.record(records.attempted("02-a", passed=False))
        kept_in.record(records.attempted(name, passed=True))
        assert not kept_in.trouble


def test_kernels_that_write_at_once_lose_nothing(progress_file):
    context = multiprocessing.get_context("spawn")
    start = context.Event()
    writers = [
        context.Process(target=_write_many, args=(progress_file, f"02-w{n}", 15, start)) for n in range(3)
    ]
    for writer in writers:
        writer.start()
    start.set()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    kept = _on_disk(progress_file)
    assert kept.attempts("02-a") == 45
    assert [kept.attempts(f"02-w{n}") for n in range(3)] == [15] * 3
    assert list(progress_file.parent.iterdir()) == [progress_file]


def test_threads_of_one_kernel_lose_nothing(kept_in, progress_file):
    def write():
        for _ in range(20):
            kept_in.record(records.attempted("02-a", passed=False))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _on_disk(progress_file).attempts("02-a") == 80


def _write_for_ever(path, started):
    kept_in = Store(path)
    while True:
        kept_in.record(records.attempted("02-a", passed=True))
        started.set()


def test_a_kernel_killed_while_it_writes_leaves_a_whole_file(progress_file):
    context = multiprocessing.get_context("spawn")
    for _ in range(3):
        started = context.Event()
        writer = context.Process(target=_write_for_ever, args=(progress_file, started))
        writer.start()
        started.wait()
        time.sleep(0.03)
        writer.kill()
        writer.join()
        before = _on_disk(progress_file).attempts("02-a")
        again = Store(progress_file)
        again.record(records.attempted("02-a", passed=True))
        assert again.trouble == again.notice == ""
        assert _on_disk(progress_file).attempts("02-a") == before + 1
