"""A knob of the bench: what it may be set to, what it was set to, what it is."""

from __future__ import annotations

from dataclasses import dataclass

Value = str | int | float | None

FLAT_OUT = "flat out"
"""The rate that is as many packets as the generator can make."""

LENT, COPIED = "lent", "copied"
"""What becomes of a packet on its way into a link: its client lends the server its own memory, or copies."""


@dataclass(frozen=True)
class Choice:
    """One thing a knob may be set to.

    Parameters
    ----------
    value : str or int or float
    label : str
        As it is shown.
    disabled : str
        Why it cannot be chosen here, in a sentence; empty if it can.
    """

    value: Value
    label: str
    disabled: str = ""


@dataclass
class Knob:
    """One knob.

    Attributes
    ----------
    name, label : str
    unit : str
        Of its numbers.
    choices : tuple of Choice
        What it may be set to; beside them, numbers in `span`.
    span : tuple of float, or None
        The least and the greatest number of a knob that takes numbers.
    disabled : str
        Why it cannot be turned at all, in a sentence; empty if it can.
    wanted, actual : Value
        What it was set to, and what was read back; None where nothing could be read. `actual` may be words
        that are no choice, as ``vpp1 polling, vpp2 interrupt``.
    whole : bool
        Whether its numbers are whole ones.
    """

    name: str
    label: str
    unit: str = ""
    choices: tuple[Choice, ...] = ()
    span: tuple[float, float] | None = None
    disabled: str = ""
    wanted: Value = None
    actual: Value = None
    whole: bool = False

    def refusal(self, value: Value) -> str:
        """Return why it cannot be set to a value, in a sentence; empty if it can."""
        if self.disabled:
            return self.disabled
        if not self.takes_value(value):
            return f"The {self.label} cannot be {value!r}: it takes {self.takes}."
        return next((each.disabled for each in self.choices if each.value == value), "")

    def takes_value(self, value: Value) -> bool:
        """Return whether it is a value of this knob at all, on whatever machine."""
        if any(each.value == value and type(each.value) is type(value) for each in self.choices):
            return True
        if self.span is None or isinstance(value, bool) or not isinstance(value, int | float):
            return False
        low, high = self.span
        return low <= value <= high and (isinstance(value, int) or not self.whole)

    @property
    def takes(self) -> str:
        """What it may be set to, in words."""
        words = [choice.label for choice in self.choices]
        if self.span:
            low, high = self.span
            words.append(f"{low:g} to {high:g} {self.unit}".strip())
        return ", ".join(words)
