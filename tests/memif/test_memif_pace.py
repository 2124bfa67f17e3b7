from __future__ import annotations

import time

import numpy as np
import pytest

from labs.memif.pace import Pace


class Rings:
    """Two indexes that move at a given rate."""

    def __init__(self, rate):
        self.rate = rate
        self.began = time.perf_counter()

    @property
    def head(self):
        return int((time.perf_counter() - self.began) * self.rate) % 65536

    tail = 0


@pytest.mark.parametrize("rate", [0, 100, 100_000, 1_000_000, 20_000_000])
def test_the_pace_is_right_though_the_index_goes_round(rate):
    pace = Pace([Rings(rate)])
    time.sleep(0.2)
    measured = pace.measure()
    assert measured.shape == (1, 2)
    assert measured[0, 0] == pytest.approx(rate, rel=0.15, abs=10)
    assert not measured[0, 1]
    assert np.isfinite(measured).all()
