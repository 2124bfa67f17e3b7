from __future__ import annotations

import gc

import pytest
from long_tests import LONG
from traces import Traces, own_resources

from labs import two_vpps
from labs.engines import rundir

MANY = 50
FEWER = 12


@pytest.mark.timeout(600)
def test_many_starts_and_stops_leave_nothing(engine, capsys):
    rounds = MANY if engine == "process" or LONG else FEWER
    traces = Traces()
    two_vpps("often", engine=engine).stop()
    before, later = None, None
    for number in range(rounds):
        lab = two_vpps("often", engine=engine)
        lab.start()
        assert lab.ping("vpp1", "vpp2", count=1, interval=0.01).sent == 1
        assert traces.note() == number + 1
        lab.stop()
        if number in {4, rounds - 1}:  # by the fifth round all caches and pools are there
            gc.collect()
            before, later = later, own_resources()
    capsys.readouterr()
    assert traces.gone_within(3) == []
    assert not (rundir.base() / "often").exists()
    assert later == before
