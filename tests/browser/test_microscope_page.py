"""The microscope in a page, on a link of ours whose receiver is slow."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from jupyter_page import SCREENSHOTS, write_notebook
from playwright.sync_api import expect

NAME = "microscope.ipynb"
CELLS = [
    """
import tempfile, threading, time
from labs import memif, microscope
path = tempfile.mkdtemp(prefix="lm", dir="/tmp") + "/memif.sock"
server = memif.Server(path, rx_mode="interrupt")
client = memif.Client(path, ring_size=256)
server.start(); client.start(); client.wait_up(20); server.wait_up(20)
view = microscope(client)
view
""",
    """
def flow(stop, pause):
    while not stop.wait(pause):
        client.send([bytes(60)] * 10 + [bytes(3000)], timeout=0)
        server.receive_burst(8)
stop = threading.Event()
thread = threading.Thread(target=flow, args=(stop, 0.02))
thread.start()
""",
    """
stop.set(); thread.join()
print(view.text())
""",
    "client.close(); server.close()",
    'print([each.name for each in threading.enumerate() if each.name == "microscope"])',
]
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def opened(open_notebook, notebooks):
    write_notebook(notebooks / NAME, CELLS)
    page = open_notebook(NAME)
    page.run_cell(0)
    return page


@pytest.fixture
def scope(opened):
    return opened.card("Microscope:")


def picture(scope, theme):
    """Keep a picture for a person to look at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    scope.page.set_viewport_size({"width": 1280, "height": 1600})
    scope.screenshot(path=SCREENSHOTS / f"microscope-{theme}.png")


def full(scope, ring="s2m 0"):
    return int(scope.get_by_role("meter", name=f"filled slots of ring {ring}").get_attribute("aria-valuenow"))


def test_it_shows_rings_memory_and_handshake(scope):
    for words in ("our client sends, the server receives", "memif client 0 region 0", "ADD_REGION", "sleeps"):
        expect(scope).to_contain_text(words)
    assert full(scope) == 0


def test_the_fill_level_rises_as_the_receiver_is_slow(opened, scope):
    opened.run_cell(1)
    meter = scope.get_by_role("meter", name="filled slots of ring s2m 0")
    # the sender waits for room for a burst, so a few slots may stay empty
    nearly_full = re.compile(r"^2(4\d|5[0-6])$")
    expect(meter).to_have_attribute("aria-valuenow", nearly_full, timeout=20_000)
    expect(scope).to_contain_text(re.compile(r"2(4\d|5[0-6]) of 256 slots"))
    picture(scope, "light")


def test_frozen_by_keyboard_it_holds_still_and_the_text_says_the_same(opened, scope):
    opened.tab_to(scope.get_by_role("button", name="Freeze"))
    opened.page.keyboard.press("Enter")
    expect(scope.get_by_role("status")).to_contain_text("Frozen at")
    opened.page.wait_for_timeout(600)  # two looks and more
    shown = scope.locator("h4 small, dt, dd, td, th, .labs-fill strong").all_inner_texts()
    opened.page.wait_for_timeout(600)
    assert scope.locator("h4 small, dt, dd, td, th, .labs-fill strong").all_inner_texts() == shown
    opened.run_cell(2)
    printed = opened.notebook.locator(".jp-CodeCell").nth(2).locator(".jp-OutputArea-output").inner_text()
    assert "Frozen at" in printed
    for words in filter(None, shown):
        assert all(part.strip() in printed for part in words.split("  ")), words


def test_it_goes_on_by_keyboard_too(opened, scope):
    button = scope.get_by_role("button", name="Go on")
    opened.tab_to(button)
    opened.page.keyboard.press("Space")
    expect(scope.get_by_role("status")).to_contain_text("Live")
    expect(scope.get_by_role("button", name="Freeze")).to_be_visible()


def test_it_reads_as_well_in_the_dark(opened, scope):
    opened.page.get_by_role("menuitem", name="Settings", exact=True).click()
    for words in ("Theme", "JupyterLab Dark"):
        opened.page.locator(".lm-Menu-item", has=opened.page.get_by_text(words, exact=True)).click()
    expect(opened.page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    picture(scope, "dark")
    found = Axe().run(opened.page, context=".labs-scope")
    assert found.violations_count == 0, found.generate_report()


def test_it_says_when_the_link_is_closed_and_stops(opened, scope):
    opened.run_cell(3)
    expect(scope.get_by_role("status")).to_contain_text("The link is closed. This is the last look.")
    expect(scope.get_by_role("button")).to_be_disabled()
    opened.run_cell(4)
    told = opened.notebook.locator(".jp-CodeCell").nth(4).locator(".jp-OutputArea-output")
    expect(told).to_have_text("[]")
    assert opened.faults == []
