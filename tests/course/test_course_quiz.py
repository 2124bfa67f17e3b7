from __future__ import annotations

import pytest

from labs.course import quiz
from labs.course.catalogue import CHAPTERS, find_chapter
from labs.course.quiz_card import QuizCard
from labs.course.store import store
from labs.errors import LabError

QUESTION = find_chapter("02").quiz[0]
RIGHT = [option.right for option in QUESTION.options].index(True)
WRONG = 1 - RIGHT


@pytest.fixture
def card():
    return QuizCard(quiz("02")).questions[0]


def test_without_widgets_the_questions_can_be_read():
    text = repr(quiz("02"))
    assert f"1. {QUESTION.text}" in text
    assert f"   a) {QUESTION.options[0].text}" in text
    assert not any(option.why in text for option in QUESTION.options)


def test_a_front_end_without_widgets_gets_text_and_html():
    bundle = quiz("02")._repr_mimebundle_()
    assert bundle["text/plain"] == repr(quiz("02"))
    assert bundle["text/html"].count('<ol type="a">') == 3
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_the_options_keep_their_order():
    assert repr(quiz("02")) == repr(quiz("02"))
    assert (
        QuizCard(quiz("02")).questions[0].choice.options == QuizCard(quiz("02")).questions[0].choice.options
    )


def test_an_answer_is_explained_and_recorded():
    wrong, right = quiz("02").answer(1, "abc"[WRONG]), quiz("02").answer(1, "ABC"[RIGHT])
    assert repr(wrong) == f"✗ Not quite: {QUESTION.options[WRONG].why}"
    assert repr(right) == f"✓ Right: {QUESTION.options[RIGHT].why}"
    assert store().read().tries(QUESTION.id) == 2
    assert not store().read().first_right(QUESTION.id)


@pytest.mark.parametrize("question", [0, 4, -1, "1", None])
def test_a_question_that_is_not_there_is_told(question):
    with pytest.raises(LabError, match="no question"):
        quiz("02").answer(question, "a")


@pytest.mark.parametrize("letter", ["e", "", "ab", "1"])
def test_an_answer_that_is_not_there_is_told(letter):
    with pytest.raises(LabError, match="no answer"):
        quiz("02").answer(1, letter)
    assert store().read().tries(QUESTION.id) == 0


def test_showing_a_quiz_marks_its_notebook_as_opened():
    quiz("03")
    assert store().read().was_visited("03")
    assert not store().read().was_visited("02")


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda each: each.number)
def test_every_question_has_a_labelled_choice_a_button_and_a_place_for_feedback(chapter):
    questions = QuizCard(quiz(chapter.number)).questions
    assert len(questions) == 3
    for number, (shown, question) in enumerate(zip(questions, chapter.quiz, strict=True), start=1):
        assert shown.choice.legend.startswith(f"{number}. ")
        assert len(shown.choice.options) == len(question.options)
        assert shown.choice.index == -1
        assert shown.submit.description == "Submit"
        assert shown.feedback.role == "status"


def test_submitting_nothing_asks_for_an_answer(card):
    card.submit.click()
    assert "Choose an answer first." in card.feedback.value
    assert store().read().tries(QUESTION.id) == 0


def test_a_wrong_answer_is_told_in_words_and_shape_and_can_be_tried_again(card):
    card.choice.index = WRONG
    card.submit.click()
    assert "Not quite: " in card.feedback.value
    assert "✗" in card.feedback.value
    card.choice.index = RIGHT
    card.submit.click()
    assert "Right: " in card.feedback.value
    assert "✓" in card.feedback.value
    assert store().read().tries(QUESTION.id) == 2


def test_only_the_question_that_was_submitted_answers():
    first, second, _ = QuizCard(quiz("02")).questions
    first.choice.index = second.choice.index = 0
    second.submit.click()
    assert first.feedback.value == ""
    assert second.feedback.value


def test_trouble_with_the_file_is_told(card, progress_file):
    progress_file.unlink()
    progress_file.mkdir()
    card.choice.index = RIGHT
    card.submit.click()
    assert "Right: " in card.feedback.value
    assert "Progress is not being saved" in card.feedback.value
