from __future__ import annotations

import subprocess
import sys

import pytest
from cli_pair import pair_of
from doors_loop import short_directory
from glassbox_cli import SET_UP, stream
from glassbox_nodes import ALL_DROPPED, ALL_ON, HEAD, arrived, load, unchanged

from labs.glassbox.nodes import ip4_lookup


@pytest.fixture(scope="module")
def made():
    with pair_of("a") as pair:
        pair.do("a", *SET_UP, stream("three", 3))
        yield pair


@pytest.fixture
def pair(made):
    with unchanged(made):
        yield made


@pytest.fixture
def folder():
    with short_directory() as path:
        yield path


def test_a_node_is_loaded_and_inserted_while_the_box_runs(pair, folder):
    text = load(pair, folder, ALL_DROPPED)
    assert "insert node mine before ip4-input" in text
    assert arrived(pair) == 3  # it is in nobody's way yet
    pair.do("a", "insert node mine before ip4-input")
    assert arrived(pair) == 0
    assert "ip4-input [1]" in pair.do("a", "show vlib graph mine")


def test_a_changed_version_takes_its_place_at_once(pair, folder):
    load(pair, folder, ALL_DROPPED)
    pair.do("a", "insert node mine before ip4-input")
    assert arrived(pair) == 0
    assert "loaded anew" in load(pair, folder, ALL_ON)
    assert arrived(pair) == 3


def test_a_changed_constant_counts_although_the_code_is_as_long(pair, folder):
    """Numba's own cache knows a function by its instructions, in which constants are not."""
    for limit, passing in ((40, 3), (60, 0), (50, 3)):
        load(pair, folder, ALL_ON.replace("= 1\n", f"= length(frame[each]) >= {limit}\n"))
        pair.do("a", "insert node mine before ip4-input")
        assert arrived(pair) == passing, limit


def test_nothing_is_left_beside_the_learners_file(pair, folder):
    load(pair, folder, ALL_ON)
    assert [each.name for each in folder.iterdir()] == ["mine.py"]


def test_it_is_in_trace_and_runtime_with_its_own_source(pair, folder):
    load(pair, folder, ALL_ON)
    pair.do("a", "insert node mine before ip4-input", "trace add pg-input 1")
    assert arrived(pair) == 3
    assert ": mine\n  next ip4-input, current data 14, length 50" in pair.do("a", "show trace")
    assert "\nmine " in pair.do("a", "show runtime")
    text = pair.do("a", "show node mine")
    assert f"{folder}/mine.py, line 3" in text
    assert "Let all pass." in text


def test_an_inserted_node_stays_when_an_interface_is_made_later(pair, folder):
    load(pair, folder, ALL_DROPPED)
    pair.do("a", "insert node mine before ip4-input", "create packet-generator interface pg5")
    assert arrived(pair) == 0
    pair.do("a", "delete packet-generator interface pg5")


def test_a_node_may_stand_before_an_interfaces_output(pair, folder):
    load(pair, folder, ALL_DROPPED.replace('"ip4-input"', '"pg1-output"'))
    pair.do("a", "insert node mine before pg1-output")
    assert arrived(pair) == 0
    pair.do("a", "remove node mine")
    assert arrived(pair) == 3


def test_a_node_may_take_the_place_of_ours_and_give_it_back(pair, folder):
    source = ALL_DROPPED.replace('"mine", to=("error-drop", "ip4-input")', '"ip4-lookup", to=("ip4-drop",)')
    load(pair, folder, source)
    assert arrived(pair) == 0
    assert str(folder) in pair.do("a", "show node ip4-lookup")
    pair.do("a", "remove node ip4-lookup")
    assert arrived(pair) == 3
    assert ip4_lookup.__file__ in pair.do("a", "show node ip4-lookup")


def test_several_nodes_of_one_file_may_lead_to_each_other(pair, folder):
    second = ALL_DROPPED.removeprefix(HEAD).replace("mine", "other").replace('"ip4-input"', '"mine"')
    load(pair, folder, ALL_ON.replace('"error-drop", "ip4-input"', '"other", "ip4-input"') + second)
    assert "other" in pair.do("a", "show vlib graph mine")


def test_a_box_of_the_same_process_does_not_get_it(pair, folder):
    load(pair, folder, ALL_DROPPED.replace("mine", "ip4-lookup", 1).replace('"ip4-input"', '"ip4-drop"'))
    with pair_of("a") as other:
        assert str(folder) not in other.do("a", "show node ip4-lookup")


def test_a_node_is_loaded_while_packets_flow(pair, folder):
    """The command goes on while the file is compiled, and packets go on with it."""
    pair.do("a", stream("endless", 0), "packet-generator enable-stream endless")
    (folder / "mine.py").write_text(ALL_ON)
    streams = pair.boxes["a"].streams
    loading = pair.clis["a"].run(f"load node {folder}/mine.py")
    assert not isinstance(loading, str)
    turns = 0
    while not (lines := loading.poll()):
        pair.turn()
        turns += 1
    assert lines[0].startswith("mine is loaded")
    assert loading.poll() is None
    assert turns > 1
    assert streams.sent(streams.named("endless")) > 0


def test_a_load_that_is_aborted_changes_nothing(pair, folder):
    (folder / "mine.py").write_text(ALL_ON.replace('"mine"', '"never"'))
    loading = pair.clis["a"].run(f"load node {folder}/mine.py")
    loading.abort()
    while loading.poll() is not None:
        pair.turn()
    assert "never" not in pair.boxes["a"].graph.names


def test_a_process_with_a_loaded_node_ends_without_a_fault(folder):
    (folder / "mine.py").write_text(ALL_ON)
    program = (
        "from labs.glassbox.box import Box\nfrom labs.glassbox.loading import load\n"
        f"box = Box({str(folder)!r})\nprint(load(box, {str(folder / 'mine.py')!r}))\nbox.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    assert "mine is loaded" in done.stdout
