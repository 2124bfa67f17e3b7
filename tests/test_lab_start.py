"""What a learner sees when a lab does not start: what is missing, refused, dying or interrupted."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from owners import OWNER, ask, python, read_until
from traces import Traces

from labs import Lab, LabError, LinkSpec, NodeSpec, Topology, engines, launch, two_vpps
from labs.engines import rundir
from labs.errors import NodeDied, NotAvailable
from labs.launch import Launch
from labs.node import Node
from labs.running import current
from labs.vpp.api import UnknownMessage


@pytest.fixture
def traces():
    return Traces()


@pytest.fixture
def fresh(engine):
    """Return a lab for one test, not started."""
    lab = two_vpps("fresh", engine=engine)
    yield lab
    lab.stop()


@pytest.fixture
def running(fresh, capsys):
    """Return a lab for one test, started."""
    fresh.start()
    return fresh


def answers(lab, source="vpp1", target="vpp2"):
    return lab.ping(source, target, count=3, interval=0.1).received > 0


# A node that dies at the start


def broken_by(change):
    """Return a replacement for `launch.configuration` that changes what it returns."""
    real = launch.configuration
    return lambda *arguments: change(real(*arguments))


DEADLY = {
    "an unknown directive": (lambda conf: conf + "unix { nonsense }\n", "unknown input `nonsense"),
    "a section of no plugin": (lambda conf: conf + "dpdk { no-pci }\n", "unknown input `dpdk"),
    "a core that is not there": (lambda conf: conf + "cpu { main-core 1023 }\n", "1023"),
    "too small a heap": (lambda conf: conf.replace("heap-size 1024M", "heap-size 64M"), "Out-of-memory"),
}


@pytest.mark.vpp
@pytest.mark.parametrize(("change", "words"), DEADLY.values(), ids=DEADLY)
def test_a_vpp_that_dies_at_the_start_is_quoted_and_nothing_is_left(
    fresh, traces, monkeypatch, change, words
):
    monkeypatch.setattr(launch, "configuration", broken_by(change))
    monkeypatch.setattr(Launch, "stop", noting(traces, Launch.stop))
    with pytest.raises(NodeDied) as news:
        fresh.start()
    assert news.value.message.startswith("vpp1 is not running: it")
    assert words in news.value.message
    assert "NodeSpec" in news.value.hint
    assert traces.tokens
    assert traces.gone_within(3) == []
    assert fresh.engine == ""


def noting(traces, act):
    """Return `act`, with a note of the labs that are there before."""

    def noted(*arguments):
        traces.note()
        return act(*arguments)

    return noted


def test_when_the_second_of_two_dies_the_first_is_ended_too(fresh, traces, monkeypatch):
    real = launch.configuration
    monkeypatch.setattr(
        launch,
        "configuration",
        lambda spec, *rest: real(spec, *rest) + ("nonsense { }" if spec.name == "vpp2" else ""),
    )
    monkeypatch.setattr(Launch, "stop", noting(traces, Launch.stop))
    with pytest.raises(NodeDied, match="vpp2 is not running"):
        fresh.start()
    assert traces.gone_within(3) == []
    monkeypatch.undo()
    fresh.start()
    assert answers(fresh)


def test_a_heap_larger_than_the_machine_is_refused_with_both_sizes(engine, traces):
    total = psutil.virtual_memory().total >> 20
    lab = Lab(Topology("greedy", (NodeSpec("vpp1", heap_mb=min(2 * total, 65536)),)), engine)
    with pytest.raises(LabError, match=rf"vpp1 asks for a heap of \d+ MiB, .* has {total} MiB"):
        lab.start()
    assert not (rundir.base() / "greedy").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"heap_mb": "2G"}, "heap_mb cannot be '2G'"),
        ({"heap_mb": 1}, "heap_mb cannot be 1"),
        ({"buffers": 20000}, "20000 buffers need"),
        ({"plugins": ("memif_plugin",)}, "cannot be the name of a plugin"),
        ({"plugins": ("ping", "ping")}, "named twice"),
        ({"workers": 64}, "VPP wants a core for each"),
        ({"workers": -1}, "cannot have -1 workers"),
        ({"workers": "1"}, "cannot have '1' workers"),
        ({"cores": (1023,)}, "cannot run on core 1023"),
        ({"cores": 0}, "The cores of vpp1 cannot be 0"),
        ({"cores": None}, "The cores of vpp1 cannot be None"),
        ({"cores": "0"}, "'0' is no core"),
    ],
)
def test_a_node_that_no_vpp_could_be_is_refused_before_it_starts(engine, change, words):
    lab = Lab(Topology("strange", (NodeSpec("vpp1", **change),)), engine)
    with pytest.raises(LabError, match=words) as refused:
        lab.start()
    assert not isinstance(refused.value, NodeDied)
    assert refused.value.hint
    assert not (rundir.base() / "strange").exists()


# Plugins and messages that are not there


@pytest.mark.vpp
@pytest.mark.parametrize("plugins", [("memif", "ping", "nosuch"), ("perfmom",)])
def test_a_plugin_that_is_not_there_is_named_with_the_package(engine, plugins):
    lab = Lab(Topology("plugless", (NodeSpec("vpp1", plugins=plugins),)), engine)
    with pytest.raises(NotAvailable) as refused:
        lab.start()
    assert f"vpp1's VPP has not loaded {plugins[-1]}_plugin.so" in refused.value.message
    assert "vpp_plugins" in refused.value.message
    assert "vpp-plugin-core" in refused.value.hint
    assert not (rundir.base() / "plugless").exists()


@pytest.mark.vpp
def test_without_plugins_a_vpp_starts_all_the_same(engine):
    lab = Lab(Topology("plugless", (NodeSpec("vpp1", plugins=()),)), engine)
    lab.start()
    try:
        assert "26.06" in lab["vpp1"].cli("show version")
    finally:
        lab.stop()


@pytest.mark.vpp
def test_a_link_between_vpps_without_memif_gets_vpps_own_words(engine):
    nodes = (NodeSpec("a", plugins=("ping",)), NodeSpec("b", plugins=("ping",)))
    lab = Lab(Topology("plugless", nodes, (LinkSpec("a", "b", "10.0.0.1/24", "10.0.0.2/24"),)), engine)
    with pytest.raises(LabError, match="unknown input"):
        lab.start()
    assert not (rundir.base() / "plugless").exists()


@pytest.mark.vpp
def test_a_message_of_a_plugin_that_is_not_loaded_is_named(running):
    with pytest.raises(
        UnknownMessage, match=r"VPP 26\.06.* has no API message 'gtpu_tunnel_dump'"
    ) as refused:
        running["vpp1"].api.gtpu_tunnel_dump()
    assert "plugin" in refused.value.hint


# Ctrl-C in the middle of the start


def before(act, number=1):
    """Return `act`, but interrupted before its call of that number does anything."""
    left = [number]

    def interrupted(*arguments, **options):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return act(*arguments, **options)

    return interrupted


def after(act, number=1):
    """Return `act`, but interrupted after its call of that number has done all."""
    left = [number]

    def interrupted(*arguments, **options):
        made = act(*arguments, **options)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return made

    return interrupted


POINTS = {
    "the choice of an engine": (engines, "choose", before, 1),
    "the look for room": (launch, "check_room", before, 1),
    "the launch": (Launch, "run", before, 1),
    "the first node, done": (Launch, "start_node", after, 1),
    "the second node, done": (Launch, "start_node", after, 2),
    "the first wait": (Node, "wait_ready", before, 1),
    "the second wait, done": (Node, "wait_ready", after, 2),
    "the link": (Launch, "settle", before, 2),
    "the wait for the link": (Lab, "wait_link", before, 1),
    "the wait for the link, done": (Lab, "wait_link", after, 1),
}


@pytest.mark.parametrize(("owner", "name", "when", "number"), POINTS.values(), ids=POINTS)
def test_an_interrupted_start_leaves_nothing_and_can_be_repeated(
    engine, traces, monkeypatch, capsys, owner, name, when, number
):
    lab = two_vpps("cut", engine=engine, cores="free")
    monkeypatch.setattr(Launch, "stop", noting(traces, Launch.stop))
    monkeypatch.setattr(owner, name, when(getattr(owner, name), number))
    with pytest.raises(LabError, match="The start was interrupted") as told:
        lab.start()
    assert "nothing was left running" in told.value.hint
    assert not (rundir.base() / "cut").exists()
    assert traces.gone_within(3) == []
    assert lab.engine == ""
    with pytest.raises(LabError, match="No lab is running"):
        current()
    lab.stop()


def test_after_an_interrupted_start_the_lab_starts(fresh, monkeypatch):
    monkeypatch.setattr(Launch, "settle", before(Launch.settle, 2))
    with pytest.raises(LabError, match="interrupted"):
        fresh.start()
    fresh.start()
    assert answers(fresh)


# Names, and two labs of one


def test_a_lab_of_a_name_that_another_process_uses_is_refused(engine, traces):
    with python(OWNER, "taken", engine) as other:
        read_until(other, "started")
        traces.note()
        with pytest.raises(
            LabError, match=f"'taken' is already running, started by process {other.pid}"
        ) as no:
            two_vpps("taken", engine=engine).start()
        assert "labs down taken" in no.value.hint
        assert ask(other, "lab.ping('vpp1', 'vpp2', 3, 0.1).received > 0") == "True"
    assert traces.gone_within(5) == []


@pytest.mark.parametrize(
    "name", ["a name", "", "1st", "x" * 25, "../up", "under_score", "dot.ted", "ü", "-x"]
)
def test_a_name_that_vpp_or_docker_would_refuse_is_refused(name):
    with pytest.raises(LabError, match="cannot be the name of a lab"):
        two_vpps(name)
    with pytest.raises(LabError, match="cannot be the name of a node"):
        NodeSpec(name)


def test_every_strange_name_that_is_accepted_works(engine):
    names = ("A-", "x" * 24)
    link = LinkSpec(*names, "10.0.0.1/24", "10.0.0.2/24")
    lab = Lab(Topology("Z" + "-" * 23, tuple(NodeSpec(name) for name in names), (link,)), engine)
    lab.start()
    try:
        assert tuple(lab) == names
        assert answers(lab, *names)
    finally:
        lab.stop()


# Room


def test_a_run_directory_that_is_too_long_is_refused(engine, monkeypatch, tmp_path):
    place = f"/tmp/{'long' * 24}"  # noqa: S108 - nothing is made there
    monkeypatch.setenv("LABS_RUN_DIR", place)
    with pytest.raises(LabError, match=rf"The run directory {place}/fresh is too long") as refused:
        two_vpps("fresh", engine=engine).start()
    assert "LABS_RUN_DIR" in refused.value.hint
    assert not Path(place).exists()


def test_a_run_directory_elsewhere_works(engine, monkeypatch, own_directories):
    monkeypatch.setenv("LABS_RUN_DIR", f"{own_directories}/elsewhere")
    lab = two_vpps("fresh", engine=engine)
    lab.start()
    try:
        assert (own_directories / "elsewhere" / "fresh" / "memif.sock").is_socket()
        assert answers(lab)
    finally:
        lab.stop()
    assert not (own_directories / "elsewhere" / "fresh").exists()


def test_too_little_memory_is_refused_with_both_sizes(fresh, monkeypatch):
    memory = SimpleNamespace(available=399 << 20, total=1 << 40)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    with pytest.raises(LabError, match="needs about 400 MiB of memory, and 399 MiB are free") as refused:
        fresh.start()
    assert "labs gc" in refused.value.hint
    memory.available = 400 << 20
    launch.check_room(fresh.topology, rundir.base())


def test_a_control_groups_limit_counts_as_memory(fresh, monkeypatch):
    monkeypatch.setattr(launch, "_cgroup_free_mib", lambda: 100)
    with pytest.raises(LabError, match="and 100 MiB are free"):
        fresh.start()


@pytest.mark.parametrize("place", ["/dev/shm", "run directory"])  # noqa: S108 - where VPP puts its files
def test_too_little_disk_is_refused_with_the_place(fresh, monkeypatch, own_directories, place):
    real = shutil.disk_usage
    full = "/dev/shm" if place == "/dev/shm" else str(own_directories)  # noqa: S108 - likewise

    def usage(path):
        return SimpleNamespace(free=1 << 20) if str(path).startswith(full) else real(path)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    with pytest.raises(
        LabError, match=r"too little room in .*: 1 MiB are free, and this lab needs \d+"
    ) as no:
        fresh.start()
    assert full in no.value.message
    assert "delete what you do not need" in no.value.hint


# Programs that are no VPP


@pytest.fixture
def program(monkeypatch, tmp_path):
    """Return a function that makes LABS_VPP a program that says it is VPP, and then does something else."""

    def write(what):
        path = tmp_path / "vpp"
        path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo vpp v26.06-release && exit\n{what}\n')
        path.chmod(0o755)
        monkeypatch.setenv("LABS_VPP", str(path))
        return path

    return write


@pytest.mark.engine("process")
def test_a_program_that_ends_is_quoted(program):
    program("echo no vpp; exit 3")
    with pytest.raises(NodeDied, match=r"ended with status 3.\nIts last lines were:\n    no vpp"):
        two_vpps("fresh", engine="process").start()


@pytest.mark.engine("process")
def test_a_program_that_never_answers_is_given_up_and_ended(program, monkeypatch, traces):
    program("exec sleep 600")
    monkeypatch.setattr("labs.node._BOOT_SECONDS", 0.5)
    monkeypatch.setattr(Launch, "stop", noting(traces, Launch.stop))
    with pytest.raises(LabError, match="vpp1 runs, but it does not answer: There is no API socket") as told:
        two_vpps("fresh", engine="process").start()
    assert told.value.hint
    assert traces.tokens
    assert traces.gone_within(3) == []
