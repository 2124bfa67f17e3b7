"""A command that goes on after it was given, as a ping does."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Running(Protocol):
    """What a command returns that is not done at once.

    The door asks it for lines at every tick, and aborts it when its user presses a key or leaves.
    """

    def poll(self) -> list[str] | None:
        """Return the lines that have come up since the last call; None when the command has ended."""

    def abort(self) -> None:
        """Stop soon: the next polls bring the last lines, then None. May be called after the end."""
