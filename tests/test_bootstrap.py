from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labs import bootstrap

SOURCE = Path(bootstrap.__file__)
ROOT = SOURCE.parents[1]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Point the bootstrap at a clone of its own, with nothing set up."""
    for name in bootstrap.PINNED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(bootstrap, "PYTHON", tmp_path / ".venv/bin/python")
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / ".venv/labs-stamp.json")
    return tmp_path


@pytest.fixture
def working_venv(clone):
    """Stand in for a venv that works: its Python is ours."""
    (clone / ".venv/bin").mkdir(parents=True)
    python = clone / ".venv/bin/python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return clone


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Return a function that puts a shell script on an otherwise empty PATH."""
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", str(place))

    def put(name, script):
        (place / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (place / name).chmod(0o755)

    return put


@pytest.fixture
def steps(monkeypatch):
    """Replace what takes minutes, and note that it was asked for."""
    noted = []
    monkeypatch.setattr(bootstrap, "make_venv", lambda: noted.append("venv") or ["pip"])
    monkeypatch.setattr(bootstrap, "install", lambda _, extras: noted.append(" ".join(sorted(extras))))
    return noted


def fake_python(version, has_pip="true"):
    return f"echo '[\"/fake/{version}\", [{version.replace('.', ', ')}], {has_pip}]'"


def test_it_imports_the_standard_library_only():
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


def test_an_old_python_reads_it():
    ast.parse(SOURCE.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_a_python_too_old_is_named_with_what_to_install(program):
    program("python3", fake_python("3.9"))
    with pytest.raises(bootstrap.SetupError, match=r"PATH: 3\.9\.\n.*apt install python3 python3-venv"):
        bootstrap.find_python()


def test_a_python_too_new_is_not_taken(program):
    program("python3", fake_python("3.14"))
    with pytest.raises(bootstrap.SetupError, match=r"found on PATH: 3\.14\."):
        bootstrap.find_python()


def test_no_python_is_said_so(program):
    program("python3", "exit 127")
    with pytest.raises(bootstrap.SetupError, match="found on PATH: none"):
        bootstrap.find_python()


@pytest.mark.parametrize("script", ["exit 1", "echo not json", "echo; echo '[]'", "echo error >&2"])
def test_a_shim_that_fails_is_passed_over(program, script):
    program("python3", script)
    program("python3.12", fake_python("3.12"))
    assert bootstrap.find_python()[1] == (3, 12)


def test_a_python_that_warns_is_understood(program):
    program("python3", f"echo 'locale: cannot set' >&2; {fake_python('3.11')}")
    assert bootstrap.find_python() == ("/fake/3.11", (3, 11), True)


def test_a_python_whose_venvs_have_pip_is_preferred(program):
    program("python3", fake_python("3.11", "false"))
    program("python3.13", fake_python("3.13"))
    assert bootstrap.find_python()[1] == (3, 13)


def test_without_any_pip_the_command_to_run_is_named(program, clone, monkeypatch):
    monkeypatch.setenv("APT", "no")
    program("python3", f'[ "$2" = pip ] && exit 1; {fake_python("3.11", "false")}')
    monkeypatch.setattr(bootstrap, "find_python", lambda: ("python3", (3, 11), False))
    with pytest.raises(bootstrap.SetupError, match=r"sudo apt install python3\.11-venv"):
        bootstrap.make_venv()
    assert not (clone / ".venv").exists()


def test_a_finished_set_up_is_not_done_again(working_venv, steps):
    bootstrap.set_up({"lab"})
    bootstrap.set_up({"lab"})
    assert working_venv.exists()
    assert steps == ["venv", "lab"]


def test_extras_add_up(working_venv, steps):
    bootstrap.set_up({"lab", "test"})
    bootstrap.set_up({"lab"})
    assert working_venv.exists()
    assert steps == ["venv", "lab test"]


def test_a_changed_pin_installs_into_the_same_venv(working_venv, steps):
    bootstrap.set_up({"lab"})
    (working_venv / "constraints.txt").write_text("rich==1.0\n", encoding="utf-8")
    bootstrap.set_up({"lab"})
    assert steps == ["venv", "lab", "lab"]


@pytest.mark.parametrize("stamp", ["", "{", "[]", "null", '{"root": "/elsewhere"}'])
def test_a_half_made_venv_is_made_anew(working_venv, steps, stamp):
    bootstrap.STAMP.write_text(stamp, encoding="utf-8")
    bootstrap.set_up({"lab"})
    assert working_venv.exists()
    assert steps == ["venv", "lab"]


def test_a_venv_whose_python_is_gone_is_made_anew(working_venv, steps):
    bootstrap.set_up({"lab"})
    (working_venv / ".venv/bin/python").unlink()
    bootstrap.set_up({"lab"})
    assert steps == ["venv", "lab"] * 2


def test_a_failed_installation_leaves_no_stamp(working_venv, steps, monkeypatch):
    bootstrap.set_up({"lab"})

    def fail(*_):
        raise bootstrap.SetupError

    monkeypatch.setattr(bootstrap, "install", fail)
    (working_venv / "constraints.txt").write_text("", encoding="utf-8")
    with pytest.raises(bootstrap.SetupError):
        bootstrap.set_up({"lab"})
    assert bootstrap.stamped() == {}
    assert steps == ["venv", "lab"]


def test_pip_s_last_lines_are_shown_when_it_fails(clone):
    script = "import sys; print(*range(100), sep='\\n'); print('no such index', file=sys.stderr); sys.exit(1)"
    with pytest.raises(
        bootstrap.SetupError, match=r"(?s)^89\n.*no such index\n.*Check the network"
    ) as caught:
        bootstrap.install([sys.executable, "-c", script], {"lab"})
    assert clone.exists()
    assert str(caught.value).count("\n") < 20


@pytest.mark.parametrize(("uid", "apt", "there", "may"), [(0, "", True, True), (0, "no", True, False)])
def test_apt_is_left_alone_on_demand(program, monkeypatch, uid, apt, there, may):
    monkeypatch.setenv("APT", apt)
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    if there:
        program("apt-get", "exit 1")
    assert bootstrap.may_use_apt() is may


def test_apt_is_left_alone_without_root(program, monkeypatch):
    program("apt-get", "exit 1")
    monkeypatch.delenv("APT", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not bootstrap.may_use_apt()


def test_a_failing_apt_is_told_and_the_tests_go_on(program, monkeypatch, capsys):
    program("apt-get", "echo E: Unable to locate package; exit 100")
    monkeypatch.setattr(bootstrap, "may_use_apt", lambda: True)
    monkeypatch.setattr(bootstrap, "TEST_PACKAGES", {"no-such-package": ("no-such-program",)})
    bootstrap.install_test_packages()
    told = capsys.readouterr().out
    assert "Unable to locate package" in told
    assert "the tests that need it will be skipped" in told


def test_the_stamp_holds_what_it_was_made_for(working_venv, steps):
    bootstrap.set_up({"test"})
    stamp = json.loads(bootstrap.STAMP.read_text(encoding="utf-8"))
    assert (stamp["root"], stamp["extras"], stamp["pip"]) == (str(working_venv), ["test"], ["pip"])
    assert steps


def test_a_broken_clone_is_a_sentence(tmp_path):
    shutil.copytree(ROOT / "labs/house", tmp_path / "labs/house")
    shutil.copy(SOURCE, tmp_path / "labs/bootstrap.py")
    done = subprocess.run(
        [sys.executable, "-I", tmp_path / "labs/bootstrap.py", "lab"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "pyproject.toml" in done.stderr


def test_the_constraints_hold_versions_only():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert lines
    assert [line for line in lines if line.count("==") != 1 or set(line) & set("@/: ")] == []
