"""The helper that runs exercises in the engines' tests, tried on a lab of plain data."""

from __future__ import annotations

from dataclasses import replace

import pytest
from course_fakes import STOPPED
from IPython import get_ipython
from run_exercise import run_exercise

from labs.course.catalogue import find_exercise

EXERCISE = replace(
    find_exercise("02-swap-roles"),
    setup="from course_fakes import FakeLab\nlab = FakeLab()\n",
    stub="mine = 1\n",
    solution="mine = 2\n# %%\nlab.swap()\n",
)


@pytest.fixture(autouse=True)
def stopped():
    STOPPED.clear()
    return STOPPED


def test_a_stub_fails_its_check_and_the_lab_is_stopped(stopped):
    namespace, result = run_exercise(EXERCISE, "stub")
    assert not result.passed
    assert namespace["mine"] == 1
    assert stopped == [namespace["lab"]]


def test_a_solution_of_two_cells_passes():
    namespace, result = run_exercise(EXERCISE, "solution")
    assert result.passed, result
    assert namespace["mine"] == 2


def test_a_lab_can_be_kept(stopped):
    run_exercise(EXERCISE, "stub", keep_lab=True)
    assert stopped == []


def test_what_a_cell_raises_is_raised_here_and_the_lab_is_stopped(stopped, capsys):
    with pytest.raises(KeyError, match="vpp9"):
        run_exercise(replace(EXERCISE, stub="raise KeyError('vpp9')\n"), "stub", keep_lab=True)
    assert len(stopped) == 1
    assert "vpp9" in capsys.readouterr().out


def test_the_magic_is_there_and_the_shell_is_gone_afterwards():
    asks = replace(EXERCISE, stub="found = get_ipython().find_cell_magic('vpp') is not None\n")
    namespace, _ = run_exercise(asks, "stub")
    assert namespace["found"] is True
    assert get_ipython() is None
