"""The rules that every notebook of the course keeps, each a small function: what `labs check` runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from labs.course import catalogue
from labs.course.model import cells as split_cells
from labs.errors import LabError
from labs.notebook_file import CHECKED, KEPT_COUNT, METADATA, Notebook, fix, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["RULES", "Finding", "check", "fix"]

Complaint = tuple[int | None, str]

LONGEST_CELL = 20
_HEADING = re.compile(r"^(#{1,6})\s+\S.*", re.MULTILINE)
_IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\(|<img\b(?P<tag>[^>]*)>", re.IGNORECASE)
_ALT = re.compile(r"""\balt\s*=\s*(["'])\s*\S.*?\1""", re.IGNORECASE | re.DOTALL)
_MACHINE_PATH = re.compile(r"(?<![\w.])(/home/\w+|/Users/\w+|/root\b|[A-Z]:\\\w+)")


@dataclass(frozen=True)
class Finding:
    """One rule that a notebook breaks.

    Parameters
    ----------
    file : Path
    cell : int or None
        The cell's number, 1 for the first; None if the whole notebook is meant.
    sentence : str
        What is wrong.
    """

    file: Path
    cell: int | None
    sentence: str

    def __str__(self) -> str:
        place = f", cell {self.cell}" if self.cell else ""
        return f"{self.file}{place}: {self.sentence}"


def first_cell_introduces(book: Notebook) -> Iterator[Complaint]:
    """Expect the title, what one will be able to do, the minutes and the needs in the first cell."""
    first = book.content.cells[0] if book.content.cells else None
    if first is None or first.cell_type != "markdown" or not first.source.startswith("# "):
        yield 1, "the notebook must begin with a Markdown cell whose first line is its title, '# …'."
        return
    text = first.source.lower()
    if "you will be able to" not in text:
        yield 1, "the first cell must say what the reader 'will be able to' do."
    if not re.search(r"\bneeds?\b", text):
        yield 1, "the first cell must say what the notebook needs."
    minutes = re.search(r"\b(\d+)\s*min", text)
    if not minutes:
        yield 1, "the first cell must say how many minutes the notebook takes."
        return
    try:
        planned = catalogue.find_chapter(book.number).minutes
    except LabError:
        yield None, "the course's catalogue (labs/course/catalogue) has no chapter of this number."
        return
    if int(minutes[1]) != planned:
        yield 1, f"the first cell says {minutes[1]} minutes, and the catalogue {planned}."


def last_cell_stops_the_lab(book: Notebook) -> Iterator[Complaint]:
    """Expect the last code cell to stop the lab, in a notebook that makes one."""
    code = book.cells("code")
    makes_a_lab = any(re.search(r"\b(two_vpps|one_vpp|Lab)\(", cell.source) for _, cell in code)
    if makes_a_lab and not re.search(r"^\w+\.stop\(\)", code[-1][1].source, re.MULTILINE):
        yield code[-1][0], "the last code cell must stop the lab: lab.stop()."


def outputs_are_stripped(book: Notebook) -> Iterator[Complaint]:
    """Expect no outputs but those that tests compare, and these the same on every machine."""
    for index, cell in book.cells("code"):
        checked = CHECKED.search(cell.source)
        if cell.execution_count != (KEPT_COUNT if checked and cell.outputs else None):
            yield index, f"the cell has the execution count {cell.execution_count}; run: labs check --fix."
        if not checked:
            if cell.outputs:
                yield index, "the cell keeps its output; run: labs check --fix."
            continue
        text = "".join(map(shown, cell.outputs))
        if not text.strip():
            yield index, "a cell marked NBVAL_CHECK_OUTPUT must keep its output; run it and save."
        if re.search(r"\d", text):
            yield index, "an output that is compared must have no digits: it differs from machine to machine."
        if "✗" in text:
            yield index, "the output that is kept says that a claim does not hold."
        if any(
            output.output_type == "error" for output in cell.outputs
        ) and "raises-exception" not in cell.metadata.get("tags", ()):
            yield index, "a cell that raises on purpose carries the tag raises-exception."


def code_cells_are_short(book: Notebook) -> Iterator[Complaint]:
    """Expect code cells that show the networking, not the plumbing."""
    for index, cell in book.cells("code"):
        lines = len(cell.source.splitlines())
        if lines > LONGEST_CELL:
            yield index, f"the cell has {lines} lines; at most {LONGEST_CELL} are readable."


def images_have_text(book: Notebook) -> Iterator[Complaint]:
    """Expect every picture to say in words what it shows."""
    for index, text in book.prose():
        for image in _IMAGE.finditer(text):
            if not ((image["alt"] or "").strip() or _ALT.search(image["tag"] or "")):
                yield index, "a picture has no alternative text."


def metadata_is_plain(book: Notebook) -> Iterator[Complaint]:
    """Expect the kernel python3, and nothing of the author's machine or session."""
    if book.content.metadata.get("kernelspec", {}).get("name") != "python3":
        yield None, "the kernel must be python3; run: labs check --fix."
    elif book.content.metadata != METADATA:
        yield None, "the notebook keeps metadata of a session; run: labs check --fix."


def stubs_match(book: Notebook) -> Iterator[Complaint]:
    """Expect each exercise of the chapter, with the catalogue's stub in its cells."""
    found: dict[str, list[tuple[int, str]]] = {}
    for index, cell in book.cells("code"):
        if name := cell.metadata.get("labs", {}).get("exercise"):
            found.setdefault(name, []).append((index, cell.source.strip("\n")))
    stubs = {each.id: each.stub for each in catalogue.all_exercises() if each.notebook == book.number}
    for name, given in found.items():
        if name not in stubs:
            yield given[0][0], f"chapter {book.number} of the catalogue has no exercise {name!r}."
        elif tuple(source for _, source in given) != split_cells(stubs[name]):
            yield given[0][0], f"the cells of exercise {name!r} differ from its stub in the catalogue."
    for name in stubs.keys() - found.keys():
        yield None, f"no cell carries the stub of exercise {name!r}."


def quiz_is_asked(book: Notebook) -> Iterator[Complaint]:
    """Expect the three questions of the notebook's own chapter."""
    call = re.compile(rf"""^quiz\(["']{re.escape(book.number)}["']\)""", re.MULTILINE)
    if not any(call.search(cell.source) for _, cell in book.cells("code")):
        yield None, f'a cell must ask the quiz: quiz("{book.number}").'


def headings_are_in_order(book: Notebook) -> Iterator[Complaint]:
    """Expect one title, heading levels that do not jump, and a section on what to take away."""
    level, titles = 0, 0
    for index, text in book.prose():
        for heading in _HEADING.finditer(text):
            below = len(heading[1])
            if below > level + 1:
                yield index, f"the heading '{heading[0].strip()}' skips a level."
            level, titles = below, titles + (below == 1)
    if titles > 1:
        yield None, "there is more than one title ('# …')."
    if not any(re.search(r"^## What to take away\s*$", text, re.MULTILINE) for _, text in book.prose()):
        yield None, "a section '## What to take away' is missing."


def no_path_of_a_machine(book: Notebook) -> Iterator[Complaint]:
    """Expect nothing that points into the author's own directories."""
    for index, cell in enumerate(book.content.cells, start=1):
        text = cell.source + "".join(map(shown, cell.get("outputs", ())))
        if path := _MACHINE_PATH.search(text):
            yield index, f"{path[0]!r} is a path of one machine."


RULES = (
    first_cell_introduces,
    last_cell_stops_the_lab,
    outputs_are_stripped,
    code_cells_are_short,
    images_have_text,
    metadata_is_plain,
    stubs_match,
    quiz_is_asked,
    headings_are_in_order,
    no_path_of_a_machine,
)


def check(paths: Iterable[Path | str]) -> list[Finding]:
    """Return what is wrong with the notebooks, file by file and cell by cell.

    Parameters
    ----------
    paths : iterable of Path or str
        Notebook files, each named ``NN_name.ipynb``.
    """
    findings = []
    for file in map(Path, paths):
        try:
            book = Notebook.read(file)
        except LabError as error:
            findings.append(Finding(file, None, error.message))
            continue
        found = [Finding(file, index, sentence) for rule in RULES for index, sentence in rule(book)]
        findings += sorted(found, key=lambda each: each.cell or 0)
    return findings
