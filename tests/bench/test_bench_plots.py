from __future__ import annotations

import time

import made_up_tracks as made_up
import numpy as np
import plotly.graph_objects
import pytest

from labs.bench.panels import columns, panels
from labs.bench.plots import MOST_POINTS, Plots, Reference
from labs.bench.tables import Mark

NODES, CORES = ("vpp1", "vpp2"), (0, 1)
NOW = 5000.25


@pytest.fixture
def plots():
    return Plots(NODES, CORES)


@pytest.fixture
def sent(plots, monkeypatch):
    """Keep what goes to the page: a list of the traits' names for each message."""
    messages = []
    monkeypatch.setattr(plots.widget, "send_state", lambda key=None: messages.append(set(key or ())))
    return messages


def shown(plots, name):
    """Return the times and the columns of a table as the page has them."""
    wanted = columns(panels(NODES, CORES))[name]
    packed = np.frombuffer(getattr(plots.widget, name), np.float32).reshape(len(wanted) + 1, -1)
    return packed[0], dict(zip(wanted, packed[1:], strict=True))


def test_a_page_gets_what_was_measured_with_times_after_one_origin(plots):
    tables = made_up.tables(NOW)
    plots.draw(tables, [], NOW)
    times, ping = shown(plots, "ping")
    assert times == pytest.approx(tables["ping"].times - NOW, abs=1e-3)
    assert ping["ping_p50"] == pytest.approx(tables["ping"].column("ping_p50"), nan_ok=True)
    assert plots.widget.now == 0
    plots.draw(made_up.tables(NOW + 1), [], NOW + 1)
    times, _ = shown(plots, "ping")
    assert plots.widget.now == pytest.approx(1.0)
    assert times[-1] + NOW == pytest.approx(5001, abs=1e-3)


def test_a_minute_is_shown_and_no_more_points_than_agreed(plots):
    plots.draw(made_up.tables(NOW, span=600), [], NOW)
    for name in made_up.RATES:
        times, _ = shown(plots, name)
        assert -62 < times[0] < -58
        assert len(times) <= MOST_POINTS + 12


def test_missing_samples_are_gaps_never_zero(plots):
    now = 5040 - 60 + 55.0  # five seconds after a gap of two
    plots.draw(made_up.tables(now), [], now)
    for name, column in (("traffic", "received"), ("probe", "probe_p50"), ("cpu", "vpp1_runs")):
        times, values = shown(plots, name)
        seconds = (times + now) % 60
        assert np.isnan(values[column][(seconds > 48.2) & (seconds < 49.8)]).all()
        assert not (values[column] == 0).any()


def test_nothing_is_sent_that_did_not_change(plots, sent):
    plots.draw(made_up.tables(NOW), [], NOW)
    sent.clear()
    plots.draw(made_up.tables(NOW), [], NOW + 0.5)
    assert sent == [{"now", "turn"}]


def test_a_tick_is_one_message_with_the_tables_that_grew(plots, sent):
    plots.draw(made_up.tables(NOW), [], NOW)
    sent.clear()
    plots.draw(made_up.tables(NOW + 0.5), [], NOW + 0.5)
    assert sent == [{"traffic", "cpu", "probe", "now", "turn"}]


@pytest.mark.parametrize(("ago", "messages"), [(1.0, 8), (30.0, 4)])
def test_after_a_turn_each_tick_is_sent_and_later_every_second(plots, sent, ago, messages):
    for tick in range(8):
        plots.draw(made_up.tables(NOW + tick / 4), [Mark(NOW - ago, "turn")], NOW + tick / 4)
    assert len(sent) == messages


def test_a_turn_is_shown_at_once(plots):
    plots.draw({}, [], NOW)
    plots.draw({}, [Mark(NOW + 0.05, "turn")], NOW + 0.1)
    assert plots.widget.marks == [[0.05, "turn", ""]]


def test_axes_hold_still_until_something_does_not_fit(plots, sent):
    for tick in range(240):  # a minute: both placements, and a gap
        plots.draw(made_up.tables(NOW + tick / 4), [], NOW + tick / 4)
    assert sum("axes" in message for message in sent) <= 1
    assert plots.widget.axes == {"latency": [1.0, 1e5], "rate": [0.0, 20.0], "share": [0.0, 100.0]}


def test_a_latency_below_a_microsecond_widens_the_axis(plots):
    plots.draw({"probe": made_up.table("probe", ["probe_p50"], [NOW - 1], [[0.26]])}, [], NOW)
    assert plots.widget.axes["latency"] == pytest.approx([0.1, 1e5])


def test_marks_of_the_last_minute_are_sent_once(plots, sent):
    marks = [
        Mark(NOW - 61, "old"),
        Mark(NOW - 2, "pinning: same core", ("taskset", "docker")),
        Mark(NOW + 1, "later"),
    ]
    plots.draw({}, marks, NOW)
    assert plots.widget.marks == [[-2.0, "pinning: same core", "taskset\ndocker"]]
    sent.clear()
    plots.draw({}, marks, NOW + 0.5)
    assert not any("marks" in message for message in sent)


def test_a_reference_comes_and_goes(plots):
    plots.draw({}, [], NOW, Reference("A", {"probe_p50": (2.0, 2.5, 3.0)}))
    assert plots.widget.reference == {"label": "A", "stats": {"probe_p50": [2.0, 2.5, 3.0]}}
    plots.draw({}, [], NOW + 1)
    assert plots.widget.reference == {}


@pytest.mark.parametrize("later", [3600.0, -100.0])
def test_times_stay_fine_after_an_hour_and_after_going_back(plots, later):
    plots.draw(made_up.tables(NOW), [], NOW)
    now = NOW + later
    plots.draw(made_up.tables(now), [Mark(now - 2, "turn")], now)
    times, _ = shown(plots, "traffic")
    assert plots.widget.now == 0
    assert np.abs(times).max() < 62
    assert plots.widget.marks[0][0] == -2.0


def test_tables_that_are_unknown_incomplete_or_empty_do_no_harm(plots):
    tables = {
        "links": made_up.table("links", ["link0_forth"], [NOW], [[1]]),
        "probe": made_up.table("probe", ["probe_p99"], [NOW - 1], [[7]]),
        "cpu": made_up.table("cpu", ["core0"], [], []),
        "ping": made_up.table("ping", ["ping_p50", "ping_max"], [NOW - 1], [[np.nan, np.nan]]),
    }
    plots.draw(tables, [], NOW)
    _, probe = shown(plots, "probe")
    assert probe["probe_p99"].tolist() == [7]
    assert np.isnan(probe["probe_p50"]).all()
    assert plots.widget.cpu == b""


def test_cleared_it_is_as_new(plots):
    plots.draw(made_up.tables(NOW), made_up.marks(NOW), NOW, Reference("A", {"sent": (1, 2, 3)}))
    plots.clear()
    new = Plots(NODES, CORES).widget
    for name in ("axes", "marks", "reference", "now", *made_up.RATES):
        assert getattr(plots.widget, name) == getattr(new, name)
    plots.draw(made_up.tables(NOW), [], NOW)
    assert len(shown(plots, "probe")[0]) > 200


def test_a_page_without_widgets_gets_a_sentence(plots):
    bundle = plots.widget._repr_mimebundle_()
    parts = bundle[0] if isinstance(bundle, tuple) else bundle
    assert parts["text/plain"].startswith("Plots of latency")


def median_cost(turn):
    """Return the processor time of one of 20 turns, in seconds."""
    spent = []
    for tick in range(20):
        now = NOW + tick / 4
        tables = made_up.tables(now)
        began = time.thread_time()
        turn(tables, now)
        spent.append(time.thread_time() - began)
    return sorted(spent)[10]


def test_a_tick_costs_half_of_plotlys_at_most(plots):
    lines = [line for panel in panels(NODES, CORES) for line in panel.lines]
    figure = plotly.graph_objects.FigureWidget([{"type": "scatter", "y": np.zeros(2)} for _ in lines])

    def redraw(tables, now):
        with figure.batch_update():
            for line, trace in zip(lines, figure.data, strict=True):
                trace.x = (tables[line.table].times - now).astype(np.float32)
                trace.y = tables[line.table].column(line.column)

    def draw(tables, now):
        plots.draw(tables, [Mark(now, "turn")], now)  # of the turns that are sent

    ours = median_cost(draw)
    assert ours < median_cost(redraw) / 2
