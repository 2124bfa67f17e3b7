"""Notebook 00 as a learner meets it."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from labs.course.catalogue import find_chapter

NAME = "00_start_here.ipynb"
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def ran(open_notebook):
    opened = open_notebook(NAME)
    opened.run_all()
    return opened


def test_opens_with_a_kernel_and_asks_nothing(open_notebook):
    opened = open_notebook(NAME)
    opened.screenshot("00-opened")
    assert opened.kernel_name() == "Python 3 (ipykernel)"
    assert opened.questions() == []


def test_runs_to_the_end(ran):
    ran.screenshot("00-ran")
    outputs = [output for cell in ran.save().cells for output in cell.get("outputs", ())]
    assert [output for output in outputs if output.output_type == "error"] == []
    assert outputs
    assert ran.prompts.filter(has_text="[ ]").count() == 0
    assert ran.faults == []
    assert ran.questions() == []


def test_the_widget_test_answers(ran):
    ran.notebook.get_by_role("button", name="Press me").click()
    expect(ran.notebook.get_by_text("1 press reached Python")).to_be_visible()


def test_the_quiz_is_answered_by_keyboard_alone(ran):
    question = find_chapter("00").quiz[0]
    right = next(index for index, option in enumerate(question.options) if option.right)
    quiz = ran.card("Quiz: Start here")
    ran.notebook.locator(".jp-CodeCell").last.locator(
        ".jp-InputPrompt"
    ).click()  # where a reader's last cell ran
    ran.tab_to(quiz.get_by_role("radio").first)
    for _ in range(right):
        ran.page.keyboard.press("ArrowDown")
    ran.page.keyboard.press("Space")
    ran.tab_to(quiz.get_by_role("button", name="Submit").first)
    ran.page.keyboard.press("Enter")
    expect(quiz.get_by_role("status").first).to_contain_text("Right")
    ran.screenshot("00-quiz")


def test_the_course_s_widgets_are_accessible(ran):
    found = Axe().run(ran.page, context=".labs-card")
    assert found.violations_count == 0, found.generate_report()
