from __future__ import annotations

import ast

import pytest
from course_fakes import FakeLab
from IPython.core.inputtransformer2 import TransformerManager

from labs.course.catalogue import CHAPTERS, all_exercises, find_chapter, find_exercise
from labs.course.checks import run_check
from labs.course.model import cells
from labs.errors import LabError

EXERCISES = all_exercises()
QUESTIONS = [question for chapter in CHAPTERS for question in chapter.quiz]
by_id = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.id)


def test_the_notebooks_are_numbered_in_order():
    numbers = [chapter.number for chapter in CHAPTERS]
    assert numbers == sorted(set(numbers))  # some are still to be written


def test_no_id_is_used_twice():
    ids = [each.id for each in (*EXERCISES, *QUESTIONS)]
    assert len(ids) == len(set(ids))


@by_id
def test_an_exercise_has_two_hints_at_least(exercise):
    assert len(exercise.hints) >= 2
    assert all(hint.strip() for hint in exercise.hints)


@by_id
def test_stub_and_solution_differ(exercise):
    assert cells(exercise.stub)
    assert cells(exercise.solution)
    assert cells(exercise.stub) != cells(exercise.solution)


@by_id
def test_cells_are_what_ipython_takes(exercise):
    for source in (*cells(exercise.setup), *cells(exercise.stub), *cells(exercise.solution)):
        ast.parse(TransformerManager().transform_cell(source + "\n"))


@by_id
def test_no_hint_is_the_solution(exercise):
    for cell in cells(exercise.solution):
        assert all(cell not in hint for hint in exercise.hints)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda each: each.number)
def test_a_quiz_has_three_questions_with_one_right_answer_and_explanations(chapter):
    assert len(chapter.quiz) == 3
    for question in chapter.quiz:
        assert sum(option.right for option in question.options) == 1
        assert all(option.why.strip() for option in question.options)
        assert len({option.text for option in question.options}) == len(question.options)


def test_the_right_answer_is_not_always_in_one_place():
    places = {tuple(option.right for option in question.options).index(True) for question in QUESTIONS}
    assert len(places) >= 3


def test_an_unknown_exercise_names_the_nearest():
    with pytest.raises(LabError, match="no exercise '02-swap-role'") as refused:
        find_exercise("02-swap-role")
    assert "02-swap-roles" in refused.value.hint


@pytest.mark.parametrize("number", ["9", "2", "", 2])
def test_an_unknown_notebook_names_those_there_are(number):
    with pytest.raises(LabError, match="no notebook") as refused:
        find_chapter(number)
    assert "00, 01, 02, 03" in refused.value.hint


def test_swapped_roles_pass():
    result = run_check(find_exercise("02-swap-roles"), FakeLab().swap())
    assert result.passed, result


def _spoil(what):
    lab = FakeLab().swap()
    vpp1, vpp2 = lab.nodes["vpp1"], lab.nodes["vpp2"]
    match what:
        case "as it was":
            vpp1.role, vpp2.role = "server", "client"
        case "two clients":
            vpp2.role = "client"
        case "no memif":
            vpp2.role = ""
        case "down":
            vpp2.flags = ()
        case "no address":
            vpp1.address = ""
        case "wrong prefix":
            vpp1.address = "10.10.2.1/32"
        case "unconnected":
            lab.connected = False
        case "silent":
            lab.received = 0
    return lab


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("as it was", "vpp1's memif0/0 is the server. It should be the client, which VPP calls slave."),
        ("two clients", "vpp2's memif0/0 is the client. It should be the server, which VPP calls master."),
        ("no memif", "vpp2 has no memif."),
        ("down", "vpp2's memif0/0 is down; a new interface has to be set up."),
        ("no address", "vpp1 has no address; it should have 10.10.2.1/24."),
        ("wrong prefix", "vpp1 has 10.10.2.1/32; it should have 10.10.2.1/24."),
        ("unconnected", "vpp2's memif0/0 is down after 4 s. Hint: set it up."),
        ("silent", "vpp2 answered none of 3 pings from vpp1; look at `show interface` on both."),
    ],
)
def test_each_way_to_get_swapped_roles_wrong_has_its_reason(what, reason):
    result = run_check(find_exercise("02-swap-roles"), _spoil(what))
    assert (result.passed, result.reason) == (False, reason)


def test_what_is_cheap_to_see_is_seen_before_pings_are_sent():
    lab = _spoil("no address")
    run_check(find_exercise("02-swap-roles"), lab)
    assert lab.pings == 0
