"""A notebook's file: reading it strictly, and stripping what must not be kept."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Cell = Any  # nbformat has no types

CHECKED = re.compile(r"^\s*#\s*NBVAL_CHECK_OUTPUT", re.MULTILINE)
"""Marks a cell whose output is kept and compared."""

KEPT_COUNT = 1
"""The execution count of every such cell; nbval takes a cell without one for never run, and fails it."""

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""All the metadata a notebook keeps."""

_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CODE_SPAN = re.compile(r"`[^`\n]*`")
_FORMAT = (4, 5)  # the first version in which cells have ids


@dataclass(frozen=True)
class Notebook:
    """A notebook as the rules look at it.

    Parameters
    ----------
    file : Path
    content : nbformat.NotebookNode
    """

    file: Path
    content: Any

    @property
    def number(self) -> str:
        """The two digits its name begins with."""
        return self.file.name[:2]

    def cells(self, kind: str) -> list[tuple[int, Cell]]:
        """Return the cells of a kind with their numbers, 1 for the first of all cells."""
        return [(i, cell) for i, cell in enumerate(self.content.cells, start=1) if cell.cell_type == kind]

    def prose(self) -> Iterator[tuple[int, str]]:
        """Yield each Markdown cell's number and text, with code blocks and code spans taken out."""
        for index, cell in self.cells("markdown"):
            yield index, _CODE_SPAN.sub("", _FENCED.sub("", cell.source))

    @classmethod
    def read(cls, file: Path) -> Notebook:
        """Read a notebook.

        Raises
        ------
        LabError
            The file cannot be read, or does not keep the format, in which each cell has an id.
        """
        try:
            raw = json.loads(file.read_text(encoding="utf-8"))
            has_ids = (raw["nbformat"], raw["nbformat_minor"]) >= _FORMAT
            if not has_ids or not all(
                "id" in cell for cell in raw["cells"]
            ):  # nbformat would add them in silence
                raise LabError("it has cells without an id.", "open it in JupyterLab and save it.")
            nbformat.validate(raw)
            return cls(file, nbformat.reads(json.dumps(raw), as_version=4))  # type: ignore[no-untyped-call]
        except (OSError, ValueError, TypeError, KeyError, nbformat.ValidationError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise LabError(f"it cannot be read as a notebook: {reason}.") from None


def shown(output: Cell) -> str:
    """Return the text of an output as a reader sees it."""
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}\n"
    text = output.get("text", output.get("data", {}).get("text/plain", ""))
    return "".join(text)


def fix(paths: Iterable[Path | str]) -> list[Path]:
    """Strip outputs that are not compared, execution counts and a session's metadata.

    Returns
    -------
    list of Path
        The files that changed. A file that is no notebook is left for the check to report.
    """
    changed = []
    for file in map(Path, paths):
        try:
            content = Notebook.read(file).content
        except LabError:
            continue
        before = _text(content)
        for cell in content.cells:
            if cell.cell_type == "code":
                _strip(cell)
        content.metadata.clear()
        content.metadata.update(METADATA)
        if _text(content) != before:
            file.write_text(_text(content) + "\n", encoding="utf-8")
            changed.append(file)
    return changed


def _strip(cell: Cell) -> None:
    checked = CHECKED.search(cell.source)
    cell.execution_count = KEPT_COUNT if checked and cell.outputs else None
    if not checked:
        cell.outputs = []
    for output in cell.outputs:
        if "execution_count" in output:
            output.execution_count = None


def _text(content: Any) -> str:  # noqa: ANN401
    return str(nbformat.writes(content)).rstrip("\n")  # type: ignore[no-untyped-call]
