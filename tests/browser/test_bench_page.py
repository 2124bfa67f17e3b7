"""The bench's parts in a page: picture, badge, plots and command log, fed with made-up tracks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from jupyter_page import SCREENSHOTS, write_notebook
from playwright.sync_api import expect

from labs.bench.theme import SERIES

NAME = "bench_parts.ipynb"
MADE_UP = Path(__file__).resolve().parents[1] / "bench"
CELLS = [
    f"""
import sys, threading
sys.path.insert(0, {str(MADE_UP)!r})
import ipywidgets as widgets
import made_up_tracks as made_up
from labs.bench.badge import Badge
from labs.bench.command_log import CommandLog
from labs.bench.picture import Picture
from labs.bench.plots import Plots, Reference
from labs.bench.theme import stylesheet
from labs.quality import Quality, Reason
from labs.views import End, LabView, NodeView
""",
    """
plots, picture, badge, log = Plots(["vpp1", "vpp2"], [0, 1]), Picture(), Badge(), CommandLog()
shared = Reason("The nodes share their cores with this notebook.", "Read the median, not the maximum.")
virtual = Reason("This is a virtual machine.", "Its host may run something else at any time.")
dead = False
def view():
    def end(role, address):
        return End("memif.sock", 0, "memif0/0", role, address, connected=not dead)
    vpp1 = NodeView("vpp1", (0,), True, (end("server", "10.10.2.1/24"),))
    vpp2 = NodeView("vpp2", None if dead else (1,), True, () if dead else (end("client", "10.10.2.2/24"),))
    return LabView("two-vpps: made up", (vpp1, vpp2))
def show(now):
    plots.draw(made_up.tables(now), made_up.marks(now), now, Reference("A", {"probe_p50": (2, 2.5, 3)}))
    picture.show(view(), {("vpp1", "vpp2"): (12.3, 0.04)}, {"vpp1": "polling", "vpp2": "polling"})
    badge.show(Quality((virtual, shared)))
now = 6040.0
show(now)
log.add("pinning: same core", ["taskset -a -cp 0 4242", "taskset -a -cp 0 4243"])
log.add("rx-mode: interrupt", ["vppctl -s /run/labs/vpp1/cli.sock set interface rx-mode memif0/0 interrupt"])
head = widgets.HBox([picture.widget, badge.widget]).add_class("labs-head")
style = widgets.HTML(
    stylesheet()
    + "<style>.labs-bench, .labs-bench > *, .labs-head > * { overflow: visible; }"
    + ".labs-bench { padding: 12px; }"
    + ".labs-head { justify-content: space-between; align-items: flex-start; }</style>"
)
box = widgets.VBox([style, head, plots.widget, log.widget])
box.add_class("labs-bench")
box
""",
    """
stop = threading.Event()
def flow():
    global now
    while not stop.wait(0.25):
        now += 0.25
        show(now)
thread = threading.Thread(target=flow)
thread.start()
""",
    "stop.set(); thread.join()",
    'dead = True; badge.show(Quality((virtual,))); log.add("vpp2 died", [])\npicture.show(view())',
    "plots.clear()",
]
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def opened(open_notebook, notebooks):
    write_notebook(notebooks / NAME, CELLS)
    page = open_notebook(NAME)
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.page.set_viewport_size({"width": 1280, "height": 1400})
    page.run_cell(0)
    page.run_cell(1)
    return page


@pytest.fixture
def bench(opened):
    return opened.notebook.locator(".labs-bench")


@pytest.fixture
def cursor(bench):
    return bench.get_by_role("slider")


def figure(bench, name):
    return bench.get_by_role("button", name=name).locator(".labs-plots-value")


def ink(bench, colour):
    """Return how many pixels of the canvas have about a colour."""
    return bench.locator("canvas").evaluate(
        """(canvas, [red, green, blue]) => {
          const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          let found = 0;
          for (let at = 0; at < all.length; at += 4) {
            const near = [red, green, blue].every((part, k) => Math.abs(all[at + k] - part) < 5);
            if (all[at + 3] > 250 && near) found++;
          }
          return found;
        }""",
        [int(colour[at : at + 2], 16) for at in (1, 3, 5)],
    )


def picture_of(bench, theme):
    """Keep a picture for a person to look at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    bench.screenshot(path=SCREENSHOTS / f"bench-parts-{theme}.png")


def copied(opened):
    return opened.page.evaluate("navigator.clipboard.readText()")


def places(bench):
    """Return where everything stands in the bench that is to stand still."""
    return bench.evaluate(
        """bench => {
          const top = bench.getBoundingClientRect();
          const still = "svg text, .labs-plots-title, .labs-plots-legend button, .labs-log, summary";
          return [...bench.querySelectorAll(still)].map((each) => {
            const { x, y, height } = each.getBoundingClientRect();
            return [x - top.x, y - top.y, height].map(Math.round);
          });
        }"""
    )


def test_it_shows_the_last_figures_and_draws_its_lines(bench):
    expect(figure(bench, "probe p50")).to_have_text(re.compile(r"^2\.\d+ µs$"))
    expect(figure(bench, "ping p50")).to_have_text(re.compile(r"^7\d\.\d µs$"))
    expect(figure(bench, "received")).to_have_text(re.compile(r"^1[12]\.\d$"))
    expect(figure(bench, "vpp2 runs")).to_have_text(re.compile(r"^9\d %$"))
    for name in ("probe_p50", "ping_p50", "received", "notebook"):
        assert ink(bench, SERIES[name].colour) > 200, name


def test_marks_are_words_in_the_page(bench):
    labels = bench.locator(".labs-plots-mark")
    expect(labels).to_have_count(2)
    assert set(labels.all_inner_texts()) == {"pinning: same core", "pinning: a core each"}
    expect(labels.filter(has_text="same core")).to_have_attribute("title", re.compile("taskset"))


def test_a_moment_can_be_read_by_keyboard(opened, bench, cursor):
    opened.tab_to(cursor)
    for _ in range(10):
        opened.page.keyboard.press("ArrowLeft")
    expect(cursor).to_have_attribute("aria-valuetext", "10.0 s ago")
    expect(figure(bench, "probe p50")).to_have_text(re.compile(r"^6\.\d+ ms$"))
    opened.page.keyboard.press("Home")
    expect(cursor).to_have_attribute("aria-valuenow", "-60")
    opened.page.keyboard.press("Escape")
    expect(cursor).to_have_attribute("aria-valuetext", "now")
    expect(figure(bench, "probe p50")).to_have_text(re.compile("µs"))


def test_a_moment_can_be_read_by_mouse(opened, bench, cursor):
    box = cursor.bounding_box()
    opened.page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 200)
    expect(bench.locator(".labs-plots-cursor")).to_be_visible()
    expect(bench.locator(".labs-plots-cursor")).to_contain_text("s ago")
    opened.page.mouse.move(5, 5)
    expect(bench.locator(".labs-plots-cursor")).to_be_hidden()


def test_a_line_can_be_hidden_and_shown_by_keyboard(opened, bench):
    button = bench.get_by_role("button", name="received")
    colour = SERIES["received"].colour
    before = ink(bench, colour)
    opened.tab_to(button)
    opened.page.keyboard.press("Space")
    expect(button).to_have_attribute("aria-pressed", "false")
    opened.page.wait_for_timeout(200)
    assert ink(bench, colour) < before - 200
    opened.page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    opened.page.wait_for_timeout(200)
    assert ink(bench, colour) == before


def test_commands_are_copied_one_by_one_and_all(opened, bench):
    bench.get_by_role("button", name="Copy the commands of pinning: same core").click()
    expect(bench.locator(".labs-log [role=status]")).to_have_text("Copied: pinning: same core")
    assert copied(opened) == "taskset -a -cp 0 4242\ntaskset -a -cp 0 4243"
    opened.tab_to(bench.get_by_role("button", name="Copy all"))
    opened.page.keyboard.press("Enter")
    expect(bench.locator(".labs-log [role=status]")).to_have_text("Copied: all commands")
    lines = copied(opened).splitlines()
    assert re.fullmatch(r"# \d\d:\d\d:\d\d pinning: same core", lines[0])
    assert lines[-1].endswith("memif0/0 interrupt")


def test_they_are_copied_without_a_clipboard_too(opened, bench):
    """As on a page that came over plain http from another machine."""
    hide = "value => Object.defineProperty(navigator, 'clipboard', { configurable: true, get: () => value })"
    opened.page.evaluate("window.labsClipboard = navigator.clipboard")
    opened.page.evaluate(hide, None)
    button = bench.get_by_role("button", name="Copy the commands of rx-mode: interrupt")
    button.click()
    expect(bench.locator(".labs-log [role=status]")).to_have_text("Copied: rx-mode: interrupt")
    assert button.evaluate("element => element === document.activeElement")
    opened.page.evaluate(f"({hide})(window.labsClipboard)")
    assert copied(opened).startswith("vppctl -s")


def test_as_time_goes_by_lines_move_and_nothing_else(opened, bench):
    still = places(bench)
    mark = bench.locator(".labs-plots-mark", has_text="same core")
    before = mark.bounding_box()["x"]
    opened.run_cell(2)
    opened.page.wait_for_timeout(4000)
    assert 20 < before - mark.bounding_box()["x"] < 200
    assert places(bench) == still


def test_the_badge_opens_by_keyboard_and_stays_open_while_figures_come(opened, bench):
    summary = bench.locator("summary")
    expect(summary).to_contain_text("Quality: fair")
    opened.tab_to(summary)
    opened.page.keyboard.press("Enter")
    reason = bench.get_by_text("Read the median, not the maximum.")
    expect(reason).to_be_visible()
    opened.page.wait_for_timeout(800)
    expect(reason).to_be_visible()
    picture_of(bench, "light")
    opened.page.keyboard.press("Escape")
    expect(reason).to_be_hidden()


def test_it_reads_as_well_in_the_dark(opened, bench):
    opened.page.get_by_role("menuitem", name="Settings", exact=True).click()
    for words in ("Theme", "JupyterLab Dark"):
        opened.page.locator(".lm-Menu-item", has=opened.page.get_by_text(words, exact=True)).click()
    expect(opened.page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    picture_of(bench, "dark")
    bench.locator("summary").click()
    found = Axe().run(opened.page, context=".labs-bench")
    assert found.violations_count == 0, found.generate_report()
    bench.locator("summary").click()


def test_a_page_that_comes_back_shows_the_same(opened, bench):
    opened.run_cell(3)
    opened.page.wait_for_timeout(1500)  # the last figures come a little later than the last lines
    labels, told = bench.locator(".labs-plots-mark"), figure(bench, "probe p50").inner_text()
    words = labels.all_inner_texts()
    opened.page.keyboard.press("Control+s")
    opened.page.reload()
    opened.wait_idle()
    expect(figure(bench, "probe p50")).to_have_text(told)
    assert sorted(labels.all_inner_texts()) == sorted(words)
    assert ink(bench, SERIES["probe_p50"].colour) > 200
    expect(bench.locator(".labs-log li")).to_have_count(2)
    expect(opened.notebook.locator(".labs-plots")).to_have_count(1)


def test_a_dead_node_is_plain_to_see(opened, bench):
    bench.locator("summary").click()
    opened.run_cell(4)
    expect(bench.get_by_role("img", name="vpp2: ended")).to_be_visible()
    expect(bench.get_by_text("✕ ended")).to_be_visible()
    expect(bench.locator(".labs-log li").first).to_contain_text("vpp2 died")
    expect(bench.get_by_text("This is a virtual machine.")).to_be_visible()  # still open, with other reasons
    expect(bench.get_by_text("Read the median")).to_have_count(0)
    bench.locator("summary").click()
    picture_of(bench, "dead")


def test_cleared_it_is_empty_and_no_fault_was_seen(opened, bench):
    opened.run_cell(5)
    expect(figure(bench, "probe p50")).to_have_text("–")  # noqa: RUF001 - as it is shown
    expect(bench.locator(".labs-plots-mark")).to_have_count(0)
    assert ink(bench, SERIES["probe_p50"].colour) == 0
    assert opened.faults == []
