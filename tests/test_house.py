from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from labs.house import build_image, open_lab, run_tests


def exits(status):
    return ["-c", f"raise SystemExit({status})"]


@pytest.mark.parametrize(
    ("statuses", "expected"), [((0, 0, 0), 0), ((0, 3, 4), 3), ((2, 0, 1), 2), ((0, 0, 5), 5)]
)
def test_every_step_runs_and_the_first_failure_is_the_status(monkeypatch, capfd, statuses, expected):
    monkeypatch.setattr(
        run_tests, "STEPS", dict(zip(("one", "two", "pytest"), map(exits, statuses), strict=True))
    )
    assert run_tests.main() == expected
    told = capfd.readouterr().out
    assert [told.count(f"== {name}\n") for name in ("one", "two", "pytest")] == [1, 1, 1]
    assert told.count("FAILED") == sum(status != 0 for status in statuses)
    assert ("No test ran" in told) is (statuses[-1] == 5)


def test_a_jupyterlab_that_does_not_start_shows_its_last_lines(tmp_path):
    command = [sys.executable, "-I", open_lab.__file__, tmp_path / "no-such-folder"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0
    assert "no-such-folder" in done.stdout
    assert "JupyterLab ended on its own" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_server_is_for_this_machine_only_and_its_token_for_this_user():
    words = open_lab.command(Path("notebooks"))
    assert "--ServerApp.ip=127.0.0.1" in words
    assert not any("token" in word for word in words)  # any user may read a command line
    assert open_lab.environment("abc")["JUPYTER_TOKEN"] == "abc"  # noqa: S105 - no password


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """Return a function that puts a program called docker on an otherwise empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(script):
        (tmp_path / "docker").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (tmp_path / "docker").chmod(0o755)

    return put


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (None, "Docker was not found"),
        ("echo 'Got permission denied while trying to connect' >&2; exit 1", "you may not use it"),
        ("echo 'Cannot connect to the Docker daemon' >&2; exit 1", "its daemon does not answer"),
    ],
)
def test_why_no_image_can_be_built_is_a_sentence(docker, capfd, script, sentence):
    if script:
        docker(script)
    assert build_image.main() == 1
    assert sentence in capfd.readouterr().err


def test_the_image_is_built_for_the_version_asked_for(docker, monkeypatch, capfd):
    docker('echo "$@"')
    monkeypatch.setenv("VPP_VERSION", "26.10")
    assert build_image.main() == 0
    assert "--build-arg VPP_VERSION=26.10 --tag vpp-labs/vpp:26.10" in capfd.readouterr().out


def test_a_failed_build_is_said_so(docker, capfd):
    docker('[ "$1" = version ]')
    assert build_image.main() == 1
    assert "was not built" in capfd.readouterr().err
