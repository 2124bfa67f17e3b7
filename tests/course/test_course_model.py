from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.course.catalogue import find_chapter, find_exercise
from labs.course.model import Option, Question, Result, cells

EXERCISE = find_exercise("02-swap-roles")
RIGHT, WRONG = Option("yes", "it is so", right=True), Option("no", "it is not so")


def test_a_result_reads_as_a_sentence():
    assert repr(Result(passed=True, reason="the link is up.")) == "✓ the link is up."
    assert repr(Result(passed=False, reason="vpp1 has no memif.")) == "not yet: vpp1 has no memif."


@pytest.mark.parametrize("bad", ["swap", "2-swap", "02-", "02_swap", "02-Swap", "02-swap--roles", ""])
def test_an_id_begins_with_the_notebook(bad):
    with pytest.raises(ValueError, match="is not like"):
        replace(EXERCISE, id=bad)


@pytest.mark.parametrize(
    "lack", [{"title": " "}, {"task": ""}, {"stub": "\n"}, {"solution": ""}, {"hints": ()}, {"minutes": 0}]
)
def test_an_exercise_lacks_nothing(lack):
    with pytest.raises(ValueError, match="lacks"):
        replace(EXERCISE, **lack)


def test_cells_begin_at_percent_lines():
    assert cells("a = 1\n\n# %%\nb = 2\n# %% a title\n\nc = 3\n") == ("a = 1", "b = 2", "c = 3")


def test_a_cell_without_content_is_none():
    assert cells("# %%\n\n# %%\nx\n") == ("x",)


def test_a_percent_sign_within_a_line_breaks_nothing():
    assert cells("%%vpp vpp1\nshow memif  # %% no\n") == ("%%vpp vpp1\nshow memif  # %% no",)


@given(st.lists(st.from_regex(r"[a-z]+( = [0-9]+)?(\n    [a-z]+){0,3}", fullmatch=True), min_size=1))
def test_cells_come_back_as_they_were_joined(sources):
    assert cells("\n\n# %%\n".join(sources)) == tuple(sources)


@pytest.mark.parametrize(
    "options", [(), (RIGHT, WRONG), (RIGHT, RIGHT, WRONG), (WRONG,) * 3, (RIGHT, *[WRONG] * 4)]
)
def test_a_question_has_three_or_four_options_and_one_right(options):
    with pytest.raises(ValueError, match="one of them right"):
        Question("02-x", "Is it?", options)


def test_every_option_is_explained():
    with pytest.raises(ValueError, match="without text or explanation"):
        Question("02-x", "Is it?", (RIGHT, WRONG, Option("perhaps", " ")))


def test_a_quiz_has_three_questions():
    chapter = find_chapter("02")
    with pytest.raises(ValueError, match="2 questions, not three"):
        replace(chapter, quiz=chapter.quiz[:2])


def test_a_notebook_holds_no_other_notebooks_parts():
    with pytest.raises(ValueError, match="notebook 03 holds 02-swap-roles"):
        replace(find_chapter("02"), number="03")
