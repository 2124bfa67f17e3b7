from __future__ import annotations

import pytest
from cli_pair import pair_of
from glassbox_cli import SET_UP, send, stream

from labs.vpp.parse import parse_runtime


@pytest.fixture(scope="module")
def made():
    with pair_of("a") as pair:
        pair.do("a", *SET_UP, stream("three", 3), stream("lost", 2, "203.0.113.9"), stream("many", 1000))
        yield pair


@pytest.fixture
def pair(made):
    made.do("a", "clear runtime", "clear errors")
    return made


def rows_of(pair, options=""):
    (thread,) = parse_runtime(pair.do("a", f"show runtime{options}"))
    return {row.name: row for row in thread.nodes}


def test_calls_and_vectors_are_those_of_the_packets_that_were_sent(pair):
    send(pair)
    rows = rows_of(pair)
    for name in ("ethernet-input", "ip4-input", "ip4-lookup", "ip4-rewrite", "pg1-output", "pg1-tx"):
        assert (rows[name].calls, rows[name].vectors, rows[name].vectors_per_call) == (1, 3, 3.0), name
        assert rows[name].state == "active"
        assert rows[name].clocks > 0
    assert rows["pg-input"].vectors == 3
    assert "drop" not in rows


def test_vectors_are_at_most_256_packets(pair):
    send(pair, "many")
    lookup = rows_of(pair)["ip4-lookup"]
    assert lookup.vectors == 1000
    assert lookup.calls == 4
    assert lookup.vectors_per_call == 250


def test_a_larger_vector_costs_less_a_packet(pair):
    """A packet that comes alone pays for the whole call; the least of several tries leaves noise out."""

    def cost(name):
        pair.do("a", "clear runtime")
        send(pair, name)
        return rows_of(pair)["ip4-lookup"].clocks

    pair.do("a", stream("one", 1), stream("full", 256))
    assert min(cost("full") for _ in range(5)) < min(cost("one") for _ in range(5))


def test_rates_are_packets_over_the_time_since_clear(pair):
    send(pair)
    send(pair, "lost")
    (thread,) = parse_runtime(pair.do("a", "show runtime"))
    assert thread.rates["in"] * thread.update_interval == pytest.approx(5, rel=0.01)
    assert thread.rates["out"] * thread.update_interval == pytest.approx(3, rel=0.01)
    assert thread.rates["drop"] * thread.update_interval == pytest.approx(2, rel=0.01)
    assert thread.rates["punt"] == 0


def test_loops_are_counted(pair):
    before = parse_runtime(pair.do("a", "show runtime"))[0]
    for _ in range(50):
        pair.turn()
    after = parse_runtime(pair.do("a", "show runtime"))[0]
    loops = after.loops_per_second * after.update_interval - before.loops_per_second * before.update_interval
    assert round(loops) == 50


def test_clear_runtime_counts_from_there(pair):
    send(pair)
    pair.do("a", "clear runtime")
    assert not rows_of(pair)
    send(pair)
    assert rows_of(pair)["ip4-lookup"].vectors == 3


def test_clear_runtime_leaves_the_stats_segment_alone(pair):
    """Others read it at the same time, and take differences."""
    number = pair.boxes["a"].graph.number("ip4-lookup")
    send(pair)
    before = int(pair.boxes["a"].counters.nodes()["vectors"][0, number])
    pair.do("a", "clear runtime")
    assert int(pair.boxes["a"].counters.nodes()["vectors"][0, number]) == before >= 3


def test_verbose_lists_nodes_that_did_nothing(pair):
    rows = rows_of(pair, " verbose")
    assert rows["arp-reply"].calls == 0
    assert set(pair.boxes["a"].graph.names) == set(rows)


def test_time_gives_nanoseconds_for_clocks(pair):
    send(pair, "many")
    per_ns = pair.boxes["a"].vm.state[8] / 1e6  # TICKS_PER_MS
    clocks, nanoseconds = (rows_of(pair, each)["ip4-lookup"].clocks for each in ("", " time"))
    assert nanoseconds * per_ns == pytest.approx(clocks, rel=0.02)
    assert "Packet-Time" in pair.do("a", "show runtime time")


def test_summary_has_no_rows(pair):
    send(pair)
    assert not rows_of(pair, " summary")


def test_input_nodes_tell_whether_they_poll(pair):
    assert rows_of(pair, " verbose")["pg-input"].state == "disabled"
    assert rows_of(pair, " verbose")["memif-input"].state == "disabled"
    pair.do("a", stream("endless", 0, more="rate 1"), "packet-generator enable-stream endless")
    assert rows_of(pair, " verbose")["pg-input"].state == "polling"
    pair.do("a", "packet-generator disable-stream endless")


def test_maxima_are_refused_by_name(pair):
    assert "keeps no maxima" in pair.refusal("a", "show runtime max")
    assert "unknown input `wrong'" in pair.refusal("a", "show runtime wrong")


@pytest.mark.parametrize(("mode", "state"), [("polling", "polling"), ("interrupt", "interrupt wait")])
def test_memif_input_polls_or_waits(mode, state):
    with pair_of() as pair:
        pair.link()
        pair.do("a", f"set interface rx-mode memif0/0 {mode}")
        assert rows_of(pair, " verbose")["memif-input"].state == state


def test_each_thread_has_a_block_of_its_own():
    with pair_of("a", workers=2) as pair:
        threads = parse_runtime(pair.do("a", "show runtime"))
        assert [each.id for each in threads] == [0, 1, 2]
        assert pair.do("a", "show trace").count("Start of thread") == 3


def test_errors_are_counted_by_node_and_reason(pair):
    send(pair, "lost")
    lines = pair.do("a", "show errors").splitlines()
    assert lines[0].split() == ["Count", "Node", "Reason", "Severity"]
    assert [line.split() for line in lines[1:]] == [["2", "null-node", "blackholed", "packets", "error"]]


def test_clear_errors_counts_from_there(pair):
    send(pair, "lost")
    pair.do("a", "clear errors")
    assert len(pair.do("a", "show errors").splitlines()) == 1
    send(pair, "lost")
    assert pair.do("a", "show errors").split()[4] == "2"


def test_verbose_errors_are_told_by_thread_and_in_total(pair):
    send(pair, "lost")
    text = pair.do("a", "show errors verbose")
    assert text.count("blackholed packets") == 2
    assert "Total:" in text
    assert pair.do("a", "show node counters") == pair.do("a", "show errors")
