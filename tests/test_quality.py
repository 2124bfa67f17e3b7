from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.machine import Machine
from labs.quality import Quality, Reason, StealMeter, assess

SOUND = Machine("a CPU", "a system", "6.1", "x86_64", (0, 1, 2, 3), 4, 16000, 12000, False, None)  # noqa: FBT003
FINE = {"seconds": 10.0, "stolen": 0.0, "others": 0.1, "fewest": 120, "nodes": 2}


def reasons(machine=SOUND, **changes):
    return [reason.what for reason in assess(machine, **{**FINE, **changes}).reasons]


def test_a_quiet_machine_of_its_own_is_good():
    assert assess(SOUND, **FINE).badge == "good"


@pytest.mark.parametrize(
    ("machine", "changes", "words"),
    [
        (replace(SOUND, virtual=True), {}, "virtual machine"),
        (replace(SOUND, cores=(0, 1), physical=2), {}, "share their cores with this notebook"),
        (SOUND, {"nodes": 4}, "share their cores with this notebook"),
        (replace(SOUND, physical=1), {}, "share a physical core"),
        (replace(SOUND, cpu_quota=1.5), {}, "1.5 cores' worth of time"),
        (SOUND, {"stolen": 4.0}, "The host took 10 %"),
        (SOUND, {"others": 1.5}, "Other programs used 1.5 cores"),
        (SOUND, {"fewest": 4}, "has 4 samples"),
        (SOUND, {"fewest": 0}, "has 0 samples"),
    ],
)
def test_each_thing_that_bears_on_the_numbers_is_named_alone(machine, changes, words):
    found = reasons(machine, **changes)
    assert len(found) == 1
    assert words in found[0]


def test_a_kernel_that_does_not_tell_is_not_blamed():
    assert reasons(others=None) == []


def test_a_quota_that_is_wide_enough_is_no_reason():
    assert reasons(replace(SOUND, cpu_quota=2.0)) == []


def test_a_run_of_no_length_is_judged_too():
    assert assess(SOUND, **{**FINE, "seconds": 0.0, "stolen": 1.0}).badge == "good"


@pytest.mark.parametrize(
    ("count", "badge"), [(0, "good"), (1, "fair"), (2, "fair"), (3, "poor"), (7, "poor")]
)
def test_the_badge_follows_the_number_of_reasons(count, badge):
    assert Quality((Reason("What.", "Effect."),) * count).badge == badge


@given(st.lists(st.builds(Reason, st.text(), st.text()), max_size=4))
def test_it_is_read_back_from_json_as_it_was(some):
    quality = Quality(tuple(some))
    assert Quality.from_dict(quality.to_dict()) == quality


def test_it_is_told_with_its_reasons():
    told = str(Quality((Reason("It rained.", "It was wet."),)))
    assert told == "Quality of these numbers: fair.\n  It rained. It was wet."


def test_the_meter_counts_from_when_it_was_made(monkeypatch):
    stolen = iter([5.0, 7.5])
    monkeypatch.setattr("labs.quality.stolen_seconds", lambda: next(stolen))
    assert StealMeter().read() == 2.5
