"""Recognising in VPP's text that it refused a command line, and where in the line.

Over the CLI socket VPP does not say whether a command failed. But src/vlib/cli.c builds each
failure's text in one of three ways, and prints it last: ``<path>: <message>``, with the command's
full path even where the learner abbreviated it; ``<parent path>: unknown input `<rest>'``; or, at
the top, ``unknown input `<rest>'``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = re.compile(r"[A-Za-z0-9_-]+")
_FAILURE = re.compile(r"(?P<path>[A-Za-z0-9_-]+(?: [A-Za-z0-9_-]+)*): (?P<message>.*)")
_UNKNOWN_AT_TOP = "unknown input `"
_QUOTED = re.compile(r"[`'](?P<rest>[^`]*)'")
_CUT = "..."  # format_unformat_error shows 30 characters at most

# Where VPP names no place, its words tell which argument it means.
_ARGUMENTS = (
    ("Invalid prefix len", r"\S+/\d+"),
    ("ring size", r"\bring-size\b"),
    ("rx queue", r"\brx-queues\b"),
    ("tx queue", r"\btx-queues\b"),
    ("unknown socket id", r"\bsocket-id\b"),
    ("both master and slave", r"\b(master|slave)\b"),
    ("(entry already exists", r"\bfilename\b"),
    ("tunnel teid specified", r"\bteid\b"),
    ("qfi max value", r"\bqfi\b"),
    ("encap-vrf-id", r"\bencap-vrf-id\b"),
    ("valid worker thread", r"\bworker\b"),
    ("unknown queue", r"\bqueue\b"),
)

# What some commands print although they report success.
_SOMETHING_WAS_SENT = re.compile(r"^Statistics: [1-9]", re.MULTILINE)  # then a ping is no failure
_SILENT_FAILURES = re.compile(
    r"Failed: (?!OK).*"
    r"|Aborted due to a keypress\..*"
    r"|Invalid prefix len: .*"
    r"|interface and address must be set"
    r"|expected file name, got .*"
    r"|expecting threshold value"
    r"|Counter '.*' not found\."
)


@dataclass(frozen=True)
class CliFailure:
    """A refused command line.

    Attributes
    ----------
    text : str
        VPP's own words.
    at : int
        Column in the statement, from 0, where the part begins that VPP could not take.
    before : str
        What VPP printed before it refused.
    """

    text: str
    at: int
    before: str = ""


def classify(statement: str, output: str) -> CliFailure | None:
    """Return how VPP refused `statement`, or None if `output` shows no refusal.

    Parameters
    ----------
    statement : str
        The line as it was sent.
    output : str
        VPP's whole answer to it.
    """
    lines = output.rstrip().split("\n")
    for number in range(len(lines) - 1, -1, -1):
        at = _failure_column(statement, lines[number], is_last=number == len(lines) - 1)
        if at is not None:
            text, before = "\n".join(lines[number:]).strip(), "\n".join(lines[:number]).strip("\n")
            return CliFailure(text, at, before)
    return _silent_failure(statement, output, lines)


def _silent_failure(statement: str, output: str, lines: list[str]) -> CliFailure | None:
    line = next((line for line in lines if _SILENT_FAILURES.fullmatch(line)), None)
    if line is None or (line.startswith("Failed: ") and _SOMETHING_WAS_SENT.search(output)):
        return None
    words = list(_WORD.finditer(statement))
    after = _skip_space(statement, words[0].end() if words else 0)
    return CliFailure(line, _quoted_column(statement, line, after))


def _failure_column(statement: str, line: str, *, is_last: bool) -> int | None:
    """Return where in `statement` the refused part begins, or None if `line` is no refusal of it."""
    if is_last and line.startswith(_UNKNOWN_AT_TOP):
        return _quoted_column(statement, line, 0)
    match = _FAILURE.match(line)
    if match:
        path = match["path"].split(" ")
        end = _path_end(
            statement, path, anywhere=len(path) > 1 or match["message"].startswith(_UNKNOWN_AT_TOP)
        )
        if end is not None:
            return _quoted_column(statement, match["message"], end)
    return None


def _path_end(statement: str, path: list[str], *, anywhere: bool) -> int | None:
    """Return the column after the words of `statement` that abbreviate `path`.

    A line may hold several commands, one after the other, so the path need not stand at its
    beginning. A path of one word may also be an interface's name (``show interface tag``): that
    counts at the beginning only.
    """
    words = list(_WORD.finditer(statement))
    for first in range(len(words) - len(path) + 1 if anywhere else 1):
        typed = words[first : first + len(path)]
        if len(typed) == len(path) and all(
            full.startswith(word.group()) for full, word in zip(path, typed, strict=True)
        ):
            return typed[-1].end()
    return None


def _quoted_column(statement: str, message: str, after: int) -> int:
    """Return where the input that VPP quotes in `message` stands in `statement`.

    Many commands quote nothing, since they look at an input already used up: then it is the first
    argument, after column `after`.
    """
    match = _QUOTED.search(message)
    rest = match["rest"].replace("\\t", "\t") if match else ""
    end = len(statement.rstrip())
    if rest.endswith(_CUT):
        at = statement.find(rest.removesuffix(_CUT), after)
    elif rest and statement[:end].endswith(rest):
        at = end - len(rest)
    else:
        at = statement.rfind(rest) if rest else -1
    return at if at >= 0 else _argument_column(statement, message, after)


def _argument_column(statement: str, message: str, after: int) -> int:
    for words, argument in _ARGUMENTS:
        if words in message and (found := re.compile(argument).search(statement, after)):
            return found.start()
    return _skip_space(statement, after)


def _skip_space(statement: str, at: int) -> int:
    """Return the column of the first character at or after `at` that is not a blank."""
    return at + len(statement[at:]) - len(statement[at:].lstrip())
