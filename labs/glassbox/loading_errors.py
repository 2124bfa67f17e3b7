"""What is wrong with a learner's node, in a sentence and with the line: numba's words, sifted."""

from __future__ import annotations

import ast
import re
import traceback
from typing import TYPE_CHECKING

from labs.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path

_SAMPLE = '@node("my-node", to=("ip4-drop", "ip4-lookup"))'
_NO_LISTS = "a node cannot make lists, arrays, dicts or texts"
_HINT = "a node works with numbers, vm, frame and nexts; read labs/glassbox/nodes for examples."
_CORRECT = "correct that line."
_LONGEST = 160

# What numba says, and what we make of it; the first that is found counts.
_SENTENCES = (
    (r"NRT required but not enabled", _NO_LISTS),
    (r"name '(\w+)' is not defined", r"the name \1 is not defined"),
    (r"Untyped global name '(\w+)':?[^\n]*", r"\1 cannot be used inside a node"),
    (r"Unknown attribute '(\w+)' of type Vm\(", r"vm has no \1"),
    (r"Unknown attribute '(\w+)' of type (?:u?int\d+|float\d+)", r"a number has no \1"),
    (r"Unknown attribute '(\w+)' of type Record", r"that row has no field \1"),
    (r"Unknown attribute '(\w+)' of type (\w+)", r"\2 has no \1"),
    (r">>> setitem\(.*Literal\[str\]\((.*?)\)\)", r"the text '\1' cannot be stored in an array of numbers"),
    (r"Cannot unify (\S+) and (\S+) for '(\w+)(?:\.\d+)?'", r"\3 is once \1 and once \2"),
    (r">>> (\w+)\((.*)\)", r"\1 cannot be done with these types: \2"),
    (
        r"variable '?(\w+)'? (?:is )?(?:not found|referenced before assignment)",
        r"\1 is used before it has a value",
    ),
)


def worded(error: Exception, file: Path) -> LabError:
    """Return what went wrong when a learner's file was read and run."""
    if isinstance(error, SyntaxError):
        return _told(file, error.lineno, error.msg, _CORRECT)
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == str(file)]
    return _told(file, lines[-1] if lines else None, f"{type(error).__name__}: {error}", _CORRECT)


def uncompiled(error: Exception, file: Path, begin: int) -> LabError:
    """Return why a learner's node was not compiled.

    Parameters
    ----------
    error : Exception
        Numba's.
    file : Path
    begin : int
        The line at which the node begins.
    """
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    if isinstance(error, KeyError):
        return _told(file, begin, f"there is no field {text} in that row", _HINT)
    return _told(file, _line(text, file) or begin, _sentence(text), _HINT)


def missing_node(tree: ast.Module, file: Path) -> LabError:
    """Return why a file that was read without an error has declared no node."""
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    if not functions:
        return LabError(f"{file.name} has no function.", f"write one, with {_SAMPLE} above it.")
    for function in functions:
        if any(isinstance(each, ast.Name) and each.id == "node" for each in function.decorator_list):
            line = function.decorator_list[0].lineno
            return _told(file, line, "@node has no name in parentheses", f"write {_SAMPLE}.")
    first = functions[0]
    return _told(
        file, first.lineno, f"{first.name} is not declared to be a node", f"write {_SAMPLE} above it."
    )


def _told(file: Path, line: int | None, sentence: str, hint: str) -> LabError:
    where = f"{file.name}, line {line}" if line else file.name
    return LabError(f"{where}: {sentence.rstrip('.')}.", hint)


def _sentence(text: str) -> str:
    """Return what numba means."""
    for pattern, sentence in _SENTENCES:
        if found := re.search(pattern, text):
            made = re.sub(r"Vm\(.*", "vm", found.expand(sentence))
            return made if len(made) <= _LONGEST else f"{made[:_LONGEST]}..."
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in")]
    return (lines or ["it cannot be compiled"])[0].removesuffix(" Raised from None")[:_LONGEST]


def _line(text: str, file: Path) -> int | None:
    """Return the line of the file that numba's words are about."""
    if found := re.search(r"name '(\w+)' is not defined|global name '(\w+)'", text):
        line = _first_use(file, found[1] or found[2])
        if line:
            return line
    places = re.findall(rf'{re.escape(file.name)}(?:", line |:| \()(\d+)', text)
    return int(places[0]) if places else None


def _first_use(file: Path, name: str) -> int | None:
    """Return the line at which a name is read first."""
    uses = [
        each.lineno
        for each in ast.walk(ast.parse(file.read_text()))
        if isinstance(each, ast.Name) and each.id == name
    ]
    return min(uses, default=None)
