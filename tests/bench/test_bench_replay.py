"""A recording in the bench's panel, without any engine."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import made_up_tracks
import numpy as np
import pytest
from ipywidgets.widgets import widget as registry

from labs.bench.recording import Recording
from labs.bench.replay import Replay, replay
from labs.bench.tables import Mark, Table
from labs.errors import LabError
from labs.quality import Quality, Reason


def recording(seconds=100.0, **facts):
    """Return a run in which two nodes share a core from 20 s to 35 s of each minute."""
    tables = made_up_tracks.tables(seconds, span=seconds)
    known = {"nodes": ["vpp1", "vpp2"], "data plane": "VPP 26.06", "pinning": "apart", **facts}
    return Recording(
        facts=known,
        tables=tables,
        marks=[mark for mark in made_up_tracks.marks(seconds) if mark.t >= 0],
        quality=Quality((Reason("This is a virtual machine.", "Its host may run something else."),)),
        picture='<svg role="img"></svg>',
    )


@pytest.fixture
def panel():
    made = replay(recording())
    yield made
    made.close()


def points(panel, name):
    """Return the times of what the page was sent of a table, in seconds of the run."""
    plots = panel._display.plots
    sent = np.frombuffer(getattr(plots.widget, name), np.float32)
    rows = sent.reshape(len(plots._columns[name]) + 1, -1)
    return rows[0] + plots._origin


def status(panel):
    return panel._display.status.value


def test_it_stands_at_the_end_at_first(panel):
    assert panel.at.value == panel.at.max == 100
    assert panel.play.value == panel.play.max == 200
    assert points(panel, "probe")[-1] == pytest.approx(100, abs=0.3)
    assert "vpp1 runs" in status(panel)
    assert panel._display.picture.widget.value.startswith("<svg")
    assert panel._display.badge.widget.state["badge"] == "fair"
    assert len(panel._display.commands.widget.entries) == len(recording().marks)


def test_stepping_back_shows_what_was_so_then(panel):
    panel.at.value = 30.0
    assert panel.play.value == 60
    assert points(panel, "probe")[-1] == pytest.approx(30, abs=0.3)
    assert "ms by our probe" in status(panel)
    panel.at.value = 15.0
    assert points(panel, "probe")[-1] == pytest.approx(15, abs=0.3)
    assert "µs by our probe" in status(panel)
    assert all(at <= 0 for at, *_ in panel._display.plots.widget.marks)


def test_the_player_moves_the_slider_and_the_slider_the_player(panel):
    for step in (100, 101, 102, 10, 0, 200):
        panel.play.value = step
        assert panel.at.value == step / 2
    panel.at.value = 42.5
    assert panel.play.value == 85


def test_a_second_between_two_steps_is_shown_and_does_not_hang(panel):
    done = threading.Event()

    def go():
        panel.at.value = 41.3
        done.set()

    threading.Thread(target=go, daemon=True).start()
    assert done.wait(10)
    assert panel.at.value == 41.3
    assert points(panel, "probe")[-1] <= 41.31


def test_a_line_that_ends_as_before_but_begins_earlier_is_drawn_whole():
    made = recording()
    ping = made.tables["ping"]
    made.tables["ping"] = Table("ping", ping.columns, ping.times[:70], ping.values[:70])
    panel = Replay(made)
    panel.at.value = 50.0
    panel.at.value = 95.0
    begins = points(panel, "ping")[0]
    assert begins > 30
    panel.at.value = 80.0
    assert points(panel, "ping")[0] < begins - 10
    panel.close()


def test_the_last_sample_is_shown_whatever_the_length():
    for seconds in (10.24, 10.25, 10.5, 10.74, 0.3):
        made = recording(seconds)
        panel = Replay(made)
        last = made.tables["traffic"].times[-1]
        assert points(panel, "traffic")[-1] == pytest.approx(last, abs=1e-3)
        panel.close()


def test_a_saved_run_is_replayed_in_a_process_that_imports_no_engine(tmp_path):
    path = recording().save(tmp_path / "run.json")
    code = f"""
        import sys
        import labs
        panel = labs.replay({str(path)!r})
        panel.at.value = 25.0
        print(panel._display.status.value)
        engines = ("labs.engines.", "labs.glassbox.", "docker")
        print([name for name in sys.modules if name.startswith(engines)])
    """
    lines = "\n".join(line.strip() for line in code.strip().splitlines())
    out = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", lines], capture_output=True, text=True, check=True
    )
    said, engines = out.stdout.strip().splitlines()
    assert "ms by our probe" in said
    assert engines == "[]"


@pytest.mark.parametrize("nodes", [None, "vpp1", 5, {"a": 1}, [1, None]])
def test_odd_facts_do_no_harm(nodes):
    panel = Replay(recording(20.0, nodes=nodes, **{"data plane": None}))
    panel.at.value = 10.0
    panel.close()


def test_an_empty_recording_is_a_panel_too():
    panel = Replay(Recording())
    assert "Nothing was measured yet." in status(panel)
    panel.at.value = 0.0
    panel.close()


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1]", b"\x1f\x8bnonsense", json.dumps({"kind": "x"}).encode()]
)
def test_what_is_no_recording_is_refused_in_a_sentence(tmp_path, content):
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(LabError, match="is not a recording"):
        replay(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(LabError, match="cannot be read"):
        replay(tmp_path / "none.json")


def test_words_stand_where_there_are_no_widgets(panel):
    shown = panel._repr_mimebundle_()
    parts = shown[0] if isinstance(shown, tuple) else shown
    assert parts is None or "vpp1" in parts["text/plain"]
    assert "vpp1" in panel._display.fallback()


def test_marks_with_markup_stay_words():
    made = recording(20.0)
    made.marks.append(Mark(5.0, "<script>alert(1)</script>", ("<b>",)))
    panel = Replay(made)
    assert "<script>" not in panel._display.fallback()
    panel.close()


def test_closing_leaves_no_widget_behind():
    """What is not closed, ipywidgets keeps for ever."""
    before = len(registry._instances)
    Replay(recording(20.0)).close()
    assert len(registry._instances) == before
