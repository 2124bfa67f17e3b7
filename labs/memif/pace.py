"""How fast the indexes of rings move, though they count modulo 65536 and may go round in 2 ms."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from labs.memif.ring import Ring

_WINDOW = 1e-3  # seconds of close watching
_LONGEST = 3e-4  # seconds between two looks; after a longer pause an index may have gone round unseen
_ROUND = 65536


class Pace:
    """Measures the indexes of some rings from one call to the next.

    Two looks far apart give the slots moved but for a multiple of 65536; many looks within a millisecond give
    a rough rate. The two together give the slots moved: of the numbers that the first allows, the one nearest
    to the second.

    Parameters
    ----------
    rings : sequence of Ring
    """

    def __init__(self, rings: Sequence[Ring]) -> None:
        self._rings = rings
        self._before = self._look()
        self._at = time.monotonic()

    def measure(self) -> NDArray[np.float64]:
        """Return slots a second since the last call, shape (rings, 2): head and tail."""
        rough = self._rough()
        now, at = self._look(), time.monotonic()
        took = max(at - self._at, 1e-6)
        least = (now - self._before) % _ROUND
        rounds = np.maximum(np.round((rough * took - least) / _ROUND), 0)
        self._before, self._at = now, at
        rates: NDArray[np.float64] = (least + rounds * _ROUND) / took
        return rates

    def _rough(self) -> NDArray[np.float64]:
        """Return slots a second in a moment of close watching."""
        begin = last_at = time.perf_counter()
        last = self._look()
        moved, watched = np.zeros(last.shape), 0.0
        while (at := time.perf_counter()) - begin < _WINDOW:
            now = self._look()
            if at - last_at < _LONGEST:
                moved += (now - last) % _ROUND
                watched += at - last_at
            last, last_at = now, at
        return moved / watched if watched else moved

    def _look(self) -> NDArray[np.int64]:
        return np.array([(each.head, each.tail) for each in self._rings], np.int64).reshape(-1, 2)
