from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.errors import CliError, LabError, LinkDown, NodeDied
from labs.experiments.changeover import HALVINGS, RATES, Changeover, Trial, find_changeover
from labs.experiments.ping_on_the_loop import END, OnTheLoop, ping_on_the_loop, round_trips
from labs.experiments.rx_mode_looks import Looks, changeover_in_words, judge_looks
from labs.experiments.rx_mode_lost import Lost, restart_peer
from labs.ping import Ping
from labs.topology import LinkSpec, NodeSpec, Topology

# As VPP 26.06 prints it: a request, its reply, and one more request that nobody answers.
LOG = """\
45 of 131072 events in buffer, logger stopped
        .200240463: ip4-lookup-call: 1
        .200245112: ip4-lookup-return: 1
        .200245701: ip4-rewrite-call: 1
        .200250338: memif0/0-tx-call: 1
        .200270338: memif0/0-tx-return: 1
        .200332352: ip4-input-call: 1
        .200334524: ip4-lookup-call: 1
        .200338868: ip4-icmp-echo-reply-call: 1
        .200344306: ip4-icmp-echo-reply-return: 1
       1.251244972: ip4-lookup-call: 1
       1.251334496: ip4-lookup-call: 1
       1.251338972: ip4-icmp-echo-reply-call: 1
       1.351338972: ip4-lookup-call: 1
"""


def test_a_log_tells_each_round_trip_from_the_first_node_to_the_reply():
    assert round_trips(LOG) == pytest.approx([0.098405, 0.094])


@pytest.mark.parametrize("text", ["", "logger running", "nonsense: ip4-lookup-call\n\x00", "a: b-call: c"])
def test_a_log_without_a_round_trip_tells_none(text):
    assert round_trips(text) == []


@given(st.text())
def test_any_text_is_read(text):
    assert all(math.isfinite(each) for each in round_trips(text))


@given(st.lists(st.sampled_from(LOG.splitlines()), max_size=30))
def test_lines_in_any_order_give_no_more_trips_than_replies(lines):
    assert len(round_trips("\n".join(lines))) <= sum("echo-reply-call" in line for line in lines)


def test_what_passes_before_the_first_node_is_the_rest_of_what_the_ping_tells():
    assert OnTheLoop((1.0, 4.0, 10.0), (0.1, 0.1, 0.1)).before == pytest.approx(0.975)
    assert OnTheLoop((0.1,), (0.2,)).before == 0.0
    assert OnTheLoop((), ()).before is None


class LoggingNode:
    def __init__(self, refuses=""):
        self.refuses = refuses
        self.said = []

    def cli(self, line):
        if self.refuses and line.startswith(self.refuses):
            raise CliError("VPP refused this line: unknown input.", statement=line)
        self.said.append(line)
        return LOG if line.startswith("show") else ""


class PingingLab:
    def __init__(self, node, times):
        self.node, self.times = node, times

    def __getitem__(self, name):
        return self.node

    def ping(self, source, target, count):
        if isinstance(self.times, Exception):
            raise self.times
        times = np.array(self.times)
        return Ping(source, target, "10.10.2.2", count, np.arange(1, len(times) + 1), times)


def test_the_request_that_goes_ahead_is_left_out():
    seen = ping_on_the_loop(PingingLab(LoggingNode(), [5.0]), "vpp1", "vpp2", count=1)
    assert seen.told_ms == (5.0,)
    assert seen.seen_ms == pytest.approx((0.094,))


def test_without_a_reply_nothing_is_told_apart():
    seen = ping_on_the_loop(PingingLab(LoggingNode(), []), "vpp1", "vpp2")
    assert seen.before is None


def test_a_data_plane_without_a_log_is_left_in_peace():
    node = LoggingNode(refuses="event-logger")
    assert ping_on_the_loop(PingingLab(node, [1.0]), "vpp1", "vpp2") is None
    assert node.said == []


def test_logging_ends_however_the_ping_ends():
    node = LoggingNode()
    with pytest.raises(NodeDied):
        ping_on_the_loop(PingingLab(node, NodeDied("vpp2 is not running.")), "vpp1", "vpp2")
    assert node.said[-len(END) :] == list(END)


def node_that_changes_at(rate, most=2e7):
    """Return what a node shows that sleeps between packets below a rate."""

    def attempt(asked):
        received = min(asked, most)
        return Trial(asked, received, 0.8 * received if received < rate else 300.0)

    return attempt


@given(st.floats(1.1 * RATES[0], 0.99 * RATES[-1]))
def test_the_changeover_is_found_to_a_part_of_a_step(rate):
    found = find_changeover(node_that_changes_at(rate))
    assert found.sleeps < rate <= found.polls
    widest = max(b / a for a, b in pairwise(RATES))
    assert found.polls / found.sleeps <= widest ** (0.5**HALVINGS) * 1.001
    assert found.sleeps < found.rate < found.polls
    assert len(found.trials) <= len(RATES) + HALVINGS


def test_a_node_that_never_sleeps_has_no_changeover():
    found = find_changeover(node_that_changes_at(0.0))
    assert (found.sleeps, found.rate) == (None, None)
    assert found.polls == RATES[0]
    assert changeover_in_words(found) == "adaptive does not sleep even at the lowest rate that was tried"


def test_a_node_that_always_sleeps_has_none_either():
    found = find_changeover(node_that_changes_at(math.inf))
    assert (found.polls, found.rate) == (None, None)
    assert changeover_in_words(found) == "adaptive still sleeps at 10 Mpps"


def test_where_no_more_can_be_offered_no_more_is_asked():
    found = find_changeover(node_that_changes_at(math.inf, most=2e5))
    assert found.trials[-1].asked == 1e6
    assert found.sleeps == 2e5


def test_without_a_packet_received_nothing_divides_by_zero():
    found = find_changeover(lambda rate: Trial(rate, 0.0, 0.0))
    assert found.rate is None
    assert found.to_dict()["trials"] == [vars(Trial(RATES[0], 0.0, 0.0))]


SEEN = Looks(
    OnTheLoop((4.0, 9.0), (0.1, 0.1)),
    Changeover(2e5, 3e5, ()),
    Lost("vpp1", "memif0/0", "interrupt", "interrupt", "polling", "interrupt", []),
)


def test_what_a_quiet_machine_shows_passes():
    assert [verdict.passed for verdict in judge_looks(SEEN, None)] == [True] * 4


@pytest.mark.parametrize(
    ("changes", "number", "because"),
    [
        ({"loop": OnTheLoop((4.0,), (3.0,))}, 0, "25 % of it did"),
        ({"loop": OnTheLoop((), ())}, 0, "no ping was answered"),
        ({"changeover": Changeover(2e5, None, ())}, 1, "still sleeps at 200 kpps"),
        ({"lost": replace(SEEN.lost, after="interrupt")}, 2, "it was interrupt, and is interrupt"),
        ({"lost": replace(SEEN.lost, before="polling")}, 2, "it was polling, and is polling"),
        ({"lost": replace(SEEN.lost, again="polling")}, 3, "it is polling"),
    ],
)
def test_a_look_that_shows_something_else_fails_alone(changes, number, because):
    verdicts = judge_looks(replace(SEEN, **changes), 0.9)
    assert [verdict.passed for verdict in verdicts] == [index != number for index in range(4)]
    assert because in verdicts[number].because


@pytest.mark.parametrize(("off", "passed"), [(0.97, True), (0.2, False), (None, False)])
def test_where_there_is_no_log_of_the_loop_the_two_instruments_tell(off, passed):
    blind = replace(SEEN, loop=None)
    assert "ping on the loop" not in blind.to_dict()
    assert [verdict.passed for verdict in judge_looks(blind, off)] == [passed, True, True, True]
    assert [each.claim for each in judge_looks(blind, off)] == [each.claim for each in judge_looks(SEEN, off)]


class RestartingLab:
    """A lab whose node forgets its mode when its peer is started anew, or does not."""

    def __init__(self, *, forgets=True, comes_back=True, links=1):
        self.forgets, self.comes_back = forgets, comes_back
        spec = LinkSpec("vpp1", "vpp2", "10.10.2.1/24", "10.10.2.2/24")
        self.current = Topology("a", (NodeSpec("vpp1"), NodeSpec("vpp2")), (spec,) * links)
        self.modes = {spec.server: {"memif0/0": "polling"}, spec.client: {"memif0/0": "polling"}}
        self.nodes = {name: self.node(name) for name in self.modes}

    def __getitem__(self, name):
        return self.nodes[name]

    def node(self, name):
        def rx_mode(mode):
            self.modes[name] = dict.fromkeys(self.modes[name], mode)
            return [f"set interface rx-mode memif0/0 {mode}"]

        def in_shell(lines):
            return [f"vppctl {name} {line}" for line in lines]

        return SimpleNamespace(rx_mode=rx_mode, rx_modes=lambda: self.modes[name], in_shell=in_shell)

    def rebuild_node(self, name):
        assert name == self.current.links[0].client
        server = self.current.links[0].server
        if not self.comes_back:
            self.modes[server] = {}
        elif self.forgets:
            self.modes[server] = {"memif0/0": "polling"}
        return [f"# {name} is started anew"]


def test_a_mode_that_is_lost_is_told_and_set_again_with_its_lines():
    lab = RestartingLab()
    lost = restart_peer(lab)
    assert (lost.before, lost.after, lost.again) == ("interrupt", "polling", "interrupt")
    assert lost.is_lost
    assert lost.is_back
    assert lost.commands[0].startswith("# ")
    assert f"vppctl {lost.node} set interface rx-mode memif0/0 interrupt" in lost.commands


def test_a_mode_that_stands_is_not_called_lost():
    assert not restart_peer(RestartingLab(forgets=False)).is_lost


def test_a_link_that_does_not_come_back_is_named():
    with pytest.raises(LinkDown, match="memif0/0 is not connected"):
        restart_peer(RestartingLab(comes_back=False))


def test_without_a_link_there_is_nothing_to_lose():
    with pytest.raises(LabError, match="has no link"):
        restart_peer(RestartingLab(links=0))
