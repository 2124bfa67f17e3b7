"""What there is to say of the clicks: which knobs are still turning, and what the last turn came to."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from labs.bench.controls import rate_in_words
from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.bench.conductor import Turned
    from labs.bench.knob import Knob, Value

_NOTHING = object()
_MOST = 20


class News:
    """Keeps what was asked for until it is done; any thread may call.

    Attributes
    ----------
    said : str
        What to say of the last click.
    failed : deque of LabError
        Turns that failed since a cell last looked, the newest of many.
    """

    def __init__(self) -> None:
        self.said = ""
        self.failed: deque[LabError] = deque(maxlen=_MOST)
        self._asked: dict[str, Value] = {}
        self._lock = threading.Lock()

    def asked(self, name: str, value: Value) -> None:
        """Note that a knob was turned."""
        with self._lock:
            self._asked[name] = value

    def forget(self) -> None:
        """Wait for nothing any more."""
        with self._lock:
            self._asked.clear()

    @property
    def turning(self) -> tuple[str, ...]:
        """The knobs whose last turn is not done yet."""
        with self._lock:
            return tuple(self._asked)

    def done(self, turned: Turned, knobs: Mapping[str, Knob]) -> None:
        """Note what came of a turn."""
        with self._lock:
            # of several turns of one knob only the last ends the waiting
            last = self._asked.get(turned.name, _NOTHING)
            if last is turned.value or last == turned.value:  # a number that is none is not like itself
                del self._asked[turned.name]
        if turned.error:
            self.failed.append(LabError(turned.error, turned.hint))
            self.said = f"{turned.error} {turned.hint}".strip()
        elif turned.name != "look":
            took = f"{turned.seconds:.2g}" if turned.seconds < 10 else f"{turned.seconds:.0f}"  # noqa: PLR2004
            self.said = f"{label_of(turned, knobs)}: done in {took} s."


def label_of(turned: Turned, knobs: Mapping[str, Knob]) -> str:
    """Return a turn in a few words, as a mark on the plots tells it."""
    match turned.name, turned.value:
        case "restart", node:
            return f"{node} started anew"
        case "traffic", on:
            return "traffic on" if on else "traffic off"
        case "rate", rate:
            return f"rate {rate_in_words(rate)}"
        case name, value if name in knobs:
            knob = knobs[name]
            words = next((each.label for each in knob.choices if each.value == value), None)
            return f"{knob.label}: {words or f'{value} {knob.unit}'.strip()}"
        case name, value:
            return f"{name}: {value}"
