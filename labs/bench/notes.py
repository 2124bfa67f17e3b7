"""What stands in the way of a measurement just now, a sentence for each matter."""

from __future__ import annotations

import threading


class Notes:
    """Sentences by matter: said once, shown until the matter is settled; any thread may say one."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}
        self._lock = threading.Lock()

    def say(self, matter: str, sentence: str) -> None:
        """Put a sentence in the place of what was said of the matter."""
        with self._lock:
            self._said[matter] = sentence

    def settle(self, matter: str) -> None:
        """Say no more of a matter."""
        with self._lock:
            self._said.pop(matter, None)

    def all(self) -> tuple[str, ...]:
        """Return what is to be said, the oldest matter first, no sentence twice."""
        with self._lock:
            return tuple(dict.fromkeys(self._said.values()))
