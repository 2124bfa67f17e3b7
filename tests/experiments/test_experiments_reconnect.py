from __future__ import annotations

from types import SimpleNamespace

import pytest
from long_tests import not_in_docker

from labs import load_run, two_vpps
from labs.errors import LabError
from labs.experiments.figures import figures_of
from labs.experiments.reconnect import FIGURES, ROLES, judge, reconnect
from labs.experiments.reconnect_window import RATE, Look, Way, is_killed


def window(role, **changes):
    return {
        "setting": f"the {role} is killed",
        "role": role,
        "noticed": 0.02,
        "up": 0.9,
        "first": 1.0,
        "lost": round(RATE),
        "blocked_s": 1.0,
        "mode_after": "polling",
        "others": 0.0,
        **changes,
    }


def judged(**changes):
    return [verdict.passed for verdict in judge([window(role, **changes) for role in ROLES])]


def test_a_recovery_as_it_should_be_passes():
    assert judged() == [True] * 4


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        ({"noticed": None}, 0),
        ({"noticed": 2.0}, 0),
        ({"blocked_s": 0.5}, 2),
        ({"blocked_s": 1.4}, 2),
        ({"mode_after": "interrupt"}, 3),
    ],
)
def test_what_does_not_hold_fails_alone(changes, number):
    assert judged(**changes) == [index != number for index in range(4)]


def test_a_link_that_does_not_come_back_is_named():
    verdicts = judge([window("client"), window("server", first=None)])
    assert [verdict.passed for verdict in verdicts] == [True, False, True, True]
    assert verdicts[1].because == "none came where the server is killed"


def test_without_a_window_nothing_is_claimed():
    assert [verdict.passed for verdict in judge([])] == [False] * 4


def test_figures_are_those_of_one_end():
    some = [window("client", first=1.0), window("server", first=3.0), window("client", first=2.0)]
    assert figures_of(some, is_killed("client"), FIGURES)["first_packet_s"].to_dict() == {
        "median": 1.5,
        "lowest": 1.0,
        "highest": 2.0,
    }
    assert figures_of(some, is_killed("server"), FIGURES)["first_packet_s"].median == 3.0


def test_packets_go_towards_the_end_that_is_killed():
    lab = SimpleNamespace(nodes={"vpp1": 1, "vpp2": 2})
    assert list(Way(lab, backwards=False).nodes) == ["vpp1", "vpp2"]
    assert list(Way(lab, backwards=True).nodes) == ["vpp2", "vpp1"]


def test_the_moments_are_those_of_the_ends_news():
    state = SimpleNamespace(connected=True, local_reason="", remote_reason="disconnect received")
    survivor = SimpleNamespace(memifs=lambda: SimpleNamespace(interface=lambda _: state))
    packets = SimpleNamespace(rx_packets=7)
    old = SimpleNamespace(kill=lambda: None, counters=lambda: {"memif0/0": packets})
    fresh = SimpleNamespace(counters=lambda: {"memif0/0": packets})
    lab = SimpleNamespace(nodes={"vpp1": survivor, "vpp2": old})
    look = Look(LabOf(lab.nodes), "vpp1", "memif0/0", "vpp2", "memif0/0")
    look.killed_now(old)
    assert look.last_count == 7
    look._look_at_survivor()
    assert look.noticed is None
    state.connected = False
    look._look_at_survivor()
    assert look.reasons == ("disconnect received",)
    look._look_at_killed()
    assert look.first is None
    lab.nodes["vpp2"] = fresh
    packets.rx_packets = 0
    look._look_at_killed()
    assert look.first is None
    packets.rx_packets = 1
    look._look_at_killed()
    assert look.first >= look.noticed


class LabOf:
    def __init__(self, nodes):
        self.nodes = nodes

    def __getitem__(self, name):
        return self.nodes[name]


@pytest.mark.parametrize("nodes", [["vpp1"], ["vpp1", "vpp2", "vpp3"]])
def test_other_labs_are_refused(nodes):
    lab = SimpleNamespace(nodes=dict.fromkeys(nodes), current=SimpleNamespace(links=()))
    with pytest.raises(LabError, match="two nodes and one link"):
        reconnect(lab)


def test_either_end_is_killed_and_packets_flow_again(engine, monkeypatch, tmp_path):
    not_in_docker(engine)
    monkeypatch.setenv("LABS_PROFILE", "ci")
    monkeypatch.setenv("LABS_RUNS", str(tmp_path))
    lab = two_vpps("reconnect", engine=engine)
    lab.start()
    try:
        run = reconnect(lab)
        assert lab.ping("vpp1", "vpp2", count=3).received
    finally:
        lab.stop()
    assert load_run(run.path).windows == run.windows
    assert {each["role"] for each in run.windows} == set(ROLES)
    flows = next(each for each in run.verdicts if "flow again" in each.claim)
    assert flows.passed, flows.because
    assert all(each["lost"] > 0 for each in run.windows)
