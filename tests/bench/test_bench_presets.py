from __future__ import annotations

from types import SimpleNamespace

import pytest

from labs import two_vpps
from labs.bench.knobs import Knobs
from labs.bench.presets import PRESETS, apply, find_preset
from labs.errors import LabError
from labs.kernel import allowed_cores


class FakeBench:
    """A bench that notes what is turned, and refuses one knob."""

    def __init__(self, refuses=""):
        self.refuses, self.turned, self.marks, self.started = refuses, {}, [], False
        self.recorder = SimpleNamespace(mark=self.marks.append)

    def set(self, **knobs):
        if self.refuses in knobs:
            raise LabError("A core each needs 2 cores.", "leave the nodes on one.")
        self.turned |= knobs

    def start(self):
        self.started = True


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_turns_its_knobs_and_sends_only_where_it_says_so(name):
    bench = FakeBench()
    apply(bench, PRESETS[name])
    assert bench.turned == dict(PRESETS[name].knobs)
    assert bench.started == PRESETS[name].traffic


def test_a_knob_that_cannot_be_turned_here_is_noted_and_the_rest_is_turned():
    bench = FakeBench(refuses="pinning")
    apply(bench, PRESETS["rx_mode"])
    assert "pinning" not in bench.turned
    assert bench.turned["rx_mode"] == "polling"
    assert bench.marks == ["pinning stays as it was: A core each needs 2 cores."]


def test_a_preset_that_there_is_not_is_refused_with_the_nearest():
    with pytest.raises(LabError, match="no preset 'rx-mode'") as told:
        find_preset("rx-mode")
    assert "rx_mode" in told.value.hint


@pytest.mark.skipif(len(allowed_cores()) < 2, reason="this session may use one core only")
def test_every_preset_is_something_the_knobs_of_a_lab_take(engine):
    lab = two_vpps("presets", engine=engine)
    lab.start()
    try:
        knobs = Knobs(lab)
        for preset in PRESETS.values():
            for name, value in preset.knobs.items():
                assert not knobs.all[name].refusal(value), (name, value)
    finally:
        lab.stop()


@pytest.mark.skipif(len(allowed_cores()) < 2, reason="this session may use one core only")
def test_a_bench_opens_with_its_knobs_as_the_preset_has_them(engine):
    lab = two_vpps("preset", engine=engine)
    lab.start()
    try:
        bench = lab.bench("rx_mode")
        wanted = PRESETS["rx_mode"].knobs
        read = bench.recording().facts
        assert wanted["rx_mode"] == "polling"
        assert set(lab["vpp1"].rx_modes().values()) == {"polling"}
        assert lab["vpp1"].cores() != lab["vpp2"].cores()
        assert read["traffic"] == "off"
        bench.stop()
        with pytest.raises(LabError, match="no preset"):
            lab.bench("fast")
    finally:
        lab.stop()
