from __future__ import annotations

import threading

import pytest
from course_fakes import FakeLab

from labs.course import exercise
from labs.course.exercise_card import ExerciseCard
from labs.course.store import store

ID = "02-swap-roles"


def _card(lab=None):
    return ExerciseCard(exercise(ID, lab))


def _checked(card):
    card.check.click()
    card.wait()
    return card.answer.value


def test_the_card_shows_title_minutes_and_task():
    head = _card().box.children[0].value
    assert "Exercise: Swap the roles" in head
    assert "5 min" in head
    assert "Make <code>vpp1</code> the client" in head


def test_all_buttons_have_a_text_and_a_tooltip():
    card = _card()
    buttons = (card.check, card.hint, card.solution, card.again)
    assert [button.description for button in buttons] == ["Check", "Hint", "Solution", "Start again"]
    assert all(button.tooltip for button in buttons)


def test_the_answer_is_read_aloud_and_there_before_the_first_check():
    card = _card()
    assert card.answer.role == "status"
    assert "Not checked yet." in card.answer.value


def test_a_failed_check_says_why_and_opens_the_solution():
    card = _card(FakeLab())
    assert card.solution.disabled
    assert "The solution opens after your first check." in card.locked.value
    answer = _checked(card)
    assert "Not yet: vpp1's memif0/0 is the server." in answer
    assert "✗" in answer
    assert not card.solution.disabled
    assert card.locked.value == ""


def test_a_passed_check_says_so():
    answer = _checked(_card(FakeLab().swap()))
    assert "Passed: vpp1 is the client" in answer
    assert "✓" in answer


def test_a_card_shown_again_knows_of_the_pass():
    _checked(_card(FakeLab().swap()))
    card = _card()
    assert "Passed on 2" in card.answer.value
    assert not card.solution.disabled


def test_a_check_without_a_lab_says_what_is_missing_and_opens_nothing():
    card = _card()
    assert 'exercise("02-swap-roles", lab)' in _checked(card)
    assert card.solution.disabled


class _SlowLab(FakeLab):
    def __init__(self):
        super().__init__()
        self.swap()
        self.go = threading.Event()
        self.waited = 0

    def wait_link(self, timeout):  # noqa: ARG002 - as Lab has it
        self.waited += 1
        assert self.go.wait(timeout=30)


def test_the_page_goes_on_while_a_check_runs():
    lab = _SlowLab()
    card = _card(lab)
    card.check.click()
    assert "Checking your lab …" in card.answer.value
    card.check.click()
    card.hint.click()
    assert "Hint 1" in card.below.value
    lab.go.set()
    card.wait()
    assert "Passed" in card.answer.value
    assert lab.waited == 1
    assert store().read().attempts(ID) == 1


def test_a_fault_in_a_check_reaches_the_card_as_a_sentence():
    lab = FakeLab()
    lab.nodes.clear()
    answer = _checked(_card(lab))
    assert "the check itself failed (KeyError: 'vpp1')" in answer
    assert "Traceback" not in answer


def test_words_from_vpp_are_shown_not_interpreted():
    lab = FakeLab().swap()
    lab.nodes["vpp1"].address = "<img src=x>"
    assert "&lt;img src=x&gt;" in _checked(_card(lab))


def test_each_press_shows_one_more_hint_below_the_others():
    card = _card()
    for shown in (1, 2, 3):
        before = card.below.value
        card.hint.click()
        assert card.below.value.startswith(before)
        assert card.below.value.count("<h5>Hint") == shown
    assert card.hint.description == "No more hints"
    assert not card.hint.disabled
    card.hint.click()
    assert "No more hints." in card.answer.value
    assert card.below.value.count("<h5>Hint") == 3


def test_a_card_shown_again_shows_the_hints_seen_in_this_kernel():
    _card().hint.click()
    assert _card().below.value.count("<h5>Hint") == 1


def test_the_solution_stands_below_the_hints_and_can_be_copied():
    card = _card(FakeLab())
    _checked(card)
    card.hint.click()
    card.solution.click()
    assert card.below.value.index("Hint 1") < card.below.value.index("Solution")
    assert card.below.value.count("data-copy") == 2
    assert "create interface memif id 0 slave" in card.below.value
    card.solution.click()
    assert card.below.value.count("<h5>Solution") == 1


def test_a_solution_shuts_again_when_the_progress_file_is_deleted(progress_file):
    card = _card(FakeLab())
    _checked(card)
    progress_file.unlink()
    card.solution.click()
    assert "opens after your first check" in card.answer.value
    assert "Solution" not in card.below.value
    assert card.solution.disabled


def test_a_hint_after_the_solution_leaves_it_open():
    card = _card(FakeLab())
    _checked(card)
    card.solution.click()
    card.hint.click()
    assert "<h5>Hint 1" in card.below.value
    assert "<h5>Solution" in card.below.value


def test_starting_again_shows_the_stub_only():
    card = _card(FakeLab())
    _checked(card)
    for _ in range(3):
        card.hint.click()
    card.again.click()
    assert "show memif" in card.below.value
    assert "Hint" not in card.below.value
    assert "Not yet" not in card.answer.value
    assert card.hint.description == "Hint"


@pytest.mark.parametrize("press", ["check", "hint", "solution"])
def test_trouble_with_the_file_is_told_once_and_stops_nothing(progress_file, press):
    progress_file.mkdir()
    card = _card(FakeLab())
    answer = _checked(card)
    assert "Progress is not being saved" in answer
    getattr(card, press).click()
    card.wait()
    assert "Not yet" in card.answer.value
