from __future__ import annotations

import base64
import re

import pytest
from course_fakes import FakeLab

from labs.course import exercise, progress, quiz, records
from labs.course.catalogue import CHAPTERS
from labs.course.progress_card import ProgressCard
from labs.course.progress_file import MAX_BYTES, parse, render
from labs.course.records import join, nothing

ID = "02-swap-roles"


def _downloaded(shown):
    content = re.search(r"base64,([^\"]+)", shown.download_link()).group(1)
    return base64.b64decode(content)


def test_at_first_every_notebook_is_listed_and_nothing_is_done():
    rows = progress().rows()
    assert [row.notebook[:2] for row in rows] == [chapter.number for chapter in CHAPTERS]
    assert not any(row.opened or row.passed or row.right for row in rows)
    assert sum(row.minutes for row in rows) == sum(chapter.minutes for chapter in CHAPTERS)


def test_what_was_done_is_counted():
    exercise(ID, FakeLab().swap()).check()
    chapter = quiz("02").chapter
    for number, question in enumerate(chapter.quiz[:2], start=1):
        quiz("02").answer(number, "abcd"[[option.right for option in question.options].index(True)])
    row = progress().rows()[2]
    assert (row.opened, row.passed, row.exercises) == (True, 1, len(chapter.exercises))
    assert (row.right, row.questions) == (2, 3)


def test_it_reads_as_a_table(progress_file):
    chapter = quiz("02").chapter
    text = repr(progress())
    done = rf"✓ yes +0 of {len(chapter.exercises)} +0 of 3"
    assert re.search(rf"02 {chapter.title} +{chapter.minutes} +{done}", text)
    assert f"Kept in {progress_file}." in text


def test_a_front_end_without_widgets_gets_text_and_html():
    bundle = progress()._repr_mimebundle_()
    assert bundle["text/plain"] == repr(progress())
    assert '<th scope="col">Notebook</th>' in bundle["text/html"]
    assert "<caption>" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_the_link_holds_the_whole_file(progress_file):
    exercise(ID, FakeLab()).check()
    shown = progress()
    assert 'download="my-progress.json"' in shown.download_link()
    assert _downloaded(shown) == progress_file.read_bytes()


def test_a_file_name_is_shown_not_interpreted(tmp_path, monkeypatch):
    monkeypatch.setenv("LABS_PROGRESS", str(tmp_path / 'a"><b>.json'))
    assert 'download="a&quot;&gt;&lt;b&gt;.json"' in progress().download_link()
    assert "<b>" not in progress().to_html()


def test_what_is_downloaded_before_anything_is_done_can_be_restored():
    assert parse(_downloaded(progress())) == nothing()


def test_restoring_adds_and_takes_nothing_away():
    exercise(ID, FakeLab()).check()
    other = render(join(nothing(), records.attempted(ID, passed=True))).encode()
    assert progress().restore(other, "old.json").startswith("Restored old.json")
    kept = progress().store.read()
    assert kept.attempts(ID) == 2
    assert kept.passed(ID)


def test_restoring_twice_changes_nothing_more():
    content = render(join(nothing(), records.attempted(ID, passed=True))).encode()
    progress().restore(content)
    assert progress().restore(content, "old.json") == "old.json holds nothing that is not here already."
    assert progress().store.read().attempts(ID) == 1


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"import sys", "is not JSON"),
        (b'{"cells": []}', "is not a progress file of this course"),
        (b'{"course": "vpp-labs", "version": 9}', "has version 9"),
        (b'{"course": "vpp-labs", "version": 1, "exercises": {"a": {"attempts": 1}}}', "has a wrong entry"),
        (b" " * (MAX_BYTES + 1), "is larger than 4 MB"),
        (b"", "is not JSON"),
    ],
)
def test_a_wrong_file_changes_nothing_and_says_why(progress_file, content, why):
    exercise(ID, FakeLab()).check()
    before = progress_file.read_bytes()
    sentence = progress().restore(content, "wrong.json")
    assert sentence.startswith(f"Nothing was restored: wrong.json {why}")
    assert progress_file.read_bytes() == before
    assert list(progress_file.parent.iterdir()) == [progress_file]


def test_a_file_set_aside_is_told(progress_file):
    progress_file.write_text("broken")
    assert "set aside as my-progress.broken-1.json" in repr(progress())


def test_a_file_that_cannot_be_written_is_told(progress_file):
    progress_file.mkdir()
    assert "Progress is not being saved" in repr(progress())
    assert "Progress is not being saved" in progress().restore(
        render(join(nothing(), records.visited("02"))).encode()
    )


def _choose(card, name, content):
    card.upload._handle_custom_msg({"name": name}, [memoryview(content)])


def test_the_card_restores_a_file_and_shows_the_new_table():
    card = ProgressCard(progress())
    assert "✓ yes" not in card.table.value
    _choose(card, "old.json", render(join(nothing(), records.visited("02"))).encode())
    assert "✓ yes" in card.table.value
    assert "Restored old.json" in card.answer.value


def test_the_card_takes_the_same_wrong_file_twice():
    card = ProgressCard(progress())
    for _ in range(2):
        card.answer.value = ""
        _choose(card, "<b>.json", b"no")
        assert "Nothing was restored: &lt;b&gt;.json is not JSON." in card.answer.value


def test_refresh_reads_what_another_kernel_wrote(progress_file):
    card = ProgressCard(progress())
    before = card.link.value
    progress_file.write_text(render(join(nothing(), records.visited("03"))))
    card.refresh.click()
    assert "✓ yes" in card.table.value
    assert card.link.value != before
    assert "up to date" in card.answer.value


def test_the_card_tells_of_a_file_set_aside(progress_file):
    progress_file.write_text("broken")
    assert "set aside" in ProgressCard(progress()).answer.value
