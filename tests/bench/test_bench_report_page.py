"""Reports in the system's Chromium, without a network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from chromium import chromium
from made_up import bench
from playwright.sync_api import expect, sync_playwright

from labs.bench import report
from labs.bench.recording import Recording
from labs.bench.report import to_html
from labs.bench.tables import Mark
from labs.course.verdict import Verdict
from labs.experiments.run import Run

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build/screenshots"
HOSTILE = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 2'>"
SCHEMES = {"light": "rgb(255, 255, 255)", "dark": "rgb(33, 33, 33)"}


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as driver, chromium(driver) as started:
        yield started


@pytest.fixture
def show(browser, tmp_path):
    """Return a function that opens a report; at the end, nothing may have gone wrong or been asked for."""
    contexts, trouble = [], []

    def open_it(measured, scheme="light", width=1280):
        path = to_html(measured, tmp_path / "report.html")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: trouble.append(error.message))
        page.on("console", lambda told: trouble.append(told.text) if told.type == "error" else None)
        page.on("request", lambda asked: asked.url == path.as_uri() or trouble.append(asked.url))
        page.goto(path.as_uri())
        return page

    open_it.trouble = trouble
    yield open_it
    for context in contexts:
        context.close()
    assert not trouble


def a_run():
    windows = [{"state": state, "times_ms": [0.5, 2.0, 3.0]} for state in ("same", "apart", "free")]
    verdicts = [Verdict("a claim", passed=True), Verdict("another claim", passed=False)]
    summary = {"same": {"p50_ms": 7.1}, "apart": {"p50_ms": 0.08}}
    return Run("pinning", "process", {"data plane": "VPP"}, {}, windows, summary, verdicts=verdicts)


def drawn(page):
    expect(page.locator("#labs-plots")).to_have_attribute("data-drawn", "yes")
    return page.locator("#labs-plots .scatterlayer .trace")


def picture(page, name):
    """Keep a picture for a person to look at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("measured", [bench(), a_run()], ids=["recording", "run"])
def test_it_reads_well_in_both_schemes_and_axe_finds_nothing_serious(show, scheme, measured):
    page = show(measured, scheme)
    lines = page.locator("button[data-line]").count()
    assert drawn(page).count() == lines > 0
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == SCHEMES[scheme]
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    picture(page, f"report-{type(measured).__name__.lower()}-{scheme}")
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in {"serious", "critical"}] == []


def test_the_plots_follow_when_the_scheme_changes(show):
    page = show(bench())
    drawn(page)
    paper = page.locator("#labs-plots .main-svg").first
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        expect(paper).to_have_css("background-color", SCHEMES[scheme])


def test_a_line_is_hidden_and_shown_by_keyboard(show):
    page = show(bench())
    lines = drawn(page)
    count = lines.count()
    button = page.get_by_role("button", name="probe p99")
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(lines).to_have_count(count - 1)
    page.keyboard.press("Space")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(lines).to_have_count(count)


def test_dragging_looks_closer_and_a_button_shows_all_again(show):
    page = show(bench())
    drawn(page)
    box = page.locator("#labs-plots .nsewdrag").first.bounding_box()
    y = box["y"] + 100
    page.mouse.move(box["x"] + 0.6 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], y, steps=5)
    page.mouse.up()
    ticks = page.locator("#labs-plots .xtick text")
    expect(ticks.first).not_to_have_text("0")
    expect(page.locator("#labs-plots .annotation-text", has_text="traffic on")).to_have_count(0)
    page.get_by_role("button", name="Show all").click()
    expect(ticks.first).to_have_text("0")
    expect(page.locator("#labs-plots .annotation-text", has_text="traffic on")).to_have_count(1)


def test_the_legend_tells_the_figures_under_the_pointer(show):
    page = show(bench())
    drawn(page)
    box = page.locator("#labs-plots").bounding_box()
    figure = page.get_by_role("button", name="probe p50").locator(".value")
    page.mouse.move(box["x"] + 100, box["y"] + 150)
    expect(figure).to_have_text(re.compile(r"^\d[\d.]* µs$"))
    page.mouse.move(box["x"] + 0.45 * box["width"], box["y"] + 150)
    expect(figure).to_have_text(re.compile(r"^\d[\d.]* ms$"))
    page.mouse.move(box["x"] + 100, box["y"] - 60)
    expect(figure).to_have_text("")


def test_marks_are_numbered_and_told_where_there_is_room(show):
    page = show(bench())
    drawn(page)
    told = page.locator("#labs-plots .annotation-text").all_text_contents()
    assert any(re.search(r"^2\s+pinning: all nodes on one core$", each) for each in told)
    assert any(each == "3" for each in told)


def test_what_a_stranger_put_into_a_recording_does_nothing(show):
    recording = bench()
    recording.picture = f"<svg onload='window.hurt = 3'></svg>{HOSTILE}"
    recording.marks = [Mark(50.0, HOSTILE, (HOSTILE,))]
    recording.facts = {**recording.facts, HOSTILE: HOSTILE}
    page = show(recording)
    drawn(page)
    assert page.evaluate("window.hurt") is None


def test_even_a_script_in_the_page_would_not_run(show, monkeypatch):
    monkeypatch.setattr(report, "harmless", lambda picture: picture)
    recording = bench()
    recording.picture = "<svg><script>window.hurt = 1</script></svg><b onclick='window.hurt = 2'>here</b>"
    page = show(recording)
    drawn(page)
    show.trouble.clear()  # the browser's complaints about what it did not run
    page.get_by_text("here", exact=True).click()
    assert page.evaluate("window.hurt") is None
    show.trouble.clear()


def test_a_report_without_samples_opens_too(show):
    page = show(Recording())
    expect(page.get_by_role("heading", level=1)).to_have_text("A run on the bench")
    assert page.locator("#labs-plots").count() == 0


def test_on_a_narrow_screen_nothing_stands_outside(show):
    page = show(bench(), width=480)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 480
