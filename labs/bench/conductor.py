"""One thread that turns the bench's knobs, one at a time, so that a click returns at once."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.bench.knob import Value
    from labs.bench.knobs import Knobs

_Job = tuple[str, "Value", str]
_IF_CHANGED = "if it is changed"


@dataclass(frozen=True)
class Turned:
    """One turn that was done, or that could not be.

    Parameters
    ----------
    name : str
        The knob; or ``restart`` (its value is the node), ``traffic`` (True or False), or ``look``.
    value : Value
        What was asked for.
    lines : tuple of str
        The equal shell lines.
    error, hint : str
        One sentence each, where it could not be done.
    state : dict
        What the knobs stand at now, read back.
    seconds : float
        How long it took, reading back included.
    """

    name: str
    value: Value
    lines: tuple[str, ...] = ()
    error: str = ""
    hint: str = ""
    state: dict[str, Value] = field(default_factory=dict)
    seconds: float = 0.0


class Conductor:
    """Turns knobs in a thread of its own.

    Parameters
    ----------
    knobs : Knobs
    on_done : callable
        Told of each turn, in the conductor's thread. What it raises is passed over.

    Notes
    -----
    A turn that waits is replaced by a later one of the same knob: of a slider's hundred positions the last
    counts. Any thread may call any method.
    """

    def __init__(self, knobs: Knobs, on_done: Callable[[Turned], Any]) -> None:
        self._knobs, self._on_done = knobs, on_done
        self._waiting: dict[tuple[str, str], _Job] = {}
        self._changed = threading.Condition()
        self._is_busy = False
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="bench conductor", daemon=True)
        self._thread.start()

    def turn(self, name: str, value: Value) -> None:
        """Set a knob soon."""
        self._put((name, ""), (name, value, ""))

    def restart(self, node: str) -> None:
        """Start a node anew soon."""
        self._put(("restart", node), ("restart", node, ""))

    def traffic(self, on: bool) -> None:  # noqa: FBT001 - a switch's one argument
        """Send packets soon, or send no more."""
        self._put(("traffic", ""), ("traffic", on, ""))

    def look(self) -> None:
        """Read back soon what the knobs stand at: something else may have changed it."""
        self._put(("look", ""), ("look", None, ""))

    def reset(self) -> None:
        """Set all knobs to what they were at the start, in place of what waits."""
        with self._changed:
            if self._is_closed:
                return
            self._waiting.clear()
            for name, value in self._knobs.at_start.items():
                self._waiting[name, ""] = (name, value, _IF_CHANGED)
            self._changed.notify_all()

    @property
    def busy(self) -> bool:
        """Whether a turn is under way or waits."""
        with self._changed:
            return self._is_busy or bool(self._waiting)

    def wait(self, timeout: float | None = None) -> bool:
        """Return True when nothing is under way or waits any more; False after `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._is_busy and not self._waiting, timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Forget what waits, and end when the present turn is done; safe to call twice, from any thread."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._changed.notify_all()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _put(self, key: tuple[str, str], job: _Job) -> None:
        with self._changed:
            if not self._is_closed:
                self._waiting[key] = job
                self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._is_closed)
                if self._is_closed:
                    return
                name, value, when = self._waiting.pop(next(iter(self._waiting)))
                self._is_busy = True
            if when == _IF_CHANGED and self._is_so(name, value):
                continue
            done = self._do(name, value)
            with contextlib.suppress(Exception):  # the listener's fault is not ours, and must not end us
                self._on_done(done)

    def _is_so(self, name: str, value: Value) -> bool:
        knob = self._knobs.all[name]
        return knob.wanted == value == knob.actual

    def _do(self, name: str, value: Value) -> Turned:
        began = time.perf_counter()
        lines: list[str] = []
        error = hint = ""
        try:
            if name == "restart":
                lines = self._knobs.restart(str(value))
            elif name == "traffic":
                lines = self._knobs.traffic(on=bool(value))
            elif name != "look":
                lines = self._knobs.turn(name, value)
        except LabError as refused:
            error, hint = refused.message.partition("\n")[0], refused.hint
        except Exception as fault:  # noqa: BLE001 - whatever it is, the learner gets a sentence
            error = f"Turning {name} to {value!r} failed: {type(fault).__name__}: {fault}"
        state: dict[str, Value] = {}
        with contextlib.suppress(Exception):  # as much as can be read is shown
            state = self._knobs.read_back()
        return Turned(name, value, tuple(lines), error, hint, state, time.perf_counter() - began)
