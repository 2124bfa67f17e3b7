from __future__ import annotations

import pytest

from labs.traffic import floor
from labs.traffic.probe import Probe
from labs.traffic.probe_echo import Echo
from labs.traffic.probe_pair import Pair


@pytest.mark.parametrize("wait", ["poll", "nap", "sleep"])
def test_the_floor_is_above_nothing_and_in_order(wait):
    found = floor.measure(wait)
    assert 0 < found.min_us <= found.p50_us <= found.p99_us
    assert found.samples > 0
    assert str(found).endswith(f"({found.how})")


def test_being_woken_costs_more_than_looking():
    polls, sleeps = floor.measure("poll"), floor.measure("sleep")
    assert sleeps.min_us > 2 * polls.min_us
    assert "sleeps too" in sleeps.how
    assert "own thread" in polls.how


def test_nothing_is_seen_below_the_floor(pair):
    """An echo elsewhere needs the same work, and the way there and back."""
    there, here = pair(ring_size=256, buffer_size=2112)
    with Echo(there):
        run = Probe(here, source="198.18.9.2", target="198.18.9.1", target_mac="02:00:00:00:00:01").run(0.5)
    assert run.floor is not None
    assert run.percentile(0) > run.floor.min_us
    assert "the probe's own floor" in run.summary().frame.index


def test_a_private_pair_leaves_nothing_open(no_open_files):
    for _ in range(5):
        with Pair(log2_size=2):
            pass


@pytest.fixture
def no_open_files():
    from pathlib import Path  # noqa: PLC0415 - for this fixture alone

    def count():
        return len(list(Path("/proc/self/fd").iterdir()))

    before = count()
    yield
    assert count() == before


def test_a_pair_carries_packets_both_ways():
    with Pair(log2_size=2) as pair:
        from labs.memif.burst import Burst  # noqa: PLC0415 - for this test alone

        for tx, rx in ((pair.near[0], pair.far[1]), (pair.far[0], pair.near[1])):
            assert tx.send(Burst.of([b"one", b"two"])) == 2
            assert rx.receive(4).packets() == [b"one", b"two"]
