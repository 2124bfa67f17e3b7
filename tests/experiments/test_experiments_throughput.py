from __future__ import annotations

from types import SimpleNamespace

import pytest
from long_tests import LONG, not_in_docker

from labs import load_run, two_vpps
from labs.errors import LabError
from labs.experiments import throughput as experiment
from labs.experiments.mlr_trials import Bounds, Confirmed, Search, Trial
from labs.experiments.recorded import Recorded
from labs.experiments.throughput import all_points, needed, not_here, throughput
from labs.experiments.throughput_looks import judge_counts, judge_search
from labs.experiments.throughput_summary import (
    FIGURES,
    cycles,
    figures,
    judge,
    outliers,
    pass_by_pass,
    summarise,
)
from labs.experiments.throughput_window import RING, Bed, Point, work
from labs.kernel import allowed_cores
from labs.vpp.stats import NodeCounters

two_cores = pytest.mark.skipif(len(allowed_cores()) < 2, reason="this session may use one core only")
FLAT = {64: 11e6, 512: 8e6, 1500: 3.6e6}


def window(point, scale=1.0, **changes):
    rate = scale * FLAT.get(point.size, 5e6) * (point.share or 1.0) * (0.7 if point.ring < RING else 1.0)
    offered = 2 * rate if point.share is None else rate
    size = point.size if isinstance(point.size, int) else 350
    few = point.share is not None and point.share < 0.2
    return {
        **vars(point),
        "setting": str(point),
        "offered": offered,
        "received": rate,
        "refused": offered - rate,
        "gbit_per_s": 8 * size * rate / 1e9,
        "packets_a_vector": 1.5 if few else 200.0,
        "cycles": {
            "memif-input": 4000.0 if few else 60.0,
            "ip4-lookup": 100.0 if few else 15.0,
            "dhcp-client": 9e9,
        },
        "others": 0.0,
        **changes,
    }


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setenv("LABS_PROFILE", "ci")


def windows(change=lambda _: {}):
    return [window(point, scale, **change(point)) for scale in (1.0, 1.01) for point in all_points()]


def judged(change=lambda _: {}):
    return judge(windows(change), all_points())


def test_one_thing_at_a_time_is_changed(monkeypatch):
    monkeypatch.delenv("LABS_PROFILE")
    for point in all_points():
        middle = vars(Point())
        changed = {name for name, value in vars(point).items() if value != middle[name]}
        assert len(changed) <= 1 or changed == {"size", "zero_copy"}
    assert len(all_points()) == len(set(all_points()))
    assert Point() in all_points()


def test_with_nodes_between_both_directions_at_once_are_left_out():
    assert Point(directions=2) in all_points(2)
    assert Point(directions=2) not in all_points(3)
    assert not_here(2) == []
    assert "Both directions" in not_here(3)[0]


def test_every_axis_is_measured_in_the_full_profile(monkeypatch):
    monkeypatch.delenv("LABS_PROFILE")
    for name, usual in vars(Point()).items():
        assert any(getattr(point, name) != usual for point in all_points()), name


def test_a_pace_that_falls_on_all_of_a_pass_changes_no_ratio():
    some = [
        window(point, pace * (0.5 if not point.zero_copy else 1.0))
        for pace in (1.0, 0.3)
        for point in (Point(), Point(zero_copy=False))
    ]
    told = pass_by_pass(some, [Point(), Point(zero_copy=False)])
    assert told == ["copied against zero-copy, 64 bytes: 0.50 to 0.50 times as many packets"]
    assert pass_by_pass(some, [Point()]) == []
    assert pass_by_pass([], [Point(), Point(zero_copy=False)]) == []


def test_what_others_are_parts_of_is_measured_first():
    assert list(needed([Point(size=1500), Point(share=0.5), Point(share=0.1)])) == [Point()]


def test_a_point_reads_as_a_learner_says_it():
    assert str(Point()) == "64 bytes, ring 1024, flat out"
    assert str(Point("imix", 64, 0.25)) == "IMIX, ring 64, 25 % of that"
    several = Point(directions=2, queues=2, zero_copy=False, layer="ip")
    assert str(several).endswith("flat out, both directions, 2 queues, copied, routed over ip")


@two_cores
def test_each_axis_moves_packets_and_leaves_the_links_as_they_were(engine):
    not_in_docker(engine)
    lab = two_vpps("axes", engine=engine)
    lab.start()
    try:
        lab.rebuild_links(ring_size=512)
        lab.rx_mode("polling")
        with Bed(lab, 0.1, Recorded(lab)) as bed:
            for point in (
                Point(layer="ethernet"),
                Point(layer="ip", queues=2),
                Point(directions=2, zero_copy=False),
                Point(),
            ):
                found = bed.window(point)
                assert 0 < found["received"] <= 1.01 * found["offered"], str(point)
                assert abs(found["offered"] - found["refused"] - found["received"]) < 0.02 * found["offered"]
        (link,) = lab.current.links
        assert (link.ring_size, link.queues, link.zero_copy, link.mode) == (512, 1, True, "ethernet")
        for node in lab.nodes.values():
            assert "no streams" in node.cli("show packet-generator")
        assert "via drop" not in lab["vpp1"].cli("show ip fib 198.18.0.0/15")
        assert lab.ping("vpp1", "vpp2", 3, 0.01).received
    finally:
        lab.stop()


def test_figures_as_measured_by_hand_pass_every_verdict():
    verdicts = judged()
    assert len(verdicts) == 4
    assert all(verdict.passed for verdict in verdicts), [str(each) for each in verdicts]


def test_large_frames_that_move_no_more_bits_fail():
    verdicts = judged(lambda point: {"gbit_per_s": 5.0} if point.size == 1500 else {})
    assert [verdict.passed for verdict in verdicts] == [False, True, True, True]
    assert "5 Gbit/s" in verdicts[0].because


def test_a_short_ring_that_moves_more_fails():
    verdicts = judged(
        lambda point: {"received": 30e6, "offered": 30e6, "refused": 0.0} if point.ring < RING else {}
    )
    assert [verdict.passed for verdict in verdicts] == [True, False, True, True]


def test_packets_that_are_missing_in_the_counts_fail():
    verdicts = judged(lambda point: {"refused": 0.0} if point == Point() else {})
    assert [verdict.passed for verdict in verdicts] == [True, True, False, True]
    assert "50 %" in verdicts[2].because


def test_vectors_that_save_nothing_fail():
    verdicts = judged(lambda _: {"cycles": {"ip4-lookup": 100.0}})
    assert [verdict.passed for verdict in verdicts] == [True, True, True, False]


def test_without_full_and_empty_vectors_nothing_is_said_of_them():
    assert len(judged(lambda _: {"packets_a_vector": 20.0})) == 3
    assert len(judged(lambda _: {"packets_a_vector": None})) == 3


def test_without_a_packet_nothing_is_counted():
    silent = {"offered": 0.0, "received": 0.0, "refused": 0.0, "gbit_per_s": 0.0, "cycles": {}}
    verdicts = judged(lambda _: {**silent, "packets_a_vector": None})
    assert [verdict.passed for verdict in verdicts] == [False, True]
    assert summarise(windows(lambda _: silent), all_points())


def test_a_packet_costs_what_it_costs_at_each_node_on_its_way():
    assert cycles(window(Point())) == 15.0
    assert cycles({"cycles": {"dhcp-client": 1.0}}) is None


def test_the_summary_has_a_group_for_each_point():
    summary = summarise(windows(), all_points())
    assert set(summary) == {str(point) for point in all_points()}
    assert set(summary[str(Point())]) == set(FIGURES)
    assert summary[str(Point())]["received_mpps"]["lowest"] == pytest.approx(11.0)
    assert figures(windows(), Point())["lost_percent"].median == pytest.approx(50.0)


def test_a_window_that_stands_out_is_named():
    some = [window(Point(), scale) for scale in (1.0, 1.0, 0.3, 1.01)]
    assert outliers(some, all_points()) == [3]


def test_work_is_told_by_packet_and_by_vector():
    before = {"memif-input": NodeCounters(100, 1000, 50_000, 0), "idle": NodeCounters(5, 0, 100, 0)}
    after = {
        "memif-input": NodeCounters(900, 1640, 114_000, 0),  # most of its calls find nothing
        "idle": NodeCounters(9, 0, 900, 0),
        "ethernet-input": NodeCounters(10, 640, 6_400, 0),
    }
    done = work(before, after)
    assert done["packets_a_vector"] == 64
    assert list(done["cycles"].items()) == [("memif-input", 100.0), ("ethernet-input", 10.0)]
    assert work(after, after) == {"packets_a_vector": None, "cycles": {}}


def found(**lows):
    return Search(bounds={name: Bounds(name, low, 9.2e6, low) for name, low in lows.items()})


def confirmed(goal, *received):
    return Confirmed(goal, tuple(Trial(9e6, 1.0, 1000, each) for each in received))


@pytest.mark.parametrize(
    ("search", "long", "passed", "because"),
    [
        (found(NDR=9e6, PDR=9e6), [confirmed("NDR", 1000, 1000), confirmed("PDR", 996)], True, ""),
        (found(PDR=9e6), [confirmed("PDR", 995, 995, 994, 994)], True, ""),
        (found(PDR=9e6), [confirmed("PDR", 995, 994, 994)], False, "67 % of its parts lost too much"),
        (found(NDR=None, PDR=9e6), [confirmed("PDR", 1000)], True, ""),  # a pause is always near
        (found(NDR=9e6, PDR=None), [confirmed("NDR", 1000)], False, "no load kept to PDR"),
        (Search(), [], False, "no load kept to PDR"),
        (Search(why="It did not end."), [], False, "It did not end."),
    ],
)
def test_a_search_is_confirmed_by_long_trials(search, long, passed, because):
    (verdict,) = judge_search(search, long)
    assert verdict.passed == passed
    assert because in verdict.because or passed


COUNTED = {"sent": 10_000, "in": 10_000, "out": 10_000, "refused": 500, "came": 9_500, "seconds": 2.0}


@pytest.mark.parametrize(
    ("changes", "passed", "because"),
    [
        ({}, True, ""),
        ({"came": 9_450}, True, ""),
        ({"came": 9_300}, False, "our sink got 9,300, the node counted out 9,500"),
        ({"in": 9_800}, False, "our generator sent 10,000, the node counted in 9,800"),
        (dict.fromkeys(COUNTED, 0), False, "nothing was sent"),
    ],
)
def test_two_sources_agree_or_both_are_named(changes, passed, because):
    (verdict,) = judge_counts({**COUNTED, **changes})
    assert verdict.passed == passed
    assert because in verdict.because or passed


def test_too_few_cores_are_refused_with_their_numbers(monkeypatch):
    monkeypatch.setattr(experiment, "allowed_cores", lambda: (2, 5))
    lab = SimpleNamespace(nodes=dict.fromkeys(("vpp1", "vpp2", "vpp3")))
    with pytest.raises(LabError, match=r"3 nodes need 3 cores, and this session may use 2 \(2, 5\)"):
        throughput(lab)


def test_one_node_is_refused():
    with pytest.raises(LabError, match="this lab has one node"):
        throughput(SimpleNamespace(nodes={"vpp1": None}))


def test_windows_that_are_too_short_for_node_counters_are_refused():
    with pytest.raises(LabError, match="Nothing can be measured"):
        throughput(SimpleNamespace(nodes={}), 0.5)


@pytest.mark.skipif(not LONG, reason="notebook 05 runs the whole of it; LABS_LONG_TESTS=1 runs this, too")
@two_cores
@pytest.mark.engine("process")  # notebook 05 runs it on each engine, and judges its verdicts
def test_millions_of_packets_go_through_and_are_all_accounted_for(monkeypatch, tmp_path):
    monkeypatch.setenv("LABS_RUNS", str(tmp_path))
    lab = two_vpps("throughput", engine="process")
    lab.start()
    try:
        lab.rx_mode("interrupt")
        run = throughput(lab, rounds=1)
        assert lab.current.links[0].ring_size == RING
        for node in lab.nodes.values():  # as before, and nothing of ours is left
            assert set(node.rx_modes().items()) == {("memif0/0", "interrupt")}
            assert "198.19" not in node.cli("show ip fib")
    finally:
        lab.stop()
    assert run.complete
    assert load_run(run.path).windows == run.windows
    for each in run.windows:
        assert each["received"] > 0
        assert each["received"] <= 1.01 * each["offered"]
    shown = {each.claim: each for each in run.verdicts}
    assert len(shown) == 6
    for claim, verdict in shown.items():
        if "no free slot" in claim or "agree within" in claim:
            assert verdict.passed, verdict.because
    limits = run.summary["looks"]["limits"]
    assert all(value > 0 for value in limits.values())
