"""Every exercise on a real lab: as given its check does not pass, as solved it does."""

from __future__ import annotations

import pytest
from busy import QUIET, cores_in_use
from long_tests import LONG, LONGER, LONGEST, not_in_docker, on_one_engine
from run_exercise import run_exercise

from labs.course.catalogue import all_exercises

EXERCISES = pytest.mark.parametrize("exercise", all_exercises(), ids=lambda each: each.id)


@pytest.fixture(autouse=True)
def chosen(engine, exercise, monkeypatch):
    """Let the cells' labs run on the test's engine: they name none, as in a notebook."""
    if exercise.id.startswith(LONGEST):
        not_in_docker(engine)
    monkeypatch.setenv("LABS_ENGINE", engine)


@EXERCISES
def test_the_stub_does_not_pass(engine, exercise):
    if engine != "glassbox" and not LONG:
        pytest.skip("a stub leaves the same undone on each engine; LABS_LONG_TESTS=1 tries it here, too")
    _, result = run_exercise(exercise, "stub")
    assert not result.passed
    assert "the check itself failed" not in result.reason, result.reason
    assert result.reason.strip()


@EXERCISES
def test_the_solution_passes(engine, exercise):
    if exercise.id.startswith(LONGER):
        on_one_engine(engine)
    _, result = run_exercise(exercise, "solution")
    if not result.passed and (busy := cores_in_use()) > QUIET:  # some exercises are about rates
        pytest.skip(f"other programs use {busy:.1f} cores: {result.reason}")
    assert result.passed, result.reason
