from __future__ import annotations

import pytest
from cli_pair import pair_of
from doors_loop import short_directory
from glassbox_cli import SET_UP, send, stream
from glassbox_nodes import ALL_DROPPED, ALL_ON, DECLARED, HEAD, TAKES, arrived, load, refused, unchanged

from labs.glassbox.guard import MOST_FAULTS


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


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    for each in range(count)\n        pass\n", "mine.py, line 5: expected ':'"),
        ("    nexts[0] = lenght(frame[0])\n", "mine.py, line 5: the name lenght is not defined"),
        ("    x = 1\n    nexts[0] = frame[0].ttl\n", "mine.py, line 6: a number has no ttl"),
        ("    nexts[0] = vm.interfacs[0].up\n", "mine.py, line 5: vm has no interfacs"),
        (
            "    nexts[0] = vm.interfaces[0].height\n",
            "mine.py, line 3: there is no field 'height' in that row",
        ),
        ("    x = [1, 2]\n    x.append(3)\n", "mine.py, line 5: a node cannot make lists"),
        (
            "    nexts[0] = 'drop'\n",
            "mine.py, line 5: the text 'drop' cannot be stored in an array of numbers",
        ),
        ("    with open('x') as y:\n        pass\n", "mine.py, line 3: The 'with"),
        ("    length(frame[0], 5)\n", "mine.py, line 5: "),
    ],
)
def test_a_node_that_cannot_be_compiled_is_refused_with_the_line(pair, folder, body, words):
    text = refused(pair, folder, HEAD + DECLARED + TAKES + body)
    assert text.startswith(f"load node: {words}")
    assert "\n" not in text
    assert "Traceback" not in text
    assert len(text) < 400


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (HEAD + TAKES + "    pass\n", "mine.py, line 3: mine is not declared to be a node; write @node("),
        (HEAD + "@node\n" + TAKES + "    pass\n", "mine.py, line 3: @node has no name in parentheses"),
        ("", "mine.py has no function"),
        ("import nothing_of_that_name\n", "mine.py, line 1: ModuleNotFoundError: "),
        ("x = 1\ny = x / 0\n", "mine.py, line 2: ZeroDivisionError: division by zero"),
        (ALL_ON.replace(", nexts, count", ", nexts"), "mine.py, line 3: mine has to take 5 arguments"),
        (
            ALL_ON.replace('"ip4-input"', '"ip4-inptu"'),
            "mine leads to 'ip4-inptu', and there is no such node",
        ),
        (ALL_ON.replace('("error-drop", "ip4-input")', '"ip4-input"'), "`to` has to be several names"),
        (ALL_ON.replace('"mine"', '"my node"'), "'my node' is no name for a node"),
        (ALL_ON.replace('"mine"', '"memif-input"'), "only inner nodes can be loaded"),
        (ALL_ON.replace('"mine"', '"pg1-output"'), "only inner nodes can be loaded"),
        (
            ALL_ON.replace('"ip4-input")', '"ip4-input"), makes_packets=True'),
            "only inner nodes can be loaded",
        ),
        (ALL_ON.replace('"error-drop", ', '"error-drop", ' * 20), "leads to 21 nodes; 14 is the limit"),
    ],
)
def test_a_file_that_declares_no_sound_node_is_refused(pair, folder, source, words):
    assert words in refused(pair, folder, source)


def test_a_refused_version_leaves_the_one_before_in_place(pair, folder):
    load(pair, folder, ALL_DROPPED)
    pair.do("a", "insert node mine before ip4-input")
    refused(pair, folder, ALL_ON.replace("nexts[each] = 1", "nexts[each] = one"))
    assert arrived(pair) == 0


@pytest.mark.parametrize("name", ["nowhere.py", ""])
def test_a_file_that_is_not_there_is_refused(pair, folder, name):
    assert "cannot be read" in pair.refusal("a", f"load node {folder}/{name}")


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # numba tells of an error in a node
@pytest.mark.parametrize(
    "body",
    [
        "    pass\n",
        "    for each in range(count):\n        nexts[each] = 7\n",
        "    for each in range(count):\n        nexts[each] = -9\n",
        "    for each in range(count):\n        nexts[each] = 123456789\n",
        "    for each in range(count):\n        nexts[each + 1000] = 1\n",
        "    for each in range(count):\n        nexts[each] = vm.interfaces[999].up\n",
        "    if count > 1:\n        raise ValueError('no')\n",
    ],
)
def test_a_node_that_chooses_no_valid_next_loses_its_packets_and_no_more(pair, folder, body):
    load(pair, folder, HEAD + DECLARED + TAKES + body)
    pair.do("a", "insert node mine before ip4-input")
    assert arrived(pair) == 0
    (row,) = pair.do("a", "show errors").splitlines()[1:]
    assert row.split(maxsplit=2)[:2] == ["3", "loaded-node"]
    assert "no valid next node was chosen" in row
    assert "In 1 vectors it has chosen no next node" in pair.do("a", "show node mine")


def test_a_node_that_fails_again_and_again_is_called_no_more(pair, folder):
    """Each error is a line in the log, and a fast link would fill the disk."""
    load(pair, folder, HEAD + DECLARED + TAKES + "    pass\n")
    pair.do("a", "insert node mine before ip4-input")
    for _ in range(MOST_FAULTS):
        send(pair)
    assert "It is called no more" in pair.do("a", "show node mine")
    load(pair, folder, ALL_ON)
    assert "It is called no more" not in pair.do("a", "show node mine")
    assert arrived(pair) == 3
