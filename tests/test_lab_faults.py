"""What a learner sees when a node of a running lab dies, and how it comes back."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from traces import Traces

from labs import launch, two_vpps
from labs.engines import rundir
from labs.engines.rundir import RunDir
from labs.errors import NodeDied
from labs.health import last_words
from labs.launch import Launch

HANGS = pytest.mark.timeout(60)


@pytest.fixture
def running(engine, capsys):
    """Return a lab for one test, started."""
    lab = two_vpps("fresh", engine=engine)
    lab.start()
    yield lab
    lab.stop()


def answers(lab, source="vpp1", target="vpp2"):
    return lab.ping(source, target, count=3, interval=0.1).received > 0


# A node that has died


@pytest.fixture(scope="module")
def bereaved(engine):
    """Return a lab that was used in every way, and whose second node has crashed since."""
    lab = two_vpps("bereaved", engine=engine)
    lab.start()
    for act in (*OPERATIONS.values(), *VIEWS.values()):
        act(lab)
    os.kill(lab["vpp2"].handle.pid, signal.SIGSEGV)
    while lab["vpp2"].alive:
        pass
    yield lab
    lab.stop()


OPERATIONS = {
    "cli": lambda lab: lab["vpp2"].cli("show version"),
    "cli steps": lambda lab: list(lab["vpp2"].cli_steps("show version")),
    "api": lambda lab: lab["vpp2"].api.show_version(),
    "api dump": lambda lab: lab["vpp2"].api.sw_interface_dump(),
    "api names": lambda lab: dir(lab["vpp2"].api),
    "stats": lambda lab: lab["vpp2"].stats.names(),
    "counters": lambda lab: lab["vpp2"].counters(),
    "memifs": lambda lab: lab["vpp2"].memifs(),
    "addresses": lambda lab: lab["vpp2"].addresses(),
    "rx modes": lambda lab: lab["vpp2"].rx_modes(),
    "cores": lambda lab: lab["vpp2"].cores(),
    "threads": lambda lab: lab["vpp2"].threads(),
    "ping from it": lambda lab: lab.ping("vpp2", "vpp1", 2, 0.01),
    "ping to it": lambda lab: lab.ping("vpp1", "vpp2", 2, 0.01),
    "pin it": lambda lab: lab["vpp2"].pin(lab["vpp2"].spec.cores),
    "pin by state": lambda lab: lab.pin("same"),
    "pin by name": lambda lab: lab.pin(vpp2=None),
    "rx-mode of all": lambda lab: lab.rx_mode("polling"),
    "its rx-mode": lambda lab: lab.rx_mode("polling", "vpp2"),
    "evidence": lambda lab: lab.evidence(0.1),
    "wait link": lambda lab: lab.wait_link(1),
}

VIEWS = {"text": repr, "bundle": lambda lab: lab._repr_mimebundle_()["text/plain"]}


@HANGS
@pytest.mark.parametrize("act", OPERATIONS.values(), ids=OPERATIONS)
def test_every_operation_says_which_node_died_its_last_lines_and_what_to_do(bereaved, engine, act):
    with pytest.raises(NodeDied) as news:
        act(bereaved)
    assert news.value.message.startswith("vpp2 is not running: it")
    last_words = "Fatal Python error: Segmentation" if engine == "glassbox" else "received signal SIGSEGV"
    assert f"\n    {last_words}" in news.value.message.partition("Its last lines were:")[2]
    assert "0x00" not in news.value.message.partition("faulting address")[2]
    assert "lab.restart('vpp2')" in news.value.hint


@HANGS
@pytest.mark.parametrize("act", VIEWS.values(), ids=VIEWS)
def test_the_display_shows_which_node_has_ended(bereaved, act):
    assert "vpp2: ended" in act(bereaved)
    assert "ended" in bereaved._repr_mimebundle_()["text/html"]


@HANGS
def test_the_other_node_goes_on(bereaved, engine):
    shown = "glass-box (not VPP)" if engine == "glassbox" else "26.06"
    assert shown in bereaved["vpp1"].cli("show version")
    assert bereaved["vpp1"].counters()
    bereaved.pin(vpp1=None)


def test_nobody_moves_when_one_of_them_is_dead(bereaved):
    bereaved.pin(vpp1=None)
    before = bereaved["vpp1"].cores()
    with pytest.raises(NodeDied):
        bereaved.pin("same")
    assert bereaved["vpp1"].cores() == before


@HANGS
def test_a_message_on_its_way_when_the_node_dies_gets_the_news_too(running):
    api = running["vpp2"].api
    api.show_version()
    running["vpp2"].kill()
    with pytest.raises(NodeDied, match="vpp2 is not running"):
        api.show_version()


@HANGS
@pytest.mark.parametrize("victim", ["vpp1", "vpp2"])
def test_a_restart_brings_the_link_back(running, victim):
    running["vpp1" if victim == "vpp2" else "vpp2"].counters()
    running[victim].kill()
    running.restart(victim)
    running.wait_link(15)
    assert answers(running)
    assert answers(running, "vpp2", "vpp1")
    assert running[victim].api.show_version().retval == 0
    assert running[victim].counters()["memif0/0"].rx_packets > 0
    assert "ended" not in repr(running)


@HANGS
def test_a_node_that_lives_can_be_restarted_too(running):
    old = running["vpp1"]
    running.restart("vpp1")
    assert not old.alive
    running.wait_link(15)
    assert answers(running)


@HANGS
def test_when_all_have_died_reset_brings_all_back(running):
    for node in running.nodes.values():
        node.kill()
    running.reset()
    assert answers(running)


@HANGS
def test_a_lab_whose_nodes_have_died_leaves_nothing_when_it_is_stopped(running):
    traces = Traces()
    traces.tokens.add(RunDir.read(rundir.base() / "fresh").token)
    for node in running.nodes.values():
        node.kill()
    running.stop()
    assert [each for each in traces.left() if "bereaved" not in each] == []


def test_a_node_that_dies_at_its_restart_is_quoted_and_the_lab_stays(running, monkeypatch):
    real = launch.configuration
    monkeypatch.setattr(launch, "configuration", lambda *each: real(*each) + "nonsense { }")
    with pytest.raises(NodeDied, match="unknown input `nonsense"):
        running.restart("vpp2")
    assert "vpp2: ended" in repr(running)
    assert running["vpp1"].alive
    monkeypatch.undo()
    running.restart("vpp2")
    running.wait_link(15)
    assert answers(running)


@pytest.fixture
def interruption():
    """Return a function that interrupts this thread after a while, as Ctrl-C does."""
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    timers = []

    def later(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGUSR1)))
        timers[-1].start()

    yield later
    for timer in timers:
        timer.cancel()
        timer.join()
    signal.signal(signal.SIGUSR1, before)


@HANGS
def test_an_interrupted_ping_does_not_disturb_the_next(running, interruption):
    interruption(0.5)
    with pytest.raises(KeyboardInterrupt):
        running.ping("vpp1", "vpp2", count=400, interval=0.05)
    ping = running.ping("vpp1", "vpp2", count=3, interval=0.2)
    assert ping.sent == 3
    assert ping.sequence.tolist() == [1, 2, 3]
    assert "vpp1: core" in repr(running)


@HANGS
def test_an_interrupted_restart_can_be_repeated(running, monkeypatch):
    real = Launch.settle

    def interrupted(*arguments):
        real(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(Launch, "settle", interrupted)
    with pytest.raises(KeyboardInterrupt):
        running.restart("vpp1")
    monkeypatch.undo()
    time.sleep(0.1)  # VPP 26.06 can crash when a client leaves in the first milliseconds of a handshake
    running.restart("vpp1")
    running.wait_link(15)
    assert answers(running)


# The words


def test_last_words_are_vpps_and_not_its_backtrace():
    log = (
        "one\n\ntwo  \nreceived signal SIGABRT, PC 0x7f63\nCode:  89 c5 f7 dd\n"
        "#0  0x00007f63b1003eec pthread_key_delete + 0x14c\n     from /lib/x86_64-linux-gnu/libc.so.6\n"
        "#13 0x000055e6e8d56821 _start + 0x21\n     from vpp\n"
    )
    assert last_words(log) == ["one", "two", "received signal SIGABRT, PC 0x7f63"]


def test_last_words_are_few():
    assert last_words("\n".join(map(str, range(100)))) == [str(k) for k in range(92, 100)]
