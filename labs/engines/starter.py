"""Start what must not get lost: an interrupt waits until it is known what has been started."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# The kernel ends a child with the thread that made it, so that thread has to live as long as we do.
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="labs-starter")


def start(make: Callable[[], T], undo: Callable[[T], object]) -> T:
    """Return what `make` has started, or undo it if an interrupt came meanwhile.

    Python raises an interrupt in its main thread, between any two instructions: a child or a container that
    was just made there may be in no variable yet, and nobody would end it.

    Parameters
    ----------
    make : callable
        Run to its end in another thread.
    undo : callable
        Given what `make` returned, in case of an interrupt.
    """
    made: list[T] = []
    try:
        _starter.submit(lambda: made.append(make())).result()
    except BaseException:
        wait([_starter.submit(int)])  # one worker takes its jobs in turn: by now it has done the first
        for each in made:
            undo(each)
        raise
    return made[0]
