"""Run every notebook from top to bottom on every engine, and compare the verdicts with those it keeps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from busy import QUIET, cores_in_use
from long_tests import LONGER, LONGEST, not_in_docker, on_one_engine

from labs.course.catalogue import CHAPTERS
from labs.notebook_file import KEPT_COUNT, METADATA

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
COURSE = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
CELL_SECONDS = 120
TAIL_LINES = 60
FAILED_VERDICT = "does not hold here"


@pytest.fixture
def nbval(tmp_path):
    """Return a function that runs a notebook and returns what failed, or nothing."""

    def run(notebook, **settings):
        env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
            "LABS_PROFILE": "ci",
            "LABS_PROGRESS": str(tmp_path / "progress.json"),
            "LABS_RUNS": str(tmp_path / "runs"),
            "IPYTHONDIR": str(tmp_path / "ipython"),
            **settings,
        }
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--nbval-lax",
            "--nbval-current-env",
        ]
        done = subprocess.run(
            [*command, f"--nbval-cell-timeout={CELL_SECONDS}", notebook.name],
            cwd=notebook.parent,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return "\n".join(done.stdout.splitlines()[-TAIL_LINES:]) if done.returncode else ""

    return run


def test_the_course_has_a_notebook_for_each_chapter():
    assert [path.name[:2] for path in COURSE] == [chapter.number for chapter in CHAPTERS]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("notebook", COURSE, ids=lambda path: path.stem)
def test_runs_on(engine, notebook, nbval):
    if notebook.name[:2] in LONGEST:
        not_in_docker(engine)
    if notebook.name[:2] in LONGER:
        on_one_engine(engine)
    failure = nbval(notebook, LABS_ENGINE=engine)
    if FAILED_VERDICT in failure:  # a verdict holds on a machine that has nothing else to do: once more
        failure = nbval(notebook, LABS_ENGINE=engine)
    if FAILED_VERDICT in failure and (busy := cores_in_use()) > QUIET:
        pytest.skip(f"other programs use {busy:.1f} cores, so that no verdict can hold")
    assert not failure, failure


@pytest.mark.timeout(900)
def test_the_first_notebook_runs_without_any_engine(nbval):
    failure = nbval(COURSE[0], LABS_VPP="/nonexistent/vpp", DOCKER_HOST="unix:///nonexistent/docker.sock")
    assert not failure, failure


@pytest.mark.parametrize(("kept", "caught"), [("✓ holds: more\n", False), ("✓ holds: less\n", True)])
def test_a_verdict_that_differs_from_the_kept_one_is_caught(nbval, tmp_path, kept, caught):
    notebook = nbformat.v4.new_notebook(metadata=METADATA)
    cell = nbformat.v4.new_code_cell(
        "# NBVAL_CHECK_OUTPUT\nfrom labs import verdict\nverdict('more', 2 > 1);"
    )
    cell.outputs = [nbformat.v4.new_output("stream", text=kept)]
    cell.execution_count = KEPT_COUNT
    notebook.cells = [cell]
    path = tmp_path / "00_any.ipynb"
    nbformat.write(notebook, path)
    assert bool(nbval(path)) is caught
