from __future__ import annotations

import pytest

from labs.bench.picture import PERIOD, Picture
from labs.views import End, LabView, NodeView


class Clock:
    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


def view(*, dead=False):
    left = End("memif.sock", 0, "memif0/0", "server", "10.10.2.1/24", connected=not dead)
    right = End("memif.sock", 0, "memif0/0", "client", "10.10.2.2/24", connected=not dead)
    vpp2 = NodeView("vpp2", None if dead else (1,), pinned=True, ends=() if dead else (right,))
    return LabView("lab", (NodeView("vpp1", (0,), pinned=True, ends=(left,)), vpp2))


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def picture(clock):
    return Picture(clock)


@pytest.fixture
def drawn(picture):
    changes = []
    picture.widget.observe(lambda change: changes.append(change["new"]), "value")
    return changes


def rates(forth):
    return {("vpp1", "vpp2"): (forth, 0.5)}


def test_rates_and_modes_are_in_the_picture_and_in_its_label(picture):
    picture.show(view(), rates(12.34), {"vpp1": "polling", "vpp2": "interrupt"})
    for words in ("12.3 Mpps →", "← 0.50 Mpps", "rx-mode: polling", "rx-mode: interrupt", "12.3 Mpps forth"):
        assert words in picture.svg


def test_the_same_again_draws_nothing(picture, clock, drawn):
    for _ in range(5):
        clock.time += PERIOD
        picture.show(view(), rates(1.0))
    assert len(drawn) == 1


def test_changing_rates_are_drawn_once_a_second(picture, clock, drawn):
    for tick in range(40):
        clock.time = 100 + tick / 4
        picture.show(view(), rates(float(tick)))
    assert len(drawn) == 10


def test_a_death_is_drawn_at_once(picture, clock, drawn):
    picture.show(view(), rates(1.0))
    clock.time += 0.01
    picture.show(view(dead=True), rates(1.0))
    assert len(drawn) == 2
    assert "✕ ended" in drawn[-1]


def test_while_nothing_runs_no_rate_is_claimed(picture):
    picture.show(view(), rates(12.0), running=False)
    assert "12.0" not in picture.svg
    assert "— Mpps" in picture.svg
