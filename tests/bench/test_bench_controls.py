"""The controls' Python end: what a page is sent, and what it may send."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.bench.controls import Controls, rate_in_words
from labs.bench.knob import FLAT_OUT, Choice, Knob


class Listener:
    def __init__(self):
        self.heard = []

    def turn(self, name, value):
        self.heard.append(("turn", name, value))

    def press(self, button):
        self.heard.append(("press", button))

    def restart(self, node):
        self.heard.append(("restart", node))


@pytest.fixture
def controls():
    return Controls(Listener())


@pytest.fixture
def sent(controls):
    """Return what the page was sent."""
    states = []
    controls.observe(lambda change: states.append(change["new"]), "state")
    return states


def knobs(**changed):
    made = {
        "pinning": Knob(
            "pinning",
            "pinning",
            choices=(Choice("same", "same core"), Choice("apart", "a core each", "There is one core.")),
            wanted="same",
            actual="same",
        ),
        "rate": Knob(
            "rate", "offered rate", "Mpps", (Choice(FLAT_OUT, FLAT_OUT),), (0, 30), wanted=1.0, actual=1.0
        ),
        "flows": Knob("flows", "flows", span=(1, 1000), whole=True, wanted=1, actual=1),
        "interval": Knob("interval", "probe interval", "ms", span=(0.1, 1000), wanted=10.0, actual=10.0),
        "strange": Knob("strange", "no control for it"),
    }
    for name, fields in changed.items():
        for field, value in fields.items():
            setattr(made[name], field, value)
    return made


def shown(controls, name):
    return next(each for each in controls.state["knobs"] if each["name"] == name)


def test_a_page_is_sent_what_differs_and_nothing_else(controls, sent):
    controls.show(knobs())
    assert len(sent) == 1
    for _ in range(20):
        controls.show(knobs(), turning=(), off={}, ended=[])
    assert len(sent) == 1
    controls.show(knobs(), turning=("rate",))
    controls.show(knobs(), turning=("rate",))
    controls.show(knobs())
    assert len(sent) == 3


def test_a_state_is_json_and_has_what_the_page_draws(controls):
    controls.show(knobs(), off={"stop": "why"}, ended=("vpp2",), running=True, said="done")
    state = json.loads(json.dumps(controls.state, allow_nan=False))
    assert [each["name"] for each in state["knobs"]] == ["pinning", "rate", "flows", "interval"]
    assert (state["off"], state["ended"], state["running"], state["said"]) == (
        {"stop": "why"},
        ["vpp2"],
        True,
        "done",
    )
    assert shown(controls, "pinning")["choices"][1]["disabled"] == "There is one core."
    assert len(shown(controls, "rate")["steps"]) > 10
    assert shown(controls, "rate")["steps"][0]["label"] == "no packets"


def test_what_was_asked_and_what_is(controls):
    controls.show(knobs(pinning={"actual": "apart"}))
    assert shown(controls, "pinning")["differs"]
    assert shown(controls, "pinning")["is"] == "asked: same core; now: a core each"
    controls.show(knobs(pinning={"actual": "vpp1 core 0, vpp2 core 3"}))
    assert shown(controls, "pinning")["is"] == "asked: same core; now: vpp1 core 0, vpp2 core 3"
    controls.show(knobs(rate={"actual": None}))
    assert shown(controls, "rate")["is"] == "now: unknown"
    assert not shown(controls, "rate")["differs"]
    controls.show(knobs(rate={"actual": 0.5}))
    assert shown(controls, "rate")["is"] == "asked: 1 Mpps; now: 0.5 Mpps"


@pytest.mark.parametrize(("wanted", "among"), [(7, [1, 7, 10, 100, 1000]), (None, [1, 10, 100, 1000])])
def test_a_list_has_the_usual_numbers_and_the_present_one(controls, wanted, among):
    controls.show(knobs(flows={"wanted": wanted, "actual": wanted}))
    assert [each["value"] for each in shown(controls, "flows")["choices"]] == among


def test_a_bench_that_is_over_has_no_knob_to_turn(controls):
    controls.show(knobs(), over="This bench has stopped.")
    assert {each["disabled"] for each in controls.state["knobs"]} == {"This bench has stopped."}


def test_clicks_are_told(controls):
    for message in ({"turn": "rate", "value": 2}, {"press": "start"}, {"restart": "vpp1"}):
        controls._hear(None, message, [])
    assert controls._listener.heard == [("turn", "rate", 2), ("press", "start"), ("restart", "vpp1")]


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["turn", "value", "press", "restart", "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(anything)
def test_messages_of_any_shape_do_no_harm(message):
    made = Controls(Listener())
    made._hear(None, message, [])
    for kind, name, *_ in made._listener.heard:
        assert kind in {"turn", "press", "restart"}
        assert isinstance(name, str)


@given(anything)
def test_a_knob_takes_or_refuses_any_value_in_a_sentence(value):
    for knob in knobs().values():
        assert knob.refusal(value) or knob.takes_value(value)


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (0, "no packets"),
        (0.001, "1 kpps"),
        (0.5, "500 kpps"),
        (1, "1 Mpps"),
        (20.0, "20 Mpps"),
        (FLAT_OUT, FLAT_OUT),
    ],
)
def test_rates_in_words(rate, words):
    assert rate_in_words(rate) == words
