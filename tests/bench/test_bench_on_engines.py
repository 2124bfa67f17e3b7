"""The bench on a real lab of each engine: knobs, nodes that die or stand still, other cells, the end."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import signal
import threading
import time
import warnings

import numpy as np
import psutil
import pytest
from long_tests import on_one_engine

from labs import LabError
from labs.bench.figures import present
from labs.kernel import allowed_cores
from labs.magics import vpp
from labs.placement import STATES
from labs.stock import chain, two_vpps

CORES = allowed_cores()
two_cores = pytest.mark.skipif(len(CORES) < 2, reason="this session may use one core only")
PATIENCE = 20.0  # seconds: for a crowded machine


ON_EACH = {
    "test_it_returns_soon_and_everything_is_measured",
    "test_latency_is_far_higher_on_one_core_than_on_a_core_each",
    "test_each_knob_is_turned_marked_logged_and_read_back",
    "test_a_killed_node_is_shown_dead_and_a_click_brings_it_back",
    "test_a_cell_that_pins_leaves_a_mark_and_commands_and_the_knob_follows",
}
"""What an engine could do in another way; the rest is the bench's own."""


@pytest.fixture(autouse=True)
def a_part_on_each_engine(engine, request):
    if request.function.__name__ not in ON_EACH:
        on_one_engine(engine)


@pytest.fixture(scope="module")
def lab(engine):
    made = two_vpps("benched", engine=engine)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def bench(lab):
    """Return a bench, and leave the lab as it was at first."""
    opened = lab.bench()
    yield opened
    with contextlib.suppress(LabError):
        opened.stop()
    for name, node in lab.nodes.items():
        if not node.alive:
            lab.restart(name)
    lab.place("apart" if len(CORES) > 1 else "same")
    for node in lab.nodes.values():
        node.rx_mode("polling")


@pytest.fixture
def fresh(engine):
    made = two_vpps("benched-once", engine=engine)
    made.start()
    yield made
    made.stop()


def eventually(what, patience=PATIENCE):
    """Return what is true at last, or fail."""
    deadline = time.monotonic() + patience
    while not (found := what()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return found


def now(bench, track, column, span=1.0):
    """Return a present figure; NaN where nothing was measured."""
    return present(bench.recorder.tracks[track].since(0), column, time.monotonic(), span)


def known(bench, track, column, span=0.6):
    return not math.isnan(now(bench, track, column, span))


def measures(bench):
    """Wait until probe and rates measure."""
    eventually(lambda: known(bench, "probe", "probe_p50") and known(bench, "traffic", "received"))


def marks(bench):
    return [mark.label for mark in bench.recorder.marks]


def commands(bench):
    return [line for entry in bench._display.commands.widget.entries for line in entry["lines"]]


def shown(bench, name):
    """Return a knob as the page shows it."""
    return next(each for each in bench._controls[0].state["knobs"] if each["name"] == name)


def notes(bench):
    return bench._display.notes.value


def threads(prefix="bench "):
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(prefix)]


def test_it_returns_soon_and_everything_is_measured(lab):
    began = time.perf_counter()
    bench = lab.bench()
    assert time.perf_counter() - began < 5
    columns = {
        "probe": "probe_p50",
        "ping": "ping_p50",
        "traffic": "received",
        "links": "link0_back",
        "cpu": "vpp2_runs",
    }
    for track, column in columns.items():
        eventually(lambda track=track, column=column: known(bench, track, column, 3.0))
    eventually(lambda: "by our probe" in bench._display.status.value)
    eventually(lambda: "<svg" in bench.recording().picture)
    assert bench._notes.all() == ()
    assert bench.recording().facts["nodes"] == ["vpp1", "vpp2"]
    assert bench.recording(1.0).duration < 2
    bench.stop()


@two_cores
def test_latency_is_far_higher_on_one_core_than_on_a_core_each(bench):
    measures(bench)
    time.sleep(3)
    apart, waits = now(bench, "probe", "probe_p50", 2.5), now(bench, "cpu", "vpp1_waits", 2.5)
    if not waits < 25:
        pytest.skip(f"other programs fill this machine's cores: vpp1 waits {waits:.0f} % of the time")
    bench.set(pinning="same")
    eventually(lambda: now(bench, "probe", "probe_p50") > 10 * apart)
    same = now(bench, "probe", "probe_p50")
    bench.set(pinning="apart")
    eventually(lambda: now(bench, "probe", "probe_p50") < same / 10)


def test_another_probe_interval_is_measured_with(bench):
    measures(bench)
    bench.set(interval=1.0)
    eventually(
        lambda: bench._sampling.probe._running and bench._sampling.probe._running.plan.interval == 1e-3
    )
    measures(bench)
    bench.set(interval=200)
    eventually(lambda: known(bench, "probe", "probe_p50"))
    assert bench._screen._replies() == 5


KNOBS = {
    "pinning": "same",
    "rx_mode": "interrupt",
    "size": 512,
    "rate": 0.01,
    "flows": 10,
    "ring": 256,
    "memory": "copied",
    "interval": 5.0,
}


@pytest.mark.parametrize(("name", "value"), KNOBS.items())
def test_each_knob_is_turned_marked_logged_and_read_back(bench, name, value):
    bench.start()
    eventually(lambda: now(bench, "traffic", "sent") > 0)
    bench.set(**{name: value})
    assert shown(bench, name)["wanted"] == value
    assert not shown(bench, name)["turning"]
    assert bench._knobs.all[name].actual == value
    assert len(marks(bench)) == 2
    assert bool(commands(bench))
    measures(bench)
    eventually(lambda: now(bench, "traffic", "sent") > 0)
    bench.set(**{name: bench._knobs.at_start[name]})
    assert bench._knobs.all[name].actual == bench._knobs.at_start[name]


def test_workers_that_this_machine_has_no_cores_for_are_refused(bench):
    many = 4
    if 2 * (1 + many) <= len(CORES):
        pytest.skip("there are cores enough here")
    with pytest.raises(LabError, match="cores") as refused:
        bench.set(workers=many)
    assert refused.value.hint
    assert all(each["disabled"] for each in shown(bench, "workers")["choices"] if each["value"] == many)


@pytest.mark.parametrize(
    "knobs",
    [
        {"rate": 99},
        {"rate": math.nan},
        {"pinning": "nowhere"},
        {"nonsense": 1},
        {"flows": 0.5},
        {"size": [1]},
    ],
)
def test_a_knob_that_is_refused_raises_and_leaves_no_mark(bench, knobs):
    before = bench._knobs.read_back()
    with pytest.raises(LabError) as refused:
        bench.set(**knobs)
    assert refused.value.hint
    assert "\n" not in refused.value.message
    assert marks(bench) == []
    assert bench._knobs.read_back() == before
    assert bench._news.turning == ()
    bench.set(interval=20.0)


def test_a_second_bench_stops_the_first_with_a_sentence(lab, bench):
    measures(bench)
    second = lab.bench()
    assert "A newer bench of this lab is open" in notes(bench)
    assert {each["disabled"] for each in bench._controls[0].state["knobs"]} == {"This bench has stopped."}
    with pytest.raises(LabError, match="This bench has stopped"):
        bench.set(pinning="same")
    with pytest.raises(LabError, match="This bench has stopped"):
        bench.start()
    bench.turn("pinning", "same")
    bench.restart("vpp1")
    bench.press("start")
    bench.press("reset")
    count = len(bench.recorder.tracks["traffic"])
    measures(second)
    assert len(bench.recorder.tracks["traffic"]) == count
    assert sorted(set(threads())) == sorted(threads())
    second.stop()
    assert threads() == []


def test_a_killed_node_is_shown_dead_and_a_click_brings_it_back(lab, bench):
    measures(bench)
    lab["vpp2"].kill()
    eventually(lambda: "vpp2 is not running" in notes(bench))
    eventually(lambda: not known(bench, "traffic", "received", 0.3))
    eventually(lambda: not known(bench, "probe", "probe_p50", 0.3))
    eventually(lambda: bench._controls[0].state["ended"] == ["vpp2"])
    eventually(lambda: "ended" in bench._display.picture.svg)
    eventually(lambda: "restart it first" in shown(bench, "pinning")["disabled"])
    assert marks(bench).count("vpp2 has ended") == 1
    with pytest.raises(LabError, match="vpp2 is not running"):
        bench.set(pinning="same")
    bench._controls[0]._hear(None, {"restart": "vpp2"}, [])
    eventually(lambda: lab["vpp2"].alive and not bench._controls[0].state["ended"])
    measures(bench)
    eventually(lambda: notes(bench) == "")
    eventually(lambda: not shown(bench, "pinning")["disabled"])
    assert marks(bench)[-1] == "vpp2 started anew"
    assert "Traceback" not in bench._display.commands.text()


def test_the_first_node_may_die_too_and_a_cell_may_restart_it(lab, bench):
    bench.start()
    bench.set(rate=0.01)
    eventually(lambda: now(bench, "traffic", "sent") > 0)
    lab["vpp1"].kill()
    eventually(lambda: "vpp1 is not running" in notes(bench))
    eventually(lambda: "The probe cannot measure" in notes(bench))
    lab.restart("vpp1")
    measures(bench)
    eventually(lambda: now(bench, "traffic", "sent") > 0.003)
    eventually(lambda: notes(bench) == "")
    assert "lab.restart: vpp1" in marks(bench)


def test_both_die_and_each_death_is_marked_once(lab, bench):
    measures(bench)
    lab["vpp1"].kill()
    eventually(lambda: "vpp1 has ended" in marks(bench))
    lab["vpp2"].kill()
    eventually(lambda: "vpp2 has ended" in marks(bench))
    lab.restart("vpp2")
    lab.restart("vpp1")
    measures(bench)
    assert [each for each in marks(bench) if each.endswith("ended")] == ["vpp1 has ended", "vpp2 has ended"]


def test_a_node_that_stands_still_is_a_gap_and_a_sentence(lab, bench):
    measures(bench)
    os.kill(lab["vpp2"].handle.pid, signal.SIGSTOP)
    try:
        eventually(lambda: "vpp2 stands still" in notes(bench))
        time.sleep(1.5)
        received = bench.recorder.tracks["traffic"].since(time.monotonic() - 1.0).column("received")
        assert len(received) > 3
        assert np.isnan(received).all()
        assert not known(bench, "probe", "probe_p50", 0.6)
    finally:
        os.kill(lab["vpp2"].handle.pid, signal.SIGCONT)
    measures(bench)
    eventually(lambda: "vpp2 stands still" not in notes(bench))


def test_sockets_that_vanish_are_a_sentence_and_a_gap_and_the_rest_goes_on(fresh):
    bench = fresh.bench()
    measures(bench)
    for door in ("cli", "stats"):
        (fresh.folder / f"vpp2.{door}.sock").unlink()
    eventually(lambda: "no statistics socket" in notes(bench))
    time.sleep(1.5)
    assert not known(bench, "traffic", "received", 1.0)
    assert known(bench, "probe", "probe_p50", 2.0)
    bench.set(rx_mode="interrupt")  # over the session that is open
    assert bench._knobs.all["rx_mode"].actual == "interrupt"
    bench.stop()
    assert not threads()


def test_an_interrupt_ends_the_waiting_and_neither_the_turn_nor_the_bench(bench, lab, monkeypatch):
    measures(bench)
    relink = lab.rebuild_links

    def slowly(**ring):
        time.sleep(1.0)
        return relink(**ring)

    monkeypatch.setattr(lab, "rebuild_links", slowly)
    press_stop = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))  # as the kernel gets it
    press_stop.start()
    with pytest.raises(KeyboardInterrupt):
        bench.set(ring=64)
    eventually(lambda: bench._knobs.all["ring"].actual == 64)
    measures(bench)
    bench.set(ring=1024)
    assert bench._knobs.all["ring"].actual == 1024
    assert bench._notes.all() == ()


@two_cores
def test_a_cell_that_pins_leaves_a_mark_and_commands_and_the_knob_follows(lab, bench, capsys):
    lab.pin("same")
    assert marks(bench) == [f"lab.pin: {STATES['same']}"]
    assert any("taskset" in line or "docker" in line for line in commands(bench))
    eventually(lambda: shown(bench, "pinning")["is"] == f"now: {STATES['same']}")
    assert shown(bench, "pinning")["wanted"] == "same"
    bench.set(pinning="apart")
    assert bench._knobs.all["pinning"].actual == "apart"


def test_a_cell_of_vpps_own_words_is_marked_and_read_back(lab, bench, capsys):
    vpp("vpp1", "show interface rx-placement\nset interface rx-mode memif0/0 interrupt\nshow version")
    assert marks(bench) == ["vpp1# set interface rx-mode memif0/0 interrupt"]
    assert [line.endswith("set interface rx-mode memif0/0 interrupt") for line in commands(bench)] == [True]
    eventually(lambda: "vpp1 memif0/0 interrupt" in shown(bench, "rx_mode")["is"])
    vpp("vpp2", "set interface rx-mode memif0/0 interrupt")
    eventually(lambda: shown(bench, "rx_mode")["is"] == "now: interrupt")
    vpp("vpp1", "show memif")
    assert len(marks(bench)) == 2


def test_a_cell_that_fails_midway_marks_what_it_did(lab, bench, capsys):
    with pytest.raises(LabError):
        vpp(
            "vpp1",
            "set interface rx-mode memif0/0 interrupt\nnonsense here\nset interface rx-mode memif0/0 polling",
        )
    assert len(commands(bench)) == 1


def test_reset_sets_all_knobs_back_also_while_they_turn(bench):
    bench.set(rx_mode="interrupt")
    measures(bench)
    bench.turn("ring", 256)
    bench.turn("interval", 50.0)
    bench.press("reset")
    bench._conductor.wait(PATIENCE)
    assert bench._knobs.read_back() == bench._knobs.at_start
    assert bench._news.turning == ()
    assert not bench._knobs.load.running
    measures(bench)


def test_a_link_made_anew_is_measured_again(bench):
    measures(bench)
    bench.set(ring=512)
    time.sleep(1)
    measures(bench)
    eventually(lambda: now(bench, "probe", "probe_lost", 0.6) == 0)


def test_turns_from_many_threads_at_once_end_in_what_is_read_back(bench):
    def click(number):
        for value in ("polling", "interrupt", "adaptive") * 3:
            bench._controls[0]._hear(None, {"turn": "rx_mode", "value": value}, [])
            bench._controls[0]._hear(None, {"turn": "interval", "value": float(1 + number)}, [])

    clicks = [threading.Thread(target=click, args=(number,)) for number in range(4)]
    for each in clicks:
        each.start()
    for each in clicks:
        each.join(PATIENCE)
    assert bench._conductor.wait(PATIENCE)
    eventually(lambda: bench._news.turning == ())
    assert shown(bench, "rx_mode")["wanted"] == bench._knobs.read_back()["rx_mode"]
    assert not bench._news.failed


def test_strange_messages_leave_the_bench_and_the_lab_as_they_were(lab, bench):
    before = bench._knobs.read_back()
    for message in (
        None,
        [],
        {"turn": "pinning", "value": {"a": [1]}},
        {"turn": "rate", "value": [1, 2]},
        {"turn": "rate"},
        {"restart": "no such node"},
        {"press": "no such button"},
        {"press": None},
    ):
        bench._controls[0]._hear(None, message, [])
    assert bench._conductor.wait(PATIENCE)
    assert bench._knobs.read_back() == before
    assert bench._news.turning == ()
    measures(bench)


def test_buttons_that_save_say_where(bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    measures(bench)
    for button in ("csv", "run"):
        bench.press(button)
    eventually(
        lambda: len(list((tmp_path / "runs").glob("bench-*"))) == 2 if (tmp_path / "runs").exists() else False
    )
    eventually(lambda: bench._controls[0].state["said"].startswith("Saved runs/bench-"))


def test_a_and_b_are_compared(bench):
    measures(bench)
    bench.keep()
    assert "wait a little" in bench._news.said
    time.sleep(7.5)
    bench.keep()
    assert bench._news.said.startswith("Kept as A.")
    bench.set(rx_mode="interrupt")
    assert bench.compare().startswith("It is too early")
    eventually(lambda: "too early" not in bench.compare())
    assert "rx-mode interrupt instead of polling" in bench.compare()
    eventually(lambda: bench._display.compared.value)


def test_closing_ends_it_and_takes_it_off_the_page(lab, bench):
    measures(bench)
    bench.close()
    assert threads() == []
    assert bench._model_id is None or bench.comm is None
    bench.close()
    bench.stop()


def test_the_probe_is_taken_from_the_nodes_when_it_stops(lab, bench):
    measures(bench)
    assert any(name != "memif0/0" for name in (each.name for each in lab["vpp1"].memifs().interfaces))
    bench.stop()
    for node in lab.nodes.values():
        assert [each.name for each in node.memifs().interfaces] == ["memif0/0"]
        assert "198.18." not in node.cli("show ip fib")


def test_a_cell_may_probe_meanwhile_and_takes_nothing_from_the_bench(lab, bench):
    measures(bench)
    runs = []

    def cell():
        for probe in (
            lab.probe("vpp1"),
            lab.probe("vpp1", to="vpp2"),
            lab.probe("vpp1", to="vpp2", back=True),
        ):
            runs.append(probe.run(0.3, interval=1e-3, floor=False))
            probe.close()

    thread = threading.Thread(target=cell, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert [run.way for run in runs] == ["round trip", "one way", "round trip"]
    assert all(run.received for run in runs)
    time.sleep(1.2)
    measures(bench)
    eventually(lambda: now(bench, "probe", "probe_lost", 0.6) == 0)


def test_a_bench_that_stops_takes_nothing_from_a_cells_probe(lab, bench):
    measures(bench)
    probe = lab.probe("vpp1", to="vpp2")
    measurement = probe.start(1.5, interval=1e-3, floor=False)
    bench.stop()
    run = measurement.result()
    assert run.received > 0.9 * 1500
    probe.close()


def test_ten_benches_in_a_row_leave_what_one_leaves(lab):
    def open_one():
        bench = lab.bench()
        eventually(lambda: len(bench.recorder.tracks["probe"]) > 2)
        bench.close()

    open_one()
    process = psutil.Process()
    eventually(lambda: threads("probe ") == [])
    before = process.num_threads(), process.num_fds()
    for _ in range(10):
        open_one()
    assert threads() == []
    eventually(lambda: threads("probe ") == [])
    eventually(lambda: process.num_threads() <= before[0])
    eventually(lambda: process.num_fds() <= before[1])


def test_a_lab_that_stops_ends_its_bench(fresh):
    bench = fresh.bench()
    measures(bench)
    bench.start()
    fresh.stop()
    eventually(lambda: threads() == [])
    eventually(lambda: threads("probe ") == [])
    assert "The lab was stopped." in notes(bench)
    assert marks(bench)[-1] == "lab.stop"
    assert not any(each.endswith("has ended") for each in marks(bench))
    with pytest.raises(LabError, match="This bench has stopped"):
        bench.set(pinning="same")
    assert len(bench.recording().tables["traffic"])


def test_a_lab_that_is_reset_ends_its_bench_too(fresh):
    bench = fresh.bench()
    measures(bench)
    fresh.reset()
    eventually(lambda: "The lab was stopped." in notes(bench))
    eventually(lambda: threads() == [])
    again = fresh.bench()
    measures(again)
    again.stop()


def test_a_lab_that_is_stopped_with_a_node_that_stands_still(fresh):
    bench = fresh.bench()
    measures(bench)
    os.kill(fresh["vpp2"].handle.pid, signal.SIGSTOP)
    eventually(lambda: "vpp2 stands still" in notes(bench))
    fresh.stop()
    eventually(lambda: "The lab was stopped." in notes(bench))
    eventually(lambda: threads() == [])


def test_a_link_that_a_cell_makes_is_found_and_measured(engine, capsys):
    lab = two_vpps("benched-bare", links=False, engine=engine)
    lab.start()
    bench = lab.bench()
    eventually(lambda: "There is no way from vpp1 to vpp2" in notes(bench))
    for node, role in (("vpp1", "master"), ("vpp2", "slave")):
        vpp(
            node,
            f"create interface memif id 0 {role}\nset interface state memif0/0 up\n"
            f"set interface ip address memif0/0 10.1.1.{1 + (node == 'vpp2')}/24",
        )
    lab.wait_link()
    bench._conductor.look()
    measures(bench)
    eventually(lambda: known(bench, "ping", "ping_p50", 3.0))
    eventually(lambda: now(bench, "links", "link0_forth") > 0)
    eventually(lambda: notes(bench) == "")
    lab.stop()
    eventually(lambda: threads() == [])


def test_of_a_chain_whose_last_node_ends_the_first_link_is_measured_on(engine):
    lab = chain(3, "benched-chain", engine=engine)
    lab.start()
    bench = lab.bench()
    measures(bench)
    lab["vpp3"].kill()
    eventually(lambda: "vpp3 is not running" in notes(bench))
    bench._conductor.wait(PATIENCE)
    time.sleep(0.5)
    assert known(bench, "links", "link0_forth")
    assert not known(bench, "links", "link1_forth", 0.3)
    assert "failed" not in notes(bench)
    bench.restart("vpp3")
    measures(bench)
    eventually(lambda: known(bench, "links", "link1_forth"))
    bench.stop()
    lab.stop()


def test_a_listener_that_fails_does_not_fail_the_cell(lab, bench, capsys):
    def fault(what, lines):
        raise ValueError(what, lines)

    lab.listeners.insert(0, fault)
    try:
        lab.rx_mode("interrupt")
    finally:
        lab.listeners.remove(fault)
    assert marks(bench) == ["lab.rx_mode: interrupt"]


def test_a_bench_does_not_wait_for_a_node_that_stands_still(fresh):
    bench = fresh.bench()
    measures(bench)
    bench.set(size="imix")
    bench.start()
    os.kill(fresh["vpp1"].handle.pid, signal.SIGSTOP)
    eventually(lambda: "vpp1 stands still" in notes(bench))
    began = time.monotonic()
    bench.stop()
    assert time.monotonic() - began < 15
    assert "The bench was stopped" in notes(bench)


def test_a_lab_that_was_stopped_has_no_bench(fresh):
    fresh.stop()
    with pytest.raises(LabError, match="not started"):
        fresh.bench()
    with warnings.catch_warnings():  # a bench that could not begin is collected without a word
        warnings.simplefilter("error")
        gc.collect()


def test_a_bench_opens_on_a_lab_one_of_whose_nodes_has_ended(fresh):
    fresh["vpp2"].kill()
    eventually(lambda: not fresh["vpp2"].alive)
    bench = fresh.bench()
    eventually(lambda: "vpp2 is not running" in notes(bench))
    bench.restart("vpp2")
    measures(bench)
    eventually(lambda: known(bench, "links", "link0_forth"))
    bench.stop()
