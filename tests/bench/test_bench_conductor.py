"""The conductor with knobs that are no lab's: order, coalescing, faults, the end."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.bench.conductor import Conductor
from labs.bench.knob import Choice, Knob
from labs.errors import LabError, NodeDied


class FakeKnobs:
    """Knobs of numbers; a turn waits at the gate, and what is turned can be read back."""

    def __init__(self, names="abc"):
        self.all = {name: Knob(name, name, wanted=0, actual=0) for name in names}
        self.state = dict.fromkeys(names, 0)
        self.at_start = dict(self.state)
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.done = []
        self.faults = {}
        self.threads = set()

    def turn(self, name, value):
        self.entered.set()
        self.gate.wait(10)
        self.threads.add(threading.current_thread().name)
        if (name, value) in self.faults:
            raise self.faults[name, value]
        self.done.append((name, value))
        self.state[name] = value
        self.all[name].wanted = value
        return [f"$ {name} {value}"]

    def restart(self, node):
        return self.turn("a", node) and [f"# {node}"]

    def traffic(self, *, on):
        self.done.append(("traffic", on))
        return []

    def read_back(self):
        for name, value in self.state.items():
            self.all[name].actual = value
        return dict(self.state)


@pytest.fixture
def knobs():
    return FakeKnobs()


@pytest.fixture
def heard():
    return []


@pytest.fixture
def conductor(knobs, heard):
    made = Conductor(knobs, heard.append)
    yield made
    knobs.gate.set()
    made.close()


def hold(conductor, knobs):
    """Let a first turn begin and wait at the gate."""
    knobs.gate.clear()
    knobs.entered.clear()
    conductor.turn("c", 99)
    assert knobs.entered.wait(5)


def test_a_turn_returns_at_once_and_is_done_in_the_conductors_thread(conductor, knobs, heard):
    hold(conductor, knobs)
    began = time.perf_counter()
    conductor.turn("a", 1)
    assert time.perf_counter() - began < 1
    assert conductor.busy
    assert heard == []
    knobs.gate.set()
    assert conductor.wait(5)
    assert not conductor.busy
    assert knobs.threads == {"bench conductor"}
    assert [(each.name, each.value) for each in heard] == [("c", 99), ("a", 1)]


def test_of_waiting_turns_of_one_knob_the_newest_counts_and_keeps_its_place(conductor, knobs):
    hold(conductor, knobs)
    for value in range(100):
        conductor.turn("a", value)
        conductor.turn("b", -value)
    knobs.gate.set()
    conductor.wait(5)
    assert knobs.done == [("c", 99), ("a", 99), ("b", -99)]


def test_a_turn_under_way_is_followed_by_a_later_one_of_its_knob(conductor, knobs):
    hold(conductor, knobs)
    conductor.turn("c", 1)
    knobs.gate.set()
    conductor.wait(5)
    assert knobs.done == [("c", 99), ("c", 1)]


def test_restarts_of_two_nodes_are_two_turns(conductor, knobs, heard):
    hold(conductor, knobs)
    conductor.restart("vpp1")
    conductor.restart("vpp2")
    conductor.restart("vpp1")
    knobs.gate.set()
    conductor.wait(5)
    assert [(each.name, each.value, each.lines) for each in heard[1:]] == [
        ("restart", "vpp1", ("# vpp1",)),
        ("restart", "vpp2", ("# vpp2",)),
    ]


def test_what_is_told_is_what_was_read_back_and_not_what_was_asked(conductor, knobs, heard):
    knobs.turn = lambda name, _: [f"$ {name}"]  # it does nothing
    conductor.turn("a", 5)
    conductor.wait(5)
    assert heard[0].state == {"a": 0, "b": 0, "c": 0}
    assert heard[0].lines == ("$ a",)
    assert heard[0].error == ""


def test_a_refusal_is_a_sentence_and_a_hint_and_the_next_turn_is_done(conductor, knobs, heard):
    knobs.faults["a", 1] = NodeDied(
        "vpp1 is not running: it was ended.\nIts last lines were:\n    x", "restart it."
    )
    conductor.turn("a", 1)
    conductor.turn("b", 2)
    conductor.wait(5)
    assert (heard[0].error, heard[0].hint) == ("vpp1 is not running: it was ended.", "restart it.")
    assert heard[0].state["a"] == 0
    assert (heard[1].error, heard[1].state["b"]) == ("", 2)


@pytest.mark.parametrize("fault", [ValueError("odd"), OSError(5, "io"), KeyError("k"), ZeroDivisionError()])
def test_any_other_fault_is_a_sentence_too(conductor, knobs, heard, fault):
    knobs.faults["a", 1] = fault
    conductor.turn("a", 1)
    conductor.turn("b", 2)
    conductor.wait(5)
    assert heard[0].error.startswith(f"Turning a to 1 failed: {type(fault).__name__}")
    assert "\n" not in heard[0].error
    assert knobs.done == [("b", 2)]


def test_a_lab_that_cannot_be_read_leaves_an_empty_state(conductor, knobs, heard):
    def broken():
        raise LabError("The lab is not started.")

    knobs.read_back = broken
    conductor.turn("a", 1)
    conductor.wait(5)
    assert heard[0].state == {}
    assert heard[0].error == ""


def test_a_listeners_fault_does_not_end_the_conductor(knobs, capfd):
    heard = []

    def listener(turned):
        heard.append(turned.name)
        raise RuntimeError("the widget is gone")

    conductor = Conductor(knobs, listener)
    conductor.turn("a", 1)
    conductor.wait(5)
    conductor.turn("b", 1)
    conductor.wait(5)
    conductor.close()
    assert heard == ["a", "b"]
    assert capfd.readouterr() == ("", "")


def test_a_listener_may_turn_and_close(knobs):
    conductor = None

    def listener(turned):
        if turned.name == "a":
            conductor.turn("b", turned.value)
        else:
            conductor.close()

    conductor = Conductor(knobs, listener)
    conductor.turn("a", 4)
    conductor._thread.join(5)
    assert not conductor._thread.is_alive()
    assert knobs.done == [("a", 4), ("b", 4)]


def test_reset_takes_the_place_of_what_waits_and_turns_only_what_differs(conductor, knobs, heard):
    conductor.turn("a", 3)
    conductor.wait(5)
    hold(conductor, knobs)
    conductor.turn("b", 7)
    conductor.reset()
    knobs.gate.set()
    conductor.wait(5)
    assert knobs.done == [("a", 3), ("c", 99), ("a", 0), ("c", 0)]
    assert knobs.state == knobs.at_start


def test_reset_sets_what_was_asked_for_but_is_not_so(conductor, knobs):
    knobs.all["b"].wanted = 5  # a turn that did not work: it stands at 0
    conductor.reset()
    conductor.wait(5)
    assert knobs.done == [("b", 0)]


def test_after_close_nothing_is_done_any_more(conductor, knobs):
    hold(conductor, knobs)
    conductor.turn("a", 1)
    threading.Timer(0.1, knobs.gate.set).start()
    conductor.close()
    conductor.turn("b", 1)
    conductor.restart("vpp1")
    conductor.reset()
    conductor.look()
    conductor.close()
    assert conductor.wait(1)
    assert knobs.done == [("c", 99)]
    assert not conductor._thread.is_alive()


def test_a_look_reads_back_and_turns_nothing(conductor, knobs, heard):
    knobs.state["a"] = 8  # somebody typed a line
    conductor.look()
    conductor.wait(5)
    assert heard[0].name == "look"
    assert heard[0].state["a"] == 8
    assert knobs.done == []


def test_wait_says_when_it_was_not_long_enough(conductor, knobs):
    hold(conductor, knobs)
    assert not conductor.wait(0.05)
    knobs.gate.set()
    assert conductor.wait(5)


turns = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 5)), min_size=1, max_size=60)


@given(turns, st.sets(st.tuples(st.sampled_from("abcd"), st.integers(0, 5)), max_size=6))
@settings(max_examples=60, deadline=None)
def test_each_knob_ends_at_its_last_value_unless_that_was_refused(sequence, refused):
    knobs = FakeKnobs("abcd")
    knobs.faults = {key: LabError("no.") for key in refused}
    heard = []
    conductor = Conductor(knobs, heard.append)
    for name, value in sequence:
        conductor.turn(name, value)
    assert conductor.wait(10)
    conductor.close()
    for name, value in dict(sequence).items():
        told = [each for each in heard if each.name == name]
        assert told[-1].value == value
        assert bool(told[-1].error) == ((name, value) in refused)
        accepted = [each.value for each in told if not each.error]
        assert knobs.state[name] == (accepted[-1] if accepted else 0)


def test_many_threads_may_turn_at_once(conductor, knobs, heard):
    def click(name):
        for value in range(200):
            conductor.turn(name, value)

    clickers = [threading.Thread(target=click, args=(name,)) for name in "abc"]
    for each in clickers:
        each.start()
    for each in clickers:
        each.join()
    assert conductor.wait(10)
    assert knobs.state == {"a": 199, "b": 199, "c": 199}
    assert heard[-1].state == knobs.state


# A knob by itself


def knob(**more):
    choices = (Choice(0, "none"), Choice(64, "64"), Choice("imix", "IMIX", "too little memory."))
    return Knob("size", "frame size", "bytes", choices, **more)


@pytest.mark.parametrize("value", [0, 64])
def test_a_choice_is_taken(value):
    assert knob().refusal(value) == ""


@pytest.mark.parametrize("value", [1, False, 0.5, "64", None, float("nan"), float("inf"), -1, "none"])
def test_what_is_no_choice_is_refused_with_what_there_is(value):
    refusal = knob().refusal(value)
    assert refusal == f"The frame size cannot be {value!r}: it takes none, 64, IMIX."


def test_a_choice_that_cannot_be_had_and_a_knob_that_cannot_be_turned_say_why():
    assert knob().refusal("imix") == "too little memory."
    assert knob(disabled="vpp1 is gone.").refusal(64) == "vpp1 is gone."


@pytest.mark.parametrize(
    ("whole", "value", "is_taken"),
    [
        (False, 0.5, True),
        (False, 3, True),
        (False, 10, True),
        (False, 10.001, False),
        (False, -0.1, False),
        (False, float("nan"), False),
        (False, float("inf"), False),
        (False, True, False),
        (True, 3, True),
        (True, 3.0, False),
        (True, 0.5, False),
    ],
)
def test_a_span_takes_numbers_within(whole, value, is_taken):
    assert (Knob("x", "x", span=(0, 10), whole=whole).refusal(value) == "") is is_taken
