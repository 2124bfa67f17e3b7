"""A notebook open in JupyterLab, driven as a person would."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from playwright.sync_api import expect

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build/screenshots"
SLOW = 120_000  # milliseconds; a kernel's start and a whole notebook's run take long on a busy machine
MOST_TABS = 300


def write_notebook(file, cells):
    """Write a notebook of code cells."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    made = [nbformat.v4.new_code_cell(each.strip()) for each in cells]
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata=kernel), file)


class JupyterPage:
    """One notebook in one browser page.

    Parameters
    ----------
    page : playwright.sync_api.Page
    address : str
        The notebook's address, with the token.
    file : Path
        The same notebook on disk.
    """

    def __init__(self, page, address, file):
        self.page = page
        self.file = file
        self.faults = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.goto(address)
        self.wait_idle()

    @property
    def notebook(self):
        return self.page.locator(".jp-NotebookPanel:visible")

    def wait_idle(self):
        """Wait until there is a kernel and no cell is running or waiting."""
        expect(self.notebook.locator(".jp-Toolbar-kernelName")).not_to_have_text("No Kernel", timeout=SLOW)
        idle = self.notebook.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
        expect(idle).to_be_visible(timeout=SLOW)
        expect(self.prompts.filter(has_text="[*]")).to_have_count(0, timeout=SLOW)

    def run_all(self):
        """Run all cells by the menu, and wait until none is running or waiting; an error stops the run."""
        self.choose("Run", "Run All Cells")
        expect(self.prompts.first).not_to_have_text("[ ]:", timeout=SLOW)
        self.wait_idle()

    def run_cell(self, number):
        """Run one code cell by its number, from 0, and wait for its end."""
        self.notebook.locator(".jp-CodeCell").nth(number).locator(".jp-InputPrompt").click()
        self.page.keyboard.press("Control+Enter")
        self.wait_idle()

    def run_to(self, text):
        """Run all cells down to the first one that holds `text`, and that one."""
        self.cell(text).locator(".jp-InputPrompt").click()
        self.choose("Run", "Run All Above Selected Cell")
        self.wait_idle()
        self.cell(text).locator(".jp-InputPrompt").click()
        self.page.keyboard.press("Control+Enter")
        expect(self.cell(text).locator(".jp-InputPrompt")).to_have_text(
            re.compile(r"\[[\d*]+\]:"), timeout=SLOW
        )
        self.wait_idle()

    def run_code(self, code, *, wait=True):
        """Run a line of code in a new cell at the end; return what it printed, if it is waited for."""
        self.notebook.locator(".jp-Cell").last.locator(".jp-InputPrompt, .jp-MarkdownOutput").first.click()
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("b")
        self.page.keyboard.press("Enter")
        self.page.keyboard.insert_text(code)
        self.page.keyboard.press("Control+Enter")
        cell = self.notebook.locator(".jp-CodeCell").last
        if not wait:
            expect(cell.locator(".jp-InputPrompt")).to_have_text("[*]:", timeout=SLOW)
            return ""
        expect(cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"), timeout=SLOW)
        return "".join(cell.locator(".jp-OutputArea-output").all_inner_texts())

    def cell(self, text):
        """Return the first code cell that holds `text`."""
        return self.notebook.locator(".jp-CodeCell").filter(has_text=text).first

    def choose(self, menu, entry):
        """Choose an entry of a menu."""
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.get_by_role("menuitem", name=entry, exact=True).click()

    @property
    def prompts(self):
        """The prompts of the code cells: ``[ ]:``, then ``[*]:``, then a number."""
        return self.notebook.locator(".jp-CodeCell .jp-InputPrompt")

    def kernel_name(self):
        """Return the kernel's name as the toolbar shows it."""
        return self.notebook.locator(".jp-Toolbar-kernelName").inner_text()

    def questions(self):
        """Return the texts of what stands in a reader's way: dialogs and notifications."""
        return self.page.locator(".jp-Dialog, .Toastify__toast").all_inner_texts()

    def card(self, text):
        """Return the card of the course's widgets in which `text` stands."""
        return self.notebook.locator(".labs-card", has_text=text)

    def tab_to(self, target):
        """Press Tab until `target` has the focus."""
        for _ in range(MOST_TABS):
            self.page.keyboard.press("Tab")
            if target.evaluate("element => element === document.activeElement"):
                return
        raise AssertionError(f"{MOST_TABS} presses of Tab did not reach {target}")

    def save(self):
        """Save the notebook, and return what is then on disk."""
        before = self.file.stat().st_mtime_ns
        self.page.keyboard.press("Control+s")
        for _ in range(SLOW // 100):
            if self.file.stat().st_mtime_ns != before:
                break
            self.page.wait_for_timeout(100)
        return nbformat.read(self.file, as_version=4)

    def screenshot(self, name):
        """Keep a picture for a person to look at."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")
