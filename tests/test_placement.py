from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs import placement
from labs.errors import LabError
from labs.kernel import Thread
from labs.topology import NodeSpec, chain

TWO = (NodeSpec("vpp1"), NodeSpec("vpp2"))


@pytest.fixture
def cores(monkeypatch):
    """Return a function that says which cores this session may use; none share a physical core."""

    def allow(*numbers):
        monkeypatch.setattr(placement, "allowed_cores", lambda: numbers)
        monkeypatch.setattr(placement, "separate_cores", lambda count: numbers[:count])

    return allow


def thread(tid, name):
    return Thread(tid, name, (), None, None, None, 0, 0)


def test_same_is_the_first_core_that_may_be_used(cores):
    cores(3, 5)
    assert placement.by_state("same", TWO) == {"vpp1": (3,), "vpp2": (3,)}


def test_apart_gives_a_core_each(cores):
    cores(3, 5, 7)
    assert placement.by_state("apart", TWO) == {"vpp1": (3,), "vpp2": (5,)}


def test_apart_gives_workers_a_core_too(cores):
    cores(0, 1, 2, 3)
    nodes = (NodeSpec("a", workers=1), NodeSpec("b"))
    assert placement.by_state("apart", nodes) == {"a": (0, 1), "b": (2,)}


def test_apart_with_too_few_cores_says_how_many_it_needs_and_has(cores):
    cores(4)
    with pytest.raises(LabError, match=r"needs 2 cores, and this session may use 1 \(4\)"):
        placement.by_state("apart", TWO)


def test_a_lab_starts_on_shared_cores_where_there_are_too_few(cores):
    cores(4)
    placed = placement.placed(chain("lab", 3), "apart")
    assert [node.cores for node in placed.nodes] == [(4,), (4,), (4,)]


def test_free_is_no_core(cores):
    cores(0, 1)
    assert placement.by_state("free", TWO) == {"vpp1": (), "vpp2": ()}


def test_an_unknown_state_names_the_known_ones(cores):
    cores(0, 1)
    with pytest.raises(LabError) as refused:
        placement.by_state("together", TWO)
    assert "same, apart, free" in refused.value.hint


@pytest.mark.parametrize(
    ("value", "expected"), [(1, (1,)), (None, ()), ([0, 1], (0, 1)), ((1,), (1,)), (range(2), (0, 1))]
)
def test_cores_by_name_may_be_one_several_or_none(cores, value, expected):
    cores(0, 1)
    assert placement.by_name({"vpp1": value}, ["vpp1"]) == {"vpp1": expected}


def test_a_strange_name_is_refused_and_the_nodes_are_named(cores):
    cores(0, 1)
    with pytest.raises(LabError, match="no node 'vpp3'") as refused:
        placement.by_name({"vpp3": 0}, ["vpp1", "vpp2"])
    assert "vpp1, vpp2" in refused.value.hint


@pytest.mark.parametrize("core", [2, -1, 1000])
def test_a_core_outside_the_session_is_refused_and_the_allowed_ones_are_named(cores, core):
    cores(0, 1)
    with pytest.raises(LabError, match=rf"core {core}: it is outside .* \(0, 1\)") as refused:
        placement.by_name({"vpp1": core}, ["vpp1"])
    assert refused.value.hint == "leave the core out, or pick one of 0, 1."


@pytest.mark.parametrize("value", ["0", 0.5, ["0"], [None], True])
def test_what_is_no_core_number_is_refused(cores, value):
    cores(0, 1)
    with pytest.raises(LabError, match="is no core"):
        placement.by_name({"vpp1": value}, ["vpp1"])


def test_a_node_free_to_move_may_use_every_core_of_the_session(cores):
    cores(2, 3)
    assert placement.spread([thread(10, "vpp_main")], ()) == {10: (2, 3)}


def test_the_main_thread_takes_the_first_core_and_workers_the_others_in_turn():
    threads = [
        thread(10, "vpp_main"),
        thread(11, "vpp_wk_0"),
        thread(12, "vpp_wk_1"),
        thread(13, "vpp_wk_2"),
        thread(14, "helper"),
    ]
    assert placement.spread(threads, (0, 1, 2)) == {10: (0,), 11: (1,), 12: (2,), 13: (1,), 14: (0,)}


def test_on_one_core_all_threads_share_it():
    threads = [thread(10, "vpp_main"), thread(11, "vpp_wk_0")]
    assert placement.spread(threads, (1,)) == {10: (1,), 11: (1,)}


@given(st.lists(st.integers(0, 63), min_size=1, unique=True), st.integers(0, 12))
def test_every_thread_gets_one_of_the_nodes_cores(cores, workers):
    threads = [thread(10, "vpp_main"), *(thread(11 + k, f"vpp_wk_{k}") for k in range(workers))]
    placed = placement.spread(threads, tuple(cores))
    assert set(placed) == {each.tid for each in threads}
    assert all(len(mine) == 1 and mine[0] in cores for mine in placed.values())


@pytest.mark.parametrize(("cores", "words"), [((), "free to move"), ((3,), "core 3"), ((0, 1), "cores 0,1")])
def test_cores_in_words(cores, words):
    assert placement.describe(cores) == words
