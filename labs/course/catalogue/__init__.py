"""What the course contains, notebook by notebook."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from labs.course.catalogue.nb00 import CHAPTER as START_HERE
from labs.course.catalogue.nb01 import CHAPTER as ONE_VPP
from labs.course.catalogue.nb02 import CHAPTER as A_LINK
from labs.course.catalogue.nb03 import CHAPTER as TWENTY_MILLISECONDS
from labs.course.catalogue.nb04 import CHAPTER as POLL_OR_SLEEP
from labs.course.catalogue.nb05 import CHAPTER as MILLIONS
from labs.course.catalogue.nb06 import CHAPTER as SPEAK_MEMIF
from labs.course.catalogue.nb07 import CHAPTER as MEMIF_OR_VHOST
from labs.errors import LabError

if TYPE_CHECKING:
    from labs.course.model import Chapter, Exercise

CHAPTERS = (
    START_HERE,
    ONE_VPP,
    A_LINK,
    TWENTY_MILLISECONDS,
    POLL_OR_SLEEP,
    MILLIONS,
    SPEAK_MEMIF,
    MEMIF_OR_VHOST,
)


def all_exercises() -> tuple[Exercise, ...]:
    """Return the exercises of the whole course, in order."""
    return tuple(each for chapter in CHAPTERS for each in chapter.exercises)


def find_exercise(id: str) -> Exercise:  # noqa: A002 - the word a learner knows it by
    """Return an exercise by its id.

    Raises
    ------
    LabError
        There is none; the hint names the nearest.
    """
    by_id = {each.id: each for each in all_exercises()}
    if id not in by_id:
        near = difflib.get_close_matches(str(id), by_id, n=1) or list(by_id)
        raise LabError(f"There is no exercise {id!r}.", f"did you mean {' or '.join(near)}?")
    return by_id[id]


def find_chapter(number: str) -> Chapter:
    """Return what belongs to a notebook by its number.

    Raises
    ------
    LabError
        There is none.
    """
    by_number = {chapter.number: chapter for chapter in CHAPTERS}
    if number not in by_number:
        raise LabError(f"There is no notebook {number!r}.", f"the notebooks are {', '.join(by_number)}.")
    return by_number[number]
