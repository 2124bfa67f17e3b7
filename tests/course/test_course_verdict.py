from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_exercise import notebook_shell, run_cell

from labs.course import Verdict, verdict
from labs.errors import LabError

CLAIM = "one core for both is at least twenty times slower"


def test_a_claim_that_holds_is_one_line(capsys):
    verdict(CLAIM, holds=True, because="p50 7.6 ms and 0.08 ms")
    assert capsys.readouterr().out == f"✓ holds: {CLAIM}\n"


def test_a_claim_that_fails_says_why(capsys):
    verdict(CLAIM, holds=False, because="p50 7.6 ms\nand 0.08 ms")
    assert capsys.readouterr().out == f"✗ does not hold here: {CLAIM} (p50 7.6 ms and 0.08 ms)\n"


def test_a_claim_that_fails_without_figures_has_no_empty_brackets(capsys):
    verdict(CLAIM, holds=False)
    assert capsys.readouterr().out == f"✗ does not hold here: {CLAIM}\n"


@given(st.text(min_size=1), st.text())
def test_what_a_passed_verdict_prints_has_no_digit_or_is_refused(claim, because):
    try:
        said = Verdict(claim, passed=True, because=because)
    except LabError:
        assert not claim.strip() or any(each.isdigit() for each in claim) or len(claim.splitlines()) > 1
    else:
        assert not any(each.isdigit() for each in str(said))
        assert len(str(said).splitlines()) == 1


def test_digits_are_refused_with_what_to_write_instead():
    with pytest.raises(LabError, match="holds digits") as refused:
        verdict("20 times slower", holds=True)
    assert "'twenty times', not '20 times'" in refused.value.hint


@pytest.mark.parametrize("claim", ["", "  ", "one\ntwo"])
def test_a_claim_is_one_line_of_text(claim):
    with pytest.raises(LabError, match="one line"):
        verdict(claim, holds=True)


NAN, YES, NO = np.float64("nan"), np.bool_(1), np.bool_(0)


@pytest.mark.parametrize(
    "holds", [NAN > 1, NAN < 1, float(NAN) > 1, NAN, math.nan, pd.NA, pd.NA > 1, None, NO]
)
def test_what_is_missing_or_false_does_not_hold(holds):
    assert verdict(CLAIM, holds).passed is False


@pytest.mark.parametrize("holds", [YES, np.array([3.0]).max() > 1, np.array(YES)])
def test_numpy_says_yes_as_python_does(holds):
    assert verdict(CLAIM, holds).passed is True


@pytest.mark.parametrize("holds", [1, 0, 2.5, "yes", [True], np.array([True, True]), pd.Series([True])])
def test_what_is_no_answer_is_refused(holds, capsys):
    with pytest.raises(LabError, match="needs True or False"):
        verdict(CLAIM, holds)
    assert capsys.readouterr().out == ""


def test_json_holds_the_claim_and_a_plain_bool():
    made = json.dumps(verdict(CLAIM, YES).to_dict())
    assert json.loads(made) == {"claim": CLAIM, "passed": True}


def test_one_that_was_printed_equals_one_that_was_not():
    assert verdict(CLAIM, holds=True) == Verdict(CLAIM, passed=True)


def test_a_cell_that_ends_in_a_verdict_shows_it_once(capsys):
    with notebook_shell() as shell:
        run_cell(shell, f"from labs.course import verdict, Verdict\nverdict({CLAIM!r}, True)")
        assert capsys.readouterr().out.count(CLAIM) == 1


def test_a_verdict_of_a_run_shows_when_a_cell_ends_in_it(capsys):
    with notebook_shell() as shell:
        run_cell(shell, f"from labs.course import Verdict\nVerdict({CLAIM!r}, True)")
        assert f"✓ holds: {CLAIM}" in capsys.readouterr().out
