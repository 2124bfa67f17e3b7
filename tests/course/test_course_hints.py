from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.course.catalogue import find_exercise
from labs.course.hints import HintLadder, ladder_of, require_attempt
from labs.errors import LabError

EXERCISE = find_exercise("02-swap-roles")


@given(st.lists(st.text(min_size=1), min_size=1).map(tuple), st.integers(0, 10))
def test_hints_come_one_by_one_and_then_no_more(hints, presses):
    ladder = HintLadder(hints)
    got = [ladder.climb() for _ in range(presses)]
    assert got == [*hints, *[None] * presses][:presses]
    assert ladder.given == hints[:presses]
    assert ladder.left == max(len(hints) - presses, 0)


def test_the_label_says_how_many_there_are():
    ladder = HintLadder(("a", "b"))
    ladder.climb()
    assert ladder.label() == "Hint 1 of 2"


def test_a_second_view_goes_on_where_the_first_was():
    ladder_of(EXERCISE).climb()
    assert ladder_of(EXERCISE).shown == 1


def test_edited_hints_begin_anew():
    ladder_of(EXERCISE).climb()
    assert ladder_of(replace(EXERCISE, hints=("other", "hints"))).shown == 0


def test_the_solution_stays_shut_before_an_attempt():
    with pytest.raises(LabError, match="opens after your first check"):
        require_attempt(0)


def test_the_solution_opens_after_one():
    require_attempt(1)
