"""Reading and checking the text of a progress file."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from labs.course.records import COURSE, VERSION, Json, join
from labs.errors import LabError

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")
MAX_BYTES = 4_000_000
_MAX_DEPTH = 40


class BadProgress(LabError):  # noqa: N818 - as LabError's other children
    """A text is no progress file of this course."""


class NewerProgress(LabError):  # noqa: N818
    """A progress file was written by a later release, which this one must not rewrite."""


def render(data: Json) -> str:
    """Return records as the text of a file, the same text for the same records."""
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


def parse(content: bytes) -> Json:
    """Return the records in a file's bytes, in the form that `join` leaves them.

    Raises
    ------
    BadProgress
        The bytes are no progress file; the message says why, to follow the file's name: ``is not JSON``.
    NewerProgress
        The file has a later version than this release knows.
    """
    if len(content) > MAX_BYTES:
        raise BadProgress(f"is larger than {MAX_BYTES // 1_000_000} MB")
    try:
        data = json.loads(content.decode("utf-8"), parse_constant=_no_constant)
        json.dumps(data, allow_nan=False)  # 1e999 reads as infinity, which could not be written back
    except (ValueError, RecursionError):
        raise BadProgress("is not JSON") from None
    if not isinstance(data, dict) or data.get("course") != COURSE:
        raise BadProgress("is not a progress file of this course")
    version = data.get("version")
    if type(version) is not int or version < 1:
        raise BadProgress("has no version")
    if version > VERSION:
        raise NewerProgress(
            f"has version {version}, and this release knows version {VERSION}",
            "update the course, or set LABS_PROGRESS to another file.",
        )
    if _deeper_than(data, _MAX_DEPTH):
        raise BadProgress("is nested too deeply")
    if wrong := _misshapen(data):
        raise BadProgress(f"has a wrong entry: {wrong}")
    return join(data, data)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _deeper_than(value: object, levels: int) -> bool:
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 0 or any(_deeper_than(each, levels - 1) for each in within)


def _is_time(value: Any) -> bool:  # noqa: ANN401 - JSON values
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def _are_times(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, list) and all(map(_is_time, value))


def _is_count(value: Any) -> bool:  # noqa: ANN401
    return type(value) is int and value >= 0


def _are_answers(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, list) and all(
        isinstance(each, dict) and _is_time(each.get("at")) and isinstance(each.get("right"), bool)
        for each in value
    )


_SHAPES = {
    "notebooks": {"visited": _is_time},
    "exercises": {"attempts": _are_times, "hints": _is_count, "passed": _is_time, "solution": _is_time},
    "questions": {"answers": _are_answers},
}


def _misshapen(data: Json) -> str:
    """Return where a known field does not have its shape; empty if all do. Unknown keys may hold anything."""
    for section, fields in _SHAPES.items():
        entries = data.get(section, {})
        if not isinstance(entries, dict):
            return section
        for name, entry in entries.items():
            if not isinstance(entry, dict):
                return f"{section}, {name}"
            for field, fits in fields.items():
                if field in entry and not fits(entry[field]):
                    return f"{section}, {name}, {field}"
    return ""
