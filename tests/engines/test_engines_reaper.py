from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from owners import OWNER, ask, python, read_until
from traces import SHM, Traces

from labs.engines import reaper, rundir
from labs.engines.docker import image_name
from labs.engines.docker_daemon import connect
from labs.engines.process import find_vpp
from labs.engines.rundir import Owner, RunDir

SWEPT_WITHIN = 3.0  # what the course promises


@pytest.fixture
def traces():
    return Traces()


@pytest.fixture
def owner(engine, traces):
    """Start another process that owns a lab."""
    with python(OWNER, "owned", engine) as child:
        read_until(child, "started")
        traces.note()
        yield child
    assert traces.gone_within(10) == []


@pytest.fixture
def ended():
    """Return an owner whose process has ended."""
    with subprocess.Popen(["sleep", "60"]) as child:
        owner = Owner(child.pid, rundir.birth(child.pid))
        child.kill()
    return owner


def abandoned(name, owner, engine="process"):
    """Make the run directory of a lab whose owner is `owner`."""
    lab = RunDir(rundir.base() / name, "abcd1234", engine, owner)
    with rundir.locked():
        lab.create()
    return lab


def test_a_running_lab_has_traces(owner, traces, engine):
    assert owner.poll() is None
    found = "\n".join(traces.left())
    assert "labs.engines.reaper" in found
    traces_of = {
        "process": f"{SHM}/labs-",
        "docker": "container owned-vpp1-",
        "glassbox": "labs.glassbox.process",
    }
    assert traces_of[engine] in found


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_when_the_owner_is_killed(owner, traces, how):
    owner.send_signal(how)
    owner.wait()
    assert traces.gone_within(SWEPT_WITHIN) == []


def test_nothing_is_left_when_the_owners_whole_group_is_killed(owner, traces):
    os.killpg(owner.pid, signal.SIGKILL)
    owner.wait()
    assert traces.gone_within(SWEPT_WITHIN) == []


def test_nothing_is_left_when_the_owner_just_ends(owner, traces):
    owner.stdin.close()
    assert owner.wait() == 0
    assert traces.gone_within(SWEPT_WITHIN) == []


def test_nothing_is_left_of_a_node_that_was_stopped(owner, traces):
    os.kill(int(ask(owner, "lab['vpp1'].handle.pid")), signal.SIGSTOP)
    owner.kill()
    owner.wait()
    assert traces.gone_within(SWEPT_WITHIN) == []


def test_the_lab_ends_with_its_owner_even_if_the_reaper_is_killed(owner, traces):
    os.kill(int(ask(owner, "lab._launch.reaper.pid")), signal.SIGKILL)
    owner.stdin.close()
    owner.wait()
    assert traces.gone_within(SWEPT_WITHIN) == []


def test_an_interrupt_of_the_owners_group_ends_no_node(owner):
    read = "[node.alive for node in lab.nodes.values()]"
    owner.stdin.write("time.sleep(60)\n")
    owner.stdin.flush()
    time.sleep(0.3)
    os.killpg(owner.pid, signal.SIGINT)
    read_until(owner, "interrupted")
    assert ask(owner, read) == "[True, True]"
    assert ask(owner, "lab.ping('vpp1', 'vpp2', 3).received") == "3"


def test_a_fork_of_the_owner_takes_no_lab_with_it(owner):
    assert int(ask(owner, "__import__('os').fork() or sys.exit()"))
    time.sleep(0.5)
    assert ask(owner, "[node.alive for node in lab.nodes.values()]") == "[True, True]"
    assert ask(owner, "lab.ping('vpp1', 'vpp2', 3).received") == "3"


def test_gc_leaves_the_lab_of_another_process_alone(owner):
    assert reaper.gc() == []
    assert ask(owner, "lab.ping('vpp1', 'vpp2', 3).received") == "3"


def test_gc_sweeps_a_lab_whose_owner_has_ended(ended, traces):
    lab = abandoned("orphan", ended)
    traces.note()
    (SHM / f"{lab.shm_prefix}-vpp1-global_vm").write_text("")
    assert reaper.gc() == ["orphan"]
    assert traces.left() == []


def test_gc_sweeps_an_owner_whose_number_means_another_process_now(traces):
    lab = abandoned("reborn", Owner(os.getpid(), "an earlier boot:1"))
    traces.note()
    assert lab.name in reaper.gc()
    assert traces.left() == []


def test_a_node_is_known_by_its_environment(ended, traces):
    lab = abandoned("orphan", ended)
    traces.note()
    with subprocess.Popen(["sleep", "60"], env={**os.environ, reaper.MARK: lab.token}) as node:
        assert [each.pid for each in reaper.processes_of(lab)] == [node.pid]
        reaper.gc()
        node.wait(5)
    assert traces.left() == []


@pytest.mark.parametrize("name", ["labs-0-other", "labs-abcd", "global_vm", "sem.mp-abcd1234"])
def test_gc_leaves_shared_memory_that_is_not_ours(ended, name):
    file = SHM / f"{name}-{os.getpid()}"
    file.write_text("")
    try:
        abandoned("orphan", ended)
        reaper.gc()
        assert file.exists()
    finally:
        file.unlink()


def test_gc_leaves_directories_that_are_not_labs(ended):
    abandoned("orphan", ended)
    place = rundir.base() / "notes"
    place.mkdir()
    (place / "lab.json").write_text('{"token": "x"}')
    try:
        reaper.gc()
        assert (place / "lab.json").exists()
    finally:
        (place / "lab.json").unlink()
        place.rmdir()


@pytest.mark.engine("process")
def test_gc_leaves_a_vpp_that_someone_started_by_hand(ended, tmp_path):
    place = Path("/tmp") / f"byhand-{os.getpid()}"  # noqa: S108 - a socket's path must be short
    place.mkdir()
    conf = tmp_path / "startup.conf"
    conf.write_text(
        f"unix {{ nodaemon nosyslog runtime-dir {place} cli-listen {place}/cli.sock poll-sleep-usec 1000 }}\n"
        f"api-segment {{ prefix {place.name} }}\nstatseg {{ socket-name {place}/stats.sock }}\n"
        f"socksvr {{ socket-name {place}/api.sock }}\nbuffers {{ page-size 4k buffers-per-numa 1024 }}\n"
        "plugins { plugin default { disable } }\n"
    )
    with subprocess.Popen([find_vpp(), "-c", conf], stderr=subprocess.DEVNULL) as theirs:
        try:
            while not (place / "api.sock").exists():
                assert theirs.poll() is None
                time.sleep(0.02)
            abandoned("orphan", ended)
            assert reaper.gc() == ["orphan"]
            time.sleep(0.2)
            assert theirs.poll() is None
            assert (place / "cli.sock").exists()
            assert list(SHM.glob(f"{place.name}-*"))
        finally:
            theirs.kill()
            theirs.wait()
            for file in (*SHM.glob(f"{place.name}-*"), *place.iterdir()):
                file.unlink()
            place.rmdir()


@pytest.mark.engine("docker")
def test_gc_leaves_a_container_that_is_not_ours(ended):
    client = connect()
    theirs = client.containers.run(
        image_name(), entrypoint=["sleep"], command=["60"], detach=True, network_mode="none"
    )
    try:
        abandoned("orphan", ended, "docker")
        assert reaper.gc() == ["orphan"]
        theirs.reload()
        assert theirs.status == "running"
    finally:
        theirs.remove(force=True)


def test_a_broken_record_stops_no_one(ended):
    lab = abandoned("orphan", ended)
    (lab.path / "lab.json").write_text("{")
    assert reaper.gc() == []
    (lab.path / "lab.json").unlink()
    lab.path.rmdir()
