"""What a progress file holds, and how two of them become one without losing anything.

A file is a JSON object. Times are UTC with nanoseconds, so that no two events share one::

    {"course": "vpp-labs", "version": 1,
     "notebooks": {"02": {"visited": TIME}},
     "exercises": {"02-swap-roles": {"attempts": [TIME, ...], "hints": 2, "passed": TIME, "solution": TIME}},
     "questions": {"02-who-allocates": {"answers": [{"at": TIME, "right": false}, ...]}}}

Every event is itself such an object with one thing in it, and recording it means joining it. `join` is
commutative, associative and idempotent: kernels that write at once, and a file that is restored twice,
end in the same place.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

COURSE = "vpp-labs"
VERSION = 1

_clock = threading.Lock()
_last = 0


def now() -> str:
    """Return the time, later than any that this process was given before."""
    global _last  # noqa: PLW0603 - one clock for the process
    with _clock:
        _last = max(time.time_ns(), _last + 1)
        seconds, nanoseconds = divmod(_last, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{nanoseconds:09d}Z"


def nothing() -> Json:
    """Return the records of a learner who has done nothing yet."""
    return {"course": COURSE, "version": VERSION}


def visited(notebook: str) -> Json:
    """Return the event: a learner has opened a notebook."""
    return {"notebooks": {notebook: {"visited": now()}}}


def attempted(exercise: str, *, passed: bool) -> Json:
    """Return the event: a check has run."""
    at = now()
    return {"exercises": {exercise: {"attempts": [at]} | ({"passed": at} if passed else {})}}


def hinted(exercise: str, shown: int) -> Json:
    """Return the event: that many hints have been shown."""
    return {"exercises": {exercise: {"hints": shown}}}


def solution_shown(exercise: str) -> Json:
    """Return the event: the solution has been shown."""
    return {"exercises": {exercise: {"solution": now()}}}


def answered(question: str, *, right: bool) -> Json:
    """Return the event: a question has been answered."""
    return {"questions": {question: {"answers": [{"at": now(), "right": right}]}}}


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _union(left: list[Any], right: list[Any]) -> list[Any]:
    """Return what is in either, in an order that depends on nothing else."""
    return [json.loads(text) for text in sorted({_canonical(each) for each in (*left, *right)})]


_RULES: dict[tuple[str, str], Callable[[Any, Any], Any]] = {
    ("notebooks", "visited"): min,
    ("exercises", "attempts"): _union,
    ("exercises", "hints"): max,
    ("exercises", "passed"): min,
    ("exercises", "solution"): min,
    ("questions", "answers"): _union,
}


def join(left: Json, right: Json) -> Json:
    """Return the records of both; see the module for what that keeps.

    Where both hold a value that this release does not know, an object beats anything else, objects are
    joined key by key, and of other values the larger text stays.

    Parameters
    ----------
    left, right : dict
        Records as `labs.course.progress_file.parse` accepts them, or events.
    """
    joined = _join(left, right, ())
    assert isinstance(joined, dict)  # noqa: S101 - two objects join to one
    return joined


def _join(left: Any, right: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401 - JSON values
    if isinstance(left, dict) and isinstance(right, dict):
        both = {**left, **right}
        return {
            key: _join(left.get(key, value), right.get(key, value), (*path, key))
            for key, value in sorted(both.items())
        }
    if len(path) == 3 and (rule := _RULES.get((path[0], path[2]))):  # noqa: PLR2004 - section, id, field
        return rule(left, right)
    return max(left, right, key=lambda value: (isinstance(value, dict), _canonical(value)))


@dataclass(frozen=True)
class Records:
    """Questions one may ask of a progress file.

    Parameters
    ----------
    data : dict
        As `join` returns it.
    """

    data: Json

    def _entry(self, section: str, name: str) -> Json:
        entry: Json = self.data.get(section, {}).get(name, {})
        return entry

    def was_visited(self, notebook: str) -> bool:
        """Whether the notebook has been opened."""
        return "visited" in self._entry("notebooks", notebook)

    def attempts(self, exercise: str) -> int:
        """How often the exercise was checked."""
        return len(self._entry("exercises", exercise).get("attempts", []))

    def hints(self, exercise: str) -> int:
        """How many of its hints were shown at most."""
        return int(self._entry("exercises", exercise).get("hints", 0))

    def passed(self, exercise: str) -> str:
        """When the exercise was first passed (UTC, ISO 8601); empty if it was not."""
        return str(self._entry("exercises", exercise).get("passed", ""))

    def saw_solution(self, exercise: str) -> bool:
        """Whether its solution was shown."""
        return "solution" in self._entry("exercises", exercise)

    def tries(self, question: str) -> int:
        """How often the question was answered."""
        return len(self._entry("questions", question).get("answers", []))

    def first_right(self, question: str) -> bool:
        """Whether its first answer was right."""
        answers = self._entry("questions", question).get("answers", [])
        return bool(answers and min(answers, key=lambda answer: answer["at"])["right"])
