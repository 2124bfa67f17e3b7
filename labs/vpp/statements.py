"""Splitting what a learner types into the statements VPP's CLI takes one at a time."""

from __future__ import annotations

from labs.errors import LabError

MAX_LENGTH = 32 * 1024
"""Longest statement, in bytes: VPP takes whatever one read brings as one line (vlib/unix/cli.c)."""

_COMMENTS = ("#", "//")


def split_statements(text: str) -> list[str]:
    """Return the statements in `text`, in order.

    A statement is a line, except that a ``{`` not yet closed joins the lines that follow with a
    space, since VPP's ``packet-generator new { ... }`` fails on a line break, and that a backslash
    at the end of a line joins the next one. Blank lines and lines that begin with ``#`` or ``//``
    are left out.

    Raises
    ------
    LabError
        A brace is left open, or a statement is too long.
    """
    statements: list[str] = []
    parts: list[str] = []
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith(_COMMENTS):
            continue
        goes_on = line.endswith("\\")
        parts.append(line.removesuffix("\\").rstrip())
        if not goes_on and _depth(parts) <= 0:
            statements.append(_join(parts))
            parts = []
    if parts:
        if _depth(parts) > 0:
            raise LabError(
                f"A brace is opened but not closed: {_join(parts)}",
                "close it with } on this line or a later one.",
            )
        statements.append(_join(parts))
    return [_checked(statement) for statement in statements if statement]


def _join(parts: list[str]) -> str:
    return " ".join(part for part in parts if part)


def _depth(parts: list[str]) -> int:
    return sum(part.count("{") - part.count("}") for part in parts)


def _checked(statement: str) -> str:
    if "\0" in statement:
        raise LabError("A CLI line holds a NUL character.", "remove it.")
    if len(statement.encode(errors="replace")) > MAX_LENGTH:
        raise LabError(
            f"A CLI line of {len(statement)} characters is too long; VPP would cut it in two.",
            f"keep a line below {MAX_LENGTH} bytes, or write the lines to a file and use: exec FILE",
        )
    return statement
