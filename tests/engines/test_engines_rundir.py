from __future__ import annotations

import json
import os
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from owners import python, read_until, unprivileged

from labs.engines import rundir
from labs.engines.rundir import LONGEST_SOCKET, Owner, RunDir
from labs.errors import LabError

TMP = "/tmp"  # noqa: S108 - a socket's path must be short

# Claims a lab named on the command line, says how that went, and waits.
CLAIMER = """
    import sys
    from labs.engines import reaper
    from labs.engines.rundir import RunDir
    from labs.errors import LabError
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        lab = RunDir.claim(sys.argv[1], ["vpp1"], "process")
    except LabError as error:
        print("refused", error.message, flush=True)
    else:
        print("claimed", lab.token, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def base(monkeypatch):
    """Return a base directory of this test's own."""
    with tempfile.TemporaryDirectory(prefix="lr", dir=TMP) as place:
        monkeypatch.setenv("LABS_RUN_DIR", place)
        yield Path(place)


def claim(name="lab"):
    return RunDir.claim(name, ["vpp1", "vpp2"], "process")


def test_a_claim_makes_a_directory_with_a_record(base):
    lab = claim()
    assert lab.path == base / "lab"
    assert RunDir.read(lab.path) == lab
    assert lab.owner.pid == os.getpid()
    assert lab.owner.alive()


def test_nobody_else_may_look_into_it(base):
    assert stat.S_IMODE(claim().path.stat().st_mode) == 0o700
    assert base.exists()


def test_every_lab_has_a_token_of_its_own(base):
    assert len({claim(f"lab{k}").token for k in range(20)}) == 20
    assert len(rundir.every()) == 20
    assert base.exists()


def test_the_same_process_may_claim_a_name_again_and_gets_a_clean_directory(base):
    first = claim()
    first.file("vpp1", "log").write_text("old")
    second = claim()
    assert second.token != first.token
    assert [each.name for each in (base / "lab").iterdir()] == ["lab.json"]


def test_a_name_that_another_process_uses_is_refused_and_the_process_is_named(base):
    with python(CLAIMER, "lab") as other:
        other.stdin.write("\n")
        other.stdin.flush()
        read_until(other, "claimed")
        with pytest.raises(LabError, match=f"'lab' is already running, started by process {other.pid}") as no:
            claim()
        assert "labs down lab" in no.value.hint
        assert base.exists()


def test_what_a_dead_owner_left_is_swept(base):
    with python(CLAIMER, "lab") as other:
        other.stdin.write("\n")
        other.stdin.flush()
        read_until(other, "claimed")
        (base / "lab" / "vpp1.log").write_text("old")
        other.kill()
    lab = claim()
    assert lab.owner.pid == os.getpid()
    assert not lab.file("vpp1", "log").exists()


def test_of_two_that_claim_at_once_one_gets_it(base):
    with python(CLAIMER, "lab") as one, python(CLAIMER, "lab") as two:
        for each in (one, two):
            read_until(each, "ready")
        for each in (one, two):
            each.stdin.write("\n")
            each.stdin.flush()
        said = sorted(each.stdout.readline().split()[0] for each in (one, two))
    assert said == ["claimed", "refused"]
    assert base.exists()


@pytest.mark.parametrize("content", [{}, {"notes.txt": "mine"}, {"lab.json": "{"}, {"lab.json": "[]"}])
def test_a_directory_that_is_not_ours_stays_as_it_is(base, content):
    (base / "lab").mkdir()
    for name, text in content.items():
        (base / "lab" / name).write_text(text)
    with pytest.raises(LabError, match="is in the way, and it is not a lab's"):
        claim()
    assert {each.name: each.read_text() for each in (base / "lab").iterdir()} == content
    assert not list(base.glob(".draft-*"))


def test_a_file_that_is_in_the_way_stays(base):
    (base / "lab").write_text("mine")
    with pytest.raises(LabError, match="is in the way"):
        claim()
    assert (base / "lab").read_text() == "mine"


def test_removing_takes_only_this_labs_directory(base):
    first = claim()
    second = claim()
    first.remove()
    assert second.path.exists()
    second.remove()
    assert not second.path.exists()
    assert base.exists()


def test_a_path_that_is_too_long_for_vpp_is_refused_with_both_lengths(monkeypatch):
    monkeypatch.setenv("LABS_RUN_DIR", f"{TMP}/" + "x" * 100)
    with pytest.raises(LabError, match=rf"\d{{3}} characters, and VPP takes {LONGEST_SOCKET}") as refused:
        claim()
    assert "LABS_RUN_DIR" in refused.value.hint


@given(st.integers(1, 40), st.integers(1, 24))
def test_a_path_that_is_accepted_fits(folder, node):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABS_RUN_DIR", f"{TMP}/" + "d" * folder * 2)
        names = ["v", "n" * node]
        try:
            path = rundir.check("lab", names)
        except LabError:
            fits = False
        else:
            fits = True
            path = str(path)
        longest = len(f"{TMP}/{'d' * folder * 2}/lab/{'n' * node}.stats.sock")
        assert fits == (longest <= LONGEST_SOCKET)


@pytest.mark.parametrize(
    "folder", [f"{TMP}/with blank", f"{TMP}/plus+", f"{TMP}/ü", "relative", f"{TMP}/a:b"]
)
def test_a_path_with_characters_that_vpp_refuses_is_refused(monkeypatch, folder):
    monkeypatch.setenv("LABS_RUN_DIR", folder)
    with pytest.raises(LabError, match="VPP does not take sockets in"):
        claim()
    assert not Path(folder).exists()


def test_a_base_that_cannot_be_written_is_refused(base):
    base.chmod(0o755 if os.geteuid() == 0 else 0o500)  # root's own, to anyone else
    with unprivileged(CLAIMER, "lab") as nobody:
        nobody.stdin.write("\n")
        nobody.stdin.flush()
        said = read_until(nobody, "refused")[-1]
    assert f"The run directory {base}/lab cannot be made: {base} is not writable for you." in said


@pytest.mark.parametrize("place", ["/proc/labs", "/dev/null/labs"])
def test_a_base_that_cannot_be_made_is_refused(monkeypatch, place):
    monkeypatch.setenv("LABS_RUN_DIR", place)
    with pytest.raises(LabError, match="cannot be made"):
        claim()


@pytest.mark.parametrize("place", ["/proc/labs", "/dev/null/labs"])
def test_looking_for_labs_where_none_can_be_is_no_error(monkeypatch, place):
    monkeypatch.setenv("LABS_RUN_DIR", place)
    assert rundir.every() == []


def test_the_users_runtime_directory_is_the_first_choice(monkeypatch, tmp_path):
    monkeypatch.delenv("LABS_RUN_DIR", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert rundir.base() == tmp_path / "labs"


@pytest.mark.parametrize("runtime", [None, "/nonexistent"])
def test_without_it_labs_live_under_the_temporary_directory(monkeypatch, runtime):
    monkeypatch.delenv("LABS_RUN_DIR", raising=False)
    if runtime is None:
        monkeypatch.delenv("XDG_RUNTIME_DIR")
    else:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    assert rundir.base() == Path(tempfile.gettempdir()) / f"labs-{os.getuid()}"


def test_a_directory_of_another_user_is_not_used(base):
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    os.chown(base, 65534, 65534)
    with pytest.raises(LabError, match="belongs to"):
        claim()


def test_a_process_that_ended_is_dead_and_a_later_one_with_its_number_is_another():
    with subprocess.Popen(["sleep", "60"]) as child:
        owner = Owner(child.pid, rundir.birth(child.pid))
        assert owner.alive()
        child.kill()
    assert not owner.alive()
    assert not Owner(os.getpid(), owner.birth).alive()


def test_a_zombie_counts_as_ended():
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert rundir.birth(child.pid) is None
    child.wait()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "null", '{"token": "a"}', '{"token": 1, "engine": "x"}']
)
def test_a_broken_record_is_no_lab(tmp_path, text):
    (tmp_path / "lab.json").write_text(text)
    assert RunDir.read(tmp_path) is None


def test_a_record_with_a_token_that_would_match_others_is_no_lab(tmp_path):
    owner = {"pid": 1, "birth": "x"}
    (tmp_path / "lab.json").write_text(json.dumps({"token": "*", "engine": "process", "owner": owner}))
    assert RunDir.read(tmp_path) is None
