from __future__ import annotations

import os
import subprocess
import threading

import pytest

from labs import two_vpps
from labs.errors import LabError, NodeDied
from labs.evidence import Evidence, Watch, observe, share_of
from labs.kernel import Thread

S = 1_000_000_000


def thread(tid=1, ran=0, waited=0, slices=0, voluntary=0, involuntary=0, cores=(0,)):
    return Thread(tid, "vpp_main", cores, ran, waited, slices, voluntary, involuntary)


def blind(tid=1, voluntary=0):
    return Thread(tid, "vpp_main", (0,), None, None, None, voluntary, 0)


def test_fractions_are_of_the_time_we_looked():
    share = share_of("a", [thread(ran=S, waited=S)], [thread(ran=2 * S, waited=4 * S, slices=10)], 4.0)
    assert (share.running, share.waiting) == (0.25, 0.75)
    assert (share.turn_ms, share.wait_ms) == (100.0, 300.0)


def test_switches_are_per_second():
    share = share_of("a", [thread()], [thread(voluntary=6, involuntary=3)], 3.0)
    assert (share.voluntary, share.involuntary) == (2.0, 1.0)


def test_threads_of_a_node_add_up():
    share = share_of("a", [thread(1), thread(2)], [thread(1, ran=S), thread(2, ran=S, cores=(1,))], 1.0)
    assert share.running == 2.0
    assert share.cores == (0, 1)


def test_without_schedstat_there_is_no_figure_rather_than_zero():
    share = share_of("a", [blind()], [blind(voluntary=4)], 2.0)
    assert (share.running, share.waiting, share.turn_ms, share.wait_ms) == (None, None, None, None)
    assert share.voluntary == 2.0


def test_without_a_turn_there_is_no_mean_turn():
    share = share_of("a", [thread()], [thread(ran=S)], 1.0)
    assert share.running == 1.0
    assert (share.turn_ms, share.wait_ms) == (None, None)


def test_a_thread_that_appeared_meanwhile_does_not_count_its_past():
    share = share_of("a", [thread(1)], [thread(1, ran=S), thread(2, ran=50 * S, voluntary=99)], 1.0)
    assert (share.running, share.voluntary) == (1.0, 0.0)


def test_a_thread_that_ended_meanwhile_takes_nothing_away():
    share = share_of("a", [thread(1), thread(2, ran=50 * S)], [thread(1, ran=S)], 1.0)
    assert share.running == 1.0


def test_a_node_that_ended_meanwhile_has_no_figures():
    share = share_of("a", [thread()], [], 1.0)
    assert (share.running, share.waiting) == (None, None)
    assert share.cores == ()


def test_a_table_holds_a_row_for_each_node_and_no_zero_for_what_is_unknown():
    shares = (share_of("a", [blind()], [blind()], 1.0), share_of("b", [thread()], [thread(ran=S)], 1.0))
    table = Evidence(shares).table()
    assert list(table.index) == ["a", "b"]
    assert table.isna().loc["a", "running (%)"]
    assert table.loc["b", "running (%)"] == 100.0


def test_it_shows_as_text_and_as_a_page():
    evidence = Evidence((share_of("a<b", [blind()], [blind()], 1.0),))
    assert "running (%)" in repr(evidence)
    assert "a&lt;b" in evidence._repr_html_()


def test_a_node_is_found_by_name():
    evidence = Evidence((share_of("a", [thread()], [thread()], 1.0),))
    assert evidence["a"].node == "a"


def test_a_node_that_was_not_watched_is_named():
    evidence = Evidence((share_of("a", [thread()], [thread()], 1.0),))
    with pytest.raises(LabError, match="'b'"):
        evidence["b"]


def test_a_busy_process_runs_and_an_idle_one_sleeps():
    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    idle = subprocess.Popen(["sleep", "30"])
    try:
        seen = observe({"busy": busy.pid, "idle": idle.pid}, 0.5)
    finally:
        for child in (busy, idle):
            child.kill()
            child.wait()
    if seen["busy"].running is None:
        pytest.skip("this kernel keeps no schedstat")
    assert seen["busy"].running + seen["busy"].waiting > 10 * (seen["idle"].running + seen["idle"].waiting)


def test_a_watch_measures_what_happens_inside_it():
    with Watch({"me": os.getpid()}) as watch:
        sum(range(300_000))
    assert watch.evidence["me"].seconds > 0


def test_a_node_that_dies_while_we_look_is_told_of(engine):
    lab = two_vpps("watched", engine=engine)
    lab.start()
    killer = threading.Timer(0.3, lab["vpp2"].kill)
    killer.start()
    try:
        with pytest.raises(NodeDied, match="vpp2 is not running"):
            lab.evidence(1.5)
    finally:
        killer.join()
        lab.stop()


@pytest.mark.parametrize("seconds", [-1, 0])
def test_a_span_must_have_a_length(seconds):
    with pytest.raises(LabError, match="seconds"):
        observe({"me": os.getpid()}, seconds)
