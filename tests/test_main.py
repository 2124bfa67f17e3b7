from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from labs.engines import rundir

ROOT = Path(__file__).resolve().parents[1]
KEYS = {"name", "engine", "versions", "machine", "quality", "summary", "verdicts", "path"}


def labs(*arguments, **settings):
    return subprocess.run(
        [sys.executable, "-m", "labs.main", *arguments],
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_doctor_prints_one_object_and_its_status_says_whether_a_lab_can_run(tmp_path):
    done = labs("doctor", "--json", LABS_RUN_DIR=str(tmp_path / (90 * "x")))
    assert json.loads(done.stdout)["ready"] is False
    assert done.returncode == 1


def test_doctor_in_words_and_in_json_agree(engine):
    done = labs("doctor", "--json", LABS_ENGINE=engine)
    assert json.loads(done.stdout)["ready"] is True
    assert done.returncode == 0
    assert "This machine can run the labs." in labs("doctor", LABS_ENGINE=engine).stdout


def test_a_run_prints_one_object_on_stdout_and_the_rest_on_stderr(engine):
    done = labs("run", "pinning", "--engine", engine, "--seconds", "0.5", "--rounds", "1", "--json")
    run = json.loads(done.stdout)
    assert set(run) >= KEYS
    assert run["engine"] == engine
    assert all(set(verdict) == {"claim", "passed"} for verdict in run["verdicts"])
    assert done.returncode == (0 if all(verdict["passed"] for verdict in run["verdicts"]) else 1)
    assert "Ready in" in done.stderr
    saved = json.loads(Path(run["path"]).read_text(encoding="utf-8"))
    assert len(saved["windows"]) == 3


def test_a_run_can_be_written_as_a_report_too(engine, tmp_path):
    report = tmp_path / "new" / "report.html"
    arguments = ("--engine", engine, "--seconds", "0.5", "--rounds", "1", "--html", str(report))
    done = labs("run", "pinning", *arguments, LABS_RUNS=str(tmp_path / "runs"))
    assert f"Report written to {report}" in done.stderr
    assert "Turns and commands" in report.read_text(encoding="utf-8")
    assert done.returncode in {0, 1}


def test_on_one_core_the_run_is_refused_with_the_reason(engine):
    core = str(min(os.sched_getaffinity(0)))
    done = subprocess.run(
        ["taskset", "-c", core, sys.executable, "-m", "labs.main", "run", "pinning", "--engine", engine],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "needs two cores" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.engine("process")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("throughput", "--nodes", "2"), "2 nodes need 2 cores, and this session may use 1"),
        (("links",), "needs two cores, and this session may use one"),
        (("rx_mode",), "needs two cores, and this session may use one"),
    ],
)
def test_an_experiment_that_needs_more_cores_says_so(arguments, said):
    core = str(min(os.sched_getaffinity(0)))
    done = subprocess.run(
        ["taskset", "-c", core, sys.executable, "-m", "labs.main", "run", *arguments, "--engine", "process"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert said in done.stderr or (arguments == ("links",) and "testpmd is not here" in done.stderr)
    assert "Traceback" not in done.stderr


def test_ctrl_c_leaves_nothing_and_says_where_the_windows_are(engine):
    running = subprocess.Popen(
        [sys.executable, "-m", "labs.main", "run", "pinning", "--engine", engine, "--seconds", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    seen = running.stderr.readline()
    assert "Ready in" in seen
    time.sleep(3)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=20)
    assert running.returncode == 1
    assert "are kept in" in said
    assert "Traceback" not in said
    assert rundir.RunDir.read(rundir.base() / "run-pinning") is None


def test_ctrl_c_while_the_command_loads_shows_no_traceback(tmp_path):
    (tmp_path / "typer.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(60)\n")
    loading = subprocess.Popen(
        [sys.executable, "-m", "labs", "doctor"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert loading.stdout.readline() == "loading\n"
    loading.send_signal(signal.SIGINT)
    _, said = loading.communicate(timeout=20)
    assert said == "Aborted.\n"
    assert loading.returncode == 1


def test_the_installed_command_begins_there_too():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"labs": "labs.__main__:main"}


def test_up_stays_until_down(engine):
    up = labs("up", "--name", "stays", "--engine", engine)
    assert up.returncode == 0, up.stderr
    assert "labs down stays" in up.stdout
    try:
        assert rundir.RunDir.read(rundir.base() / "stays").owner.alive()
        again = labs("up", "--name", "stays", "--engine", engine)
        assert again.returncode == 1
        assert "already running" in again.stderr
        assert labs("gc").stdout.strip() == "Nothing was left behind."
    finally:
        down = labs("down", "stays")
    assert down.returncode == 0, down.stderr
    assert rundir.RunDir.read(rundir.base() / "stays") is None


def test_up_without_the_engine_asked_for_says_what_is_missing():
    done = labs("up", "--engine", "process", LABS_VPP="/nonexistent/vpp")
    assert done.returncode == 1
    assert "The engine process cannot be used: VPP was not found" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("down", "no-such-lab"), 1, "No lab named 'no-such-lab' is running."),
        (("nonsense",), 2, "No such command"),
        (("run", "pinning", "--engine", "qemu"), 1, "There is no engine 'qemu'."),
        (("run", "pinning", "--seconds", "0"), 2, "0.1"),
        (("run", "pinning", "--html", "/"), 2, "is a directory"),
        (("up", "--nodes", "0"), 2, "greater"),
        (("up", "--name", "a name"), 1, "cannot be the name of a lab"),
    ],
)
def test_a_wrong_call_gets_a_sentence_and_a_status(arguments, status, words):
    done = labs(*arguments)
    assert done.returncode == status
    assert words in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_check_without_notebooks_says_where_to_run_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "labs.main", "check"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "There are no notebooks here." in done.stderr
