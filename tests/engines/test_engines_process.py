from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from owners import python, read_until

from labs import two_vpps
from labs.engines import process
from labs.engines.process import ProcessEngine, ProcessNode, find_vpp


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Take every VPP away but what a test puts in `tmp_path`, which is on PATH."""
    monkeypatch.delenv("LABS_VPP", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}")
    monkeypatch.setattr(process, "_OPT", tmp_path / "opt" / "vpp")
    return tmp_path


def program(path, text="vpp v26.06-release built by someone", status=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{text}'\nexit {status}\n")
    path.chmod(0o755)
    return path


def test_without_a_vpp_it_says_where_it_looked(nowhere):
    assert find_vpp() is None
    found = ProcessEngine().availability()
    assert not found.ok
    assert "no vpp on PATH or under /opt/vpp" in found.reason
    assert "LABS_VPP" in found.hint
    assert nowhere.exists()


def test_a_vpp_on_path_is_found(nowhere):
    vpp = program(nowhere / "vpp")
    assert find_vpp() == vpp
    assert ProcessEngine().availability().ok


def test_a_vpp_under_opt_is_found(nowhere):
    vpp = program(nowhere / "opt" / "vpp" / "bin" / "vpp")
    assert find_vpp() == vpp


@pytest.mark.parametrize("place", ["mine", "prefix/bin/vpp"])
def test_the_one_that_labs_vpp_names_comes_first(nowhere, monkeypatch, place):
    program(nowhere / "vpp")
    chosen = program(nowhere / place)
    monkeypatch.setenv("LABS_VPP", str(nowhere / place.split("/")[0]))
    assert find_vpp() == chosen


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_labs_vpp_that_is_none_is_not_replaced_by_another(nowhere, monkeypatch, name):
    program(nowhere / "vpp")
    monkeypatch.setenv("LABS_VPP", str(nowhere / name))
    found = ProcessEngine().availability()
    assert not found.ok
    assert "which is no program" in found.reason


def test_a_file_that_cannot_be_run_is_no_vpp(nowhere, monkeypatch):
    program(nowhere / "vpp").chmod(0o644)
    monkeypatch.setenv("LABS_VPP", str(nowhere / "vpp"))
    assert not ProcessEngine().availability().ok


@pytest.mark.parametrize("text", ["", "no version here"])
def test_a_vpp_that_says_nothing_of_itself_does_not_run(nowhere, text):
    program(nowhere / "vpp", text, 1)
    found = ProcessEngine().availability()
    assert not found.ok
    assert found.reason == f"{nowhere}/vpp does not run on this machine."
    assert "--version" in found.hint


def test_a_vpp_for_another_machine_does_not_run(nowhere):
    (nowhere / "vpp").write_bytes(b"\x7fELF for another machine")
    (nowhere / "vpp").chmod(0o755)
    assert "does not run on this machine" in ProcessEngine().availability().reason


@pytest.mark.parametrize("version", ["19.08", "23.10", "24.02"])
def test_a_vpp_that_is_too_old_is_refused_with_its_version(nowhere, version):
    program(nowhere / "vpp", f"vpp v{version}-release")
    found = ProcessEngine().availability()
    assert not found.ok
    assert f"is VPP {version}, too old" in found.reason


@pytest.mark.parametrize("version", ["24.06", "25.02", "26.06", "27.02"])
def test_a_vpp_that_is_new_enough_is_taken(nowhere, version):
    program(nowhere / "vpp", f"vpp v{version}-rc0~12-gabcdef")
    found = ProcessEngine().availability()
    assert found.ok
    assert found.reason.startswith(f"VPP {version} ")


def test_a_vpp_that_was_replaced_is_asked_again(nowhere):
    vpp = program(nowhere / "vpp", "vpp v19.08")
    assert not ProcessEngine().availability().ok
    program(vpp, "vpp v26.06")
    os.utime(vpp, (1, 1))
    assert ProcessEngine().availability().ok


@pytest.fixture
def node(tmp_path):
    """Return a function that makes a node of a shell command."""
    children = []

    def make(command):
        children.append(subprocess.Popen(["sh", "-c", command], start_new_session=True))
        return ProcessNode("vpp1", children[-1], tmp_path / "log", "")

    yield make
    for child in children:
        child.kill()
        child.wait()


def test_how_a_process_ended_is_told(node):
    ended = node("exit 3")
    ended.child.wait()
    assert not ended.alive()
    assert ended.ending() == "it ended with status 3"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, signal.SIGRTMIN + 3])
def test_the_signal_that_ended_it_is_told(node, number):
    ended = node(f"kill -{int(number)} $$")
    ended.child.wait()
    assert ended.ending().startswith("it was ended by ")


def test_a_living_process_has_no_ending(node):
    living = node("sleep 60")
    assert living.alive()
    assert living.ending() == ""


def test_stopping_ends_a_process_that_was_stopped_before(node):
    stopped = node("exec sleep 60")
    os.kill(stopped.pid, signal.SIGSTOP)
    stopped.stop()
    stopped.stop()
    assert not stopped.alive()


def test_stopping_ends_a_process_that_does_not_want_to(node):
    stubborn = node("trap '' TERM; echo; while :; do sleep 0.1; done")
    stubborn.stop()
    assert not stubborn.alive()


def test_without_a_log_there_are_no_lines(node):
    assert node("true").log() == ""


@pytest.mark.engine("process")
def test_vpp_has_no_privileges_and_its_own_session():
    lab = two_vpps("caps", engine="process")
    lab.start()
    try:
        pid = lab["vpp1"].handle.pid
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        assert status["NoNewPrivs"] == "1"
        assert int(status["CapBnd"], 16) == 0 or os.geteuid() != 0
        assert int(status["CapEff"], 16) == 0
        assert os.getsid(pid) == pid
    finally:
        lab.stop()


@pytest.mark.engine("process")
def test_without_setpriv_labs_run_all_the_same_and_nothing_is_left():
    code = """
        import shutil, sys
        which = shutil.which
        shutil.which = lambda name, *rest: None if name == "setpriv" else which(name, *rest)
        from labs import two_vpps
        lab = two_vpps("bare", engine="process")
        lab.start()
        print("pid", lab["vpp1"].handle.pid, flush=True)
        sys.stdin.readline()
    """
    with python(code) as owner:
        pid = int(read_until(owner, "pid")[-1].split()[1])
        owner.kill()
        owner.wait()
        from traces import Traces  # noqa: PLC0415

        traces = Traces()
        traces.note()
        assert traces.gone_within(3) == []
        assert not Path(f"/proc/{pid}").exists()
