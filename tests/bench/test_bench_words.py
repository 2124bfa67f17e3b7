"""What a bench says: the present figures, what stands in the way, and what came of clicks."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.bench.conductor import Turned
from labs.bench.figures import microseconds, packets, present, sentence
from labs.bench.knob import Choice, Knob
from labs.bench.news import News, label_of
from labs.bench.notes import Notes
from labs.bench.tables import Column, Table

NAN = math.nan


def table(name, rows, *, times=None):
    """Return a table from column -> values; the last at 100 s, a tenth of a second apart."""
    count = len(next(iter(rows.values())))
    times = 100 - 0.1 * np.arange(count)[::-1] if times is None else np.asarray(times)
    unit = {"traffic": "Mpps", "cpu": "%"}.get(name, "µs")
    columns = tuple(Column(each, each, unit) for each in rows)
    return Table(name, columns, times, np.array(list(rows.values()), np.float32).T)


def tables(**changed):
    """Return the tables of two nodes on a core each."""
    rows = {
        "probe": {"probe_p50": [5.0], "probe_p99": [20.0], "probe_max": [30.0], "probe_lost": [0.0]},
        "ping": {"ping_p50": [70.0], "ping_max": [90.0], "ping_lost": [0.0]},
        "traffic": {"sent": [1.0], "received": [1.0], "lost": [0.0], "gbits": [0.5]},
        "cpu": {"vpp1_runs": [97.0], "vpp1_waits": [2.0], "vpp2_runs": [96.0], "vpp2_waits": [3.0]},
    }
    for column, values in changed.items():
        for each in rows.values():
            if column in each:
                each[column] = [values]
    return {name: table(name, each) for name, each in rows.items()}


def said(**changed):
    return sentence(tables(**changed), 100.0, ["vpp1", "vpp2"])


def test_all_figures_in_a_sentence():
    assert said() == (
        "Round trip: 5 µs by our probe (p99 20 µs), 70 µs by VPP's ping. Packets: 1 Mpps sent, 1 Mpps "
        "received. "
        "Cores: vpp1 runs 97 % of the time and waits 2 %; vpp2 runs 96 % of the time and waits 3 %."
    )


def test_a_counter_that_is_added_to_in_lots_gives_the_rate_all_the_same():
    rows = {"sent": [0.001] * 10, "received": [0.0025, 0, 0, 0.0025, 0] * 2, "lost": [0.0] * 10}
    assert "Packets: 1 kpps sent, 1 kpps received." in sentence(
        {"traffic": table("traffic", rows)}, 100.0, []
    )


def test_nothing_measured():
    assert sentence({}, 100.0, ["vpp1"]) == "Nothing was measured yet."
    assert sentence(tables(), 300.0, ["vpp1"]) == "Nothing was measured yet."


def test_what_is_lost_is_a_share_of_what_is_sent():
    assert "1 Mpps sent, 750 kpps received, 25 % lost" in said(received=0.75, lost=0.25)
    assert "lost" not in said(sent=0.0, received=0.0, lost=0.0)
    assert "less than 0.01 % lost" in said(lost=1e-6)


@pytest.mark.parametrize(
    "column", ["probe_p50", "ping_p50", "sent", "received", "lost", "vpp1_runs", "vpp1_waits"]
)
def test_what_is_unknown_is_never_a_number(column):
    words = said(**{column: NAN})
    assert "nan" not in words
    assert words.count(".") >= 2


@given(st.floats(1e-3, 9e8))
def test_times_have_three_digits_and_a_unit(value):
    number, _, unit = microseconds(value).partition(" ")
    assert "e+" not in number
    assert float(number) < 1000
    assert float(number) * {"µs": 1, "ms": 1e3, "s": 1e6}[unit] == pytest.approx(value, rel=0.006)


@given(st.floats(1e-6, 900))
def test_rates_have_three_digits_and_a_unit(value):
    number, _, unit = packets(value).partition(" ")
    assert "e+" not in number
    scale = {"Mpps": 1, "kpps": 1e-3, "packets a second": 1e-6}[unit]
    assert float(number) * scale == pytest.approx(value, rel=0.006, abs=0.6e-6)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (microseconds(NAN), "unknown"),
        (microseconds(999.7), "1 ms"),
        (microseconds(1_000_000), "1 s"),
        (packets(0.9999), "1 Mpps"),
        (packets(0.0), "0 packets a second"),
        (packets(NAN), "an unknown rate"),
    ],
)
def test_the_edges(words, expected):
    assert words == expected


def test_a_present_figure_is_the_median_of_what_there_is():
    seen = table("probe", {"probe_p50": [1.0, NAN, 3.0, 900.0, 2.0]})
    assert present(seen, "probe_p50", 100.0) == 2.5
    assert present(seen, "probe_p50", 99.85) == 3.0 or math.isnan(present(seen, "probe_p50", 99.55))
    assert math.isnan(present(seen, "no such", 100.0))
    assert math.isnan(present(None, "probe_p50", 100.0))
    assert math.isnan(present(table("probe", {"probe_p50": [NAN]}), "probe_p50", 100.0))


def test_notes_are_said_once_each_and_settled():
    notes = Notes()
    notes.say("a", "first")
    notes.say("b", "second")
    notes.say("c", "first")
    assert notes.all() == ("first", "second")
    notes.say("a", "third")
    assert notes.all() == ("third", "second", "first")
    notes.settle("a")
    notes.settle("a")
    assert notes.all() == ("second", "first")


def test_notes_from_many_threads():
    notes = Notes()

    def speak(number):
        for _ in range(300):
            notes.say(f"{number}", f"{number}")
            notes.all()
            notes.settle(f"{number}")

    threads = [threading.Thread(target=speak, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert notes.all() == ()


KNOBS = {
    "pinning": Knob("pinning", "pinning", choices=(Choice("same", "same core"),)),
    "flows": Knob("flows", "flows", span=(1, 1000)),
    "size": Knob("size", "frame size", "bytes", choices=(Choice(64, "64 bytes"),)),
}


def test_only_the_last_of_several_turns_ends_the_waiting():
    news = News()
    for value in ("same", "apart", "free"):
        news.asked("pinning", value)
    news.done(Turned("pinning", "same"), KNOBS)
    assert news.turning == ("pinning",)
    news.done(Turned("pinning", "free"), KNOBS)
    assert news.turning == ()
    news.done(Turned("pinning", "free"), KNOBS)


@pytest.mark.parametrize("value", [NAN, None, [1], {"a": 1}, True, "x", 10**400])
def test_whatever_was_asked_for_ends_its_waiting(value):
    news = News()
    news.asked("rate", value)
    news.done(Turned("rate", value, error="No."), KNOBS)
    assert news.turning == ()


def test_other_knobs_go_on_turning():
    news = News()
    news.asked("pinning", "same")
    news.asked("flows", 3)
    news.done(Turned("flows", 3), KNOBS)
    assert news.turning == ("pinning",)
    news.forget()
    assert news.turning == ()


def test_what_failed_is_said_and_kept_for_a_cell():
    news = News()
    news.done(Turned("rate", 99, error="It cannot be 99.", hint="choose less."), KNOBS)
    assert news.said == "It cannot be 99. choose less."
    assert (news.failed[0].message, news.failed[0].hint) == ("It cannot be 99.", "choose less.")
    for _ in range(1000):
        news.done(Turned("rate", 99, error="no"), KNOBS)
    assert len(news.failed) < 100


def test_a_look_that_works_is_no_news():
    news = News()
    news.said = "before"
    news.done(Turned("look", None), KNOBS)
    assert news.said == "before"
    news.done(Turned("flows", 3, seconds=0.123), KNOBS)
    assert news.said == "flows: 3: done in 0.12 s."


@pytest.mark.parametrize(
    ("name", "value", "label"),
    [
        ("restart", "vpp2", "vpp2 started anew"),
        ("traffic", True, "traffic on"),
        ("traffic", False, "traffic off"),
        ("rate", 0.5, "rate 500 kpps"),
        ("rate", 2, "rate 2 Mpps"),
        ("rate", 0, "rate no packets"),
        ("rate", "flat out", "rate flat out"),
        ("pinning", "same", "pinning: same core"),
        ("size", 64, "frame size: 64 bytes"),
        ("size", 99, "frame size: 99 bytes"),
        ("flows", 7, "flows: 7"),
        ("nonsense", [1], "nonsense: [1]"),
    ],
)
def test_a_turn_in_a_few_words(name, value, label):
    assert label_of(Turned(name, value), KNOBS) == label
