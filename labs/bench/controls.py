"""The bench's knobs and buttons as a page shows them; what is clicked is told to whoever listens."""

from __future__ import annotations

import threading
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol

import anywidget
import traitlets

from labs.bench.knob import FLAT_OUT
from labs.bench.knobs import MOST_MPPS
from labs.course.elements import KEYS_STAY_HERE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from labs.bench.knob import Knob, Value

_SCRIPT = KEYS_STAY_HERE + files("labs.bench").joinpath("controls.js").read_text(encoding="utf-8")

_ROWS = {
    "rate": ("slider", "traffic"),
    "pinning": ("group", "nodes"),
    "rx_mode": ("group", "nodes"),
    "workers": ("list", "nodes"),
    "size": ("list", "links"),
    "flows": ("list", "links"),
    "ring": ("list", "links"),
    "memory": ("list", "links"),
    "interval": ("list", "links"),
}
_FLOWS = (1, 10, 100, 1000)
_INTERVALS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_STEPS_A_DECADE = (1, 2, 5)


class Listener(Protocol):
    """Who is told of clicks, in whichever thread they come."""

    def turn(self, name: str, value: Value) -> None:
        """Hear that a knob was turned."""

    def press(self, button: str) -> None:
        """Hear that a button was pressed."""

    def restart(self, node: str) -> None:
        """Hear that a node is to be started anew."""


class Controls(anywidget.AnyWidget):
    """Knobs and buttons.

    Parameters
    ----------
    listener : Listener
    part : {"knobs", "buttons"}
        Which of the two is shown: the knobs with the traffic's switch, or what is done with a run.
    """

    _esm = _SCRIPT
    _css = files("labs.bench").joinpath("controls.css").read_text(encoding="utf-8")
    part = traitlets.Unicode("knobs").tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, listener: Listener, part: str = "knobs") -> None:
        self._listener = listener
        self._lock = threading.Lock()
        super().__init__(part=part, state={"knobs": [], "off": {}, "ended": [], "running": False, "said": ""})
        self.on_msg(self._hear)
        _hear_while_a_cell_runs(self)

    def show(
        self,
        knobs: Mapping[str, Knob],
        *,
        turning: Collection[str] = (),
        off: Mapping[str, str] | None = None,
        ended: Collection[str] = (),
        running: bool = False,
        said: str = "",
        over: str = "",
    ) -> None:
        """Show how things stand.

        Parameters
        ----------
        knobs : mapping of str to Knob
        turning : collection of str
            Knobs whose last turn is not done yet.
        off : mapping of str to str
            Buttons that cannot be pressed, and why.
        ended : collection of str
            Nodes that have ended: each gets a button.
        running : bool
            Whether traffic is sent.
        said : str
            What there is to say of the last click.
        over : str
            Why no knob can be turned any more; empty while they can.
        """
        state = {
            "knobs": [
                {**_knob(knob, turning=name in turning), **({"disabled": over} if over else {})}
                for name, knob in knobs.items()
                if name in _ROWS
            ],
            "off": dict(off or {}),
            "ended": list(ended),
            "running": running,
            "said": said,
        }
        with self._lock:
            if state != self.state:
                self.state = state

    def _hear(self, _: object, message: dict[str, Any], _buffers: object) -> None:
        match message:
            case {"turn": str(name), "value": value}:
                self._listener.turn(name, value)
            case {"press": str(button)}:
                self._listener.press(button)
            case {"restart": str(node)}:
                self._listener.restart(node)


def _hear_while_a_cell_runs(widget: anywidget.AnyWidget) -> None:
    """Let a widget's messages come in the subshell that the page sends them to, beside the running cell.

    ipykernel from 7.4 on sends what a page says to a comm to where the comm has last spoken, which is the
    main shell, and that is busy while a cell runs (ipykernel/comm/comm.py, ``_reply_subshell_for``). Kernels
    without subshells do not look at it: there a click waits for the cell's end.
    """
    if widget.comm is not None:
        widget.comm._reply_subshell_for = None  # noqa: SLF001 - there is no public way


def _knob(knob: Knob, *, turning: bool) -> dict[str, Any]:
    """Return one knob as the page draws it."""
    kind, row = _ROWS[knob.name]
    choices = [{"value": each.value, "label": each.label, "disabled": each.disabled} for each in knob.choices]
    if kind == "list":
        # what it stands at may be none of the usual values
        usual = {"flows": _FLOWS, "interval": _INTERVALS}.get(knob.name, ())
        known = {each["value"] for each in choices}
        values = sorted({*usual, *([knob.wanted] if usual and knob.wanted is not None else [])} - known)
        choices += [
            {"value": value, "label": f"{value:g} {knob.unit}".strip(), "disabled": ""} for value in values
        ]
    differs = None not in {knob.actual, knob.wanted} and knob.actual != knob.wanted
    return {
        "name": knob.name,
        "label": knob.label,
        "kind": kind,
        "row": row,
        "choices": choices,
        "steps": _steps() if kind == "slider" else [],
        "disabled": knob.disabled,
        "wanted": knob.wanted,
        "is": _is(knob),
        "differs": differs,
        "turning": turning,
    }


def _is(knob: Knob) -> str:
    """Return what a knob stands at, in words."""
    if knob.actual is None:
        return "now: unknown"
    words = _in_words(knob, knob.actual)
    if knob.actual == knob.wanted or knob.wanted is None:
        return f"now: {words}"
    return f"asked: {_in_words(knob, knob.wanted)}; now: {words}"


def _in_words(knob: Knob, value: Value) -> str:
    words = next((each.label for each in knob.choices if each.value == value), None)
    if words is None:
        words = f"{value:g} {knob.unit}".strip() if isinstance(value, int | float) else str(value)
    return words


def _steps() -> list[dict[str, Any]]:
    """Return the slider's rates, in Mpps: none, then three a decade from a thousand packets a second."""
    rates = [0.0, *(digit * 10.0**power for power in range(-3, 2) for digit in _STEPS_A_DECADE)]
    return [{"value": rate, "label": rate_in_words(rate)} for rate in rates if rate <= MOST_MPPS]


def rate_in_words(rate: Value) -> str:
    """Return a rate in Mpps as it is read best."""
    if rate == FLAT_OUT or not isinstance(rate, int | float):
        return str(rate)
    if rate == 0:
        return "no packets"
    return f"{rate * 1e3:g} kpps" if rate < 1 else f"{rate:g} Mpps"
