from __future__ import annotations

from dataclasses import replace

import pytest
from course_fakes import FakeLab

from labs.course.catalogue import find_exercise
from labs.course.checks import first_fault, run_check, wrong_roles
from labs.course.model import Result
from labs.errors import LabError, NodeDied

EXERCISE = find_exercise("02-swap-roles")


def _failing(error):
    def check(_):
        raise error

    return replace(EXERCISE, check=check)


def test_without_a_lab_the_check_says_how_to_give_it_one():
    result = run_check(EXERCISE, None)
    assert not result.passed
    assert 'exercise("02-swap-roles", lab)' in result.reason


def test_a_lab_error_becomes_the_reason():
    result = run_check(_failing(LabError("The lab is not started.", "run lab.start() first.")), FakeLab())
    assert result == Result(passed=False, reason="The lab is not started. Hint: run lab.start() first.")


def test_a_lab_error_without_hint_ends_in_no_hint():
    assert run_check(_failing(LabError("It is off.")), FakeLab()).reason == "It is off."


def test_a_log_in_a_message_is_left_out():
    died = NodeDied("vpp2 is not running.\nIts last lines were:\n    received SIGSEGV", "lab.reset()")
    assert run_check(_failing(died), FakeLab()).reason == "vpp2 is not running. Hint: lab.reset()"


@pytest.mark.parametrize(
    "error", [KeyError("vpp9"), ZeroDivisionError(), OSError(2, "No such file"), AssertionError("a\nb")]
)
def test_any_other_fault_is_named_as_ours_without_traceback(error):
    result = run_check(_failing(error), FakeLab())
    assert not result.passed
    assert type(error).__name__ in result.reason
    assert "nothing of your work" in result.reason
    assert "\n" not in result.reason
    assert "Traceback" not in result.reason


def test_the_stop_button_stops_a_check():
    with pytest.raises(KeyboardInterrupt):
        run_check(_failing(KeyboardInterrupt()), FakeLab())


def test_only_the_first_fault_is_looked_for():
    looked = []

    def faults(_):
        for fault in ("one", "two"):
            looked.append(fault)
            yield fault

    result = first_fault(faults, "all is well")(FakeLab())
    assert result == Result(passed=False, reason="one")
    assert looked == ["one"]


def test_without_a_fault_the_check_passes():
    assert first_fault(lambda _: iter(()), "all is well")(FakeLab()) == Result(
        passed=True, reason="all is well"
    )


def test_a_node_that_has_ended_is_told_before_a_wrong_role():
    lab = FakeLab()

    def died():
        raise NodeDied("vpp2 is not running.")

    lab.nodes["vpp2"].memifs = died
    with pytest.raises(NodeDied):
        next(wrong_roles(lab, vpp1="client", vpp2="server"))
