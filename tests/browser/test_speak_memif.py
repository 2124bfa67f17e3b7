"""Notebook 06 as a learner meets it, on whichever engine is here."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def ran(open_notebook):
    opened = open_notebook("06_speak_memif.ipynb")
    opened.run_all()
    return opened


def test_runs_to_the_end(ran):
    ran.screenshot("06-ran")
    outputs = [output for cell in ran.save().cells for output in cell.get("outputs", ())]
    assert [output for output in outputs if output.output_type == "error"] == []
    assert ran.prompts.filter(has_text="[ ]").count() == 0
    assert ran.faults == []
    assert ran.questions() == []


def test_the_microscope_says_that_its_link_is_over(ran):
    seen = ran.notebook.get_by_text("Microscope: our client at")
    expect(seen).to_be_visible()
    expect(ran.notebook.get_by_text("This is the last look")).to_be_visible()


def test_a_picture_is_there_for_each_link_to_one(ran):
    pictures = ran.notebook.locator(".jp-MarkdownCell img")
    assert pictures.count() == 3
    assert pictures.evaluate_all("all => all.every(each => each.naturalWidth > 0 && each.alt)")


def test_the_check_of_an_exercise_that_was_not_done_says_what_is_missing(ran):
    card = ran.card("Exercise: Open sesame")
    card.get_by_role("button", name="Check").click()
    expect(card.get_by_role("status").first).to_contain_text("not started", timeout=60_000)


def test_the_course_s_widgets_are_accessible(ran):
    found = Axe().run(ran.page, context=".labs-card:not(.labs-scope)")  # the microscope has a test of its own
    assert found.violations_count == 0, found.generate_report()
