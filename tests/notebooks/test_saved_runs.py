"""Runs that notebooks show where something is missing that would measure them anew."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from labs import load_run
from labs.experiments.links_beds import Setting
from labs.experiments.links_summary import FIGURES, answer, judge
from labs.experiments.links_table import in_a_table

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
SAVED = NOTEBOOKS / "saved" / "links.json"
SOMEBODYS = re.compile(r"/(?:home|root|tmp|work)/")


@pytest.fixture(scope="module")
def run():
    return load_run(SAVED)


@pytest.fixture(scope="module")
def settings(run):
    found = {(each["receiver"], each["kind"], each["size"]) for each in run.windows}
    return [Setting(*each) for each in sorted(found)]


def test_it_shows_what_the_notebook_keeps(run):
    notebook = nbformat.read(NOTEBOOKS / "07_memif_or_vhost.ipynb", 4)
    (kept,) = [
        "".join(each.get("text", "") for each in cell.outputs)
        for cell in notebook.cells
        if "NBVAL_CHECK_OUTPUT" in cell.source
    ]
    assert run.complete
    assert "".join(f"{verdict}\n" for verdict in run.verdicts).split() == kept.split()


def test_its_verdicts_and_words_are_still_those_of_its_windows(run, settings):
    assert [str(each) for each in run.verdicts] == [str(each) for each in judge(run.windows, settings)]
    assert all(each.passed for each in run.verdicts)
    assert sorted(run.summary["answer"]) == sorted(answer(run.windows, settings))
    made = pd.DataFrame(in_a_table(run.windows, settings))
    pd.testing.assert_frame_equal(pd.DataFrame(run.summary["links"])[made.columns], made)


def test_every_figure_can_be_drawn(run):
    for name in FIGURES:
        assert name in run.table().columns
    assert "<svg" in run.figure("received_mpps")._repr_svg_()


def test_it_says_on_what_it_was_measured_and_names_nobodys_folder(run):
    assert run.machine["cpu"]
    assert run.versions["data plane"].startswith("VPP")
    assert not SOMEBODYS.search(SAVED.read_text(encoding="utf-8"))
