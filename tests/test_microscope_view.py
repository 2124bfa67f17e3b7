"""The microscope: what it finds, what it says, and when it stops looking."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path

import pytest

import labs
from labs import memif, microscope_view
from labs.errors import LabError
from labs.memif import peek
from labs.microscope_view import microscope


def eventually(condition, within=10.0):
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def pair():
    place = Path(tempfile.mkdtemp(prefix="lm", dir="/tmp"))
    with memif.Server(place / "m.sock") as server, memif.Client(place / "m.sock", ring_size=64) as client:
        yield server.wait_up(), client
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def view(pair):
    made = microscope(pair[1])
    yield made
    made.close()


def watchers():
    return [each for each in threading.enumerate() if each.name == "microscope"]


def looking(view, change=1):
    """Say what a page says that begins (or ends) to show the view."""
    view._hear(view, {"looking": change}, [])


def ring(view, number=0):
    return view.shown.rings[number]


def test_a_notebook_gets_it_from_labs():
    assert labs.microscope is microscope


def test_the_fill_level_rises_as_the_receiver_is_slow(pair, view):
    server, client = pair
    levels = []
    for _ in range(4):
        client.send([b"x" * 60] * 12)
        server.receive_burst(2)
        view.text()
        levels.append(ring(view).fill)
    assert levels == [10, 20, 30, 40]
    assert "40 of 64 slots" in view.text()
    assert "[████████████████████············]" in view.text()


def test_the_descriptors_around_tail_say_what_is_filled(pair, view):
    server, client = pair
    client.send([b"x" * 60, b"y" * 3000, b"z" * 61])
    server.receive_burst(1)
    view.text()
    rows = [(row[0], row[1], row[4], row[5], row[6]) for row in ring(view).slots.rows]
    assert rows == [
        ("63", "empty", "2048", "0", ""),
        ("0", "empty", "60", "0", ""),
        ("1", "filled", "2048", "1 next", "← tail"),
        ("2", "filled", "952", "0", ""),
        ("3", "filled", "61", "0", ""),
        ("4", "empty", "2048", "0", "← head"),
    ]
    server.send(b"a")
    view.text()
    assert [row[0] for row in ring(view, 1).slots.rows if row[1] == "filled"] == ["0"]


def test_doorbells_and_who_sleeps(pair, view):
    server, client = pair
    facts = {label: (value, remark) for label, value, remark in ring(view).facts}
    assert facts["receiver"] == ("polls", "masks interrupts: flags 1")
    assert facts["doorbell"] == ("0 unheard", "rings by us so far: 0")
    server.rx_mode("interrupt")
    client.send(b"x")
    client.send(b"x")
    view.text()
    facts = {label: (value, remark) for label, value, remark in ring(view).facts}
    assert facts["receiver"] == ("sleeps", "wants interrupts: flags 0")
    assert facts["doorbell"] == ("2 unheard", "rings by us so far: 2")


def test_memory_and_handshake_are_told(view):
    memory, handshake = view.shown.tables
    (region,) = memory.rows
    assert region[1] == "memif client 0 region 0"
    assert region[3] == "shrink, grow"
    assert region[1] in str(Path(f"/proc/self/fd/{region[4]}").readlink())
    assert [row[2] for row in handshake.rows] == [
        "HELLO", "INIT", "ACK", "ADD_REGION", "ACK", "ADD_RING", "ACK", "ADD_RING", "ACK",
        "CONNECT", "CONNECTED",
    ]  # fmt: skip
    assert [row[1] for row in handshake.rows][:3] == ["the server", "our client", "the server"]


def test_the_text_says_all_that_the_page_is_given(view):
    text = view.text()

    def said(value):
        if isinstance(value, dict):
            value = [each for key, each in value.items() if key not in {"state", "fill", "size", "tick"}]
        if isinstance(value, list | tuple):
            return all(map(said, value))
        return value in text

    assert said(view.sheet)
    assert repr(view) == text
    json.dumps(view.sheet)


def test_it_looks_while_a_page_shows_it_and_no_longer(pair, view):
    assert not watchers()
    looking(view)
    pair[1].send([b"x"] * 7)
    assert eventually(lambda: view.sheet["rings"][0]["fill"] == 7)
    assert len(watchers()) == 1
    looking(view)
    looking(view, -1)
    time.sleep(2 * microscope_view.PERIOD)
    assert len(watchers()) == 1
    looking(view, -1)
    assert eventually(lambda: not watchers())
    looking(view)
    assert eventually(lambda: len(watchers()) == 1)


def test_it_stops_when_it_is_closed_and_when_the_link_is(pair):
    for end in (lambda view: view.close(), lambda _: pair[1].close()):
        view = microscope(pair[1])
        looking(view)
        assert eventually(watchers)
        end(view)
        assert eventually(lambda: not watchers())
    assert view.shown.state == "over"
    assert "The link is closed. This is the last look." in view.text()
    assert view.shown.rings


def test_it_stops_where_no_page_ever_shows_it(pair, monkeypatch):
    monkeypatch.setattr(microscope_view, "_UNSEEN", 0.3)
    view = microscope(pair[1])
    view._repr_mimebundle_()
    assert watchers()
    assert eventually(lambda: not watchers())


def test_a_link_that_goes_down_and_comes_back(pair):
    server, client = pair
    view = microscope(server)
    client.close()
    assert eventually(lambda: "is down" in view.text())
    assert view.shown.state == "down"
    assert ring(view).size == 64
    with memif.Client(server.path, ring_size=128):
        assert eventually(lambda: view.text() and view.shown.state == "live")
        assert ring(view).size == 128


def test_a_link_that_is_not_up_yet_is_waited_for(tmp_path):
    link = memif.Client(tmp_path / "m.sock")
    view = microscope(link)
    assert view.shown.state == "down"
    assert "is down" in view.text()
    assert not view.shown.rings


def test_frozen_it_holds_and_goes_on(pair, view):
    looking(view)
    view.freeze()
    before = view.text()
    assert "Frozen at" in before
    pair[1].send([b"x"] * 5)
    time.sleep(2 * microscope_view.PERIOD)
    assert view.text() == before
    assert view.sheet["state"] == "frozen"
    view.go_on()
    assert eventually(lambda: view.sheet["rings"][0]["fill"] == 5)


def test_a_freeze_that_is_heard_late_shows_what_the_reader_saw(pair, view):
    seen = view.shown.tick
    for _ in range(3):
        pair[1].send(b"x")
        view.text()
    view._hear(view, {"freeze": seen}, [])
    assert view.shown.rings[0].fill == 0
    view._hear(view, {"freeze": 10**9}, [])
    assert view.shown.rings[0].fill == 3


def test_it_cannot_write(pair):
    with peek.Peek(os.getpid(), "memif client 0") as seen:
        assert not any(each.memory.flags.writeable for each in seen.rings)


@pytest.mark.parametrize(("what", "names"), [("text", ()), (None, ()), (7, ("a", "b"))])
def test_what_is_neither_link_nor_lab_is_refused(what, names):
    with pytest.raises(LabError, match="needs a link or a lab"):
        microscope(what, *names)


def test_between_two_nodes_of_a_lab(engine):
    lab = labs.two_vpps("scope", engine=engine)
    with pytest.raises(LabError, match="is not started"):
        microscope(lab)
    lab.start()
    with contextlib.closing(microscope(lab, "vpp1", "vpp2")) as view:
        try:
            for wrong in (("vpp1", "vpp1"), ("vpp1", "vpp9"), ("vpp1",)):
                with pytest.raises(LabError):
                    microscope(lab, *wrong)
            assert ring(view).who == "vpp2 sends, vpp1 receives"
            before = [each.facts[0][1] for each in view.shown.rings]
            lab.ping("vpp1", "vpp2", count=3)
            text = view.text()
            assert before != [each.facts[0][1] for each in view.shown.rings]
            assert "vpp1 memif0/0 (server) and vpp2 memif0/0 (client)" in text
            lent = "" if engine == "glassbox" else "buffers-numa-0"  # it copies packets
            for words in ("memif0/0 region 0", lent, "doorbell", "The handshake is over"):
                assert words in text
            lab["vpp2"].kill()
            assert "vpp2 is not running." in view.text()
            lab.restart("vpp2")
            assert eventually(lambda: view.text() and view.shown.state == "live")
            looking(view)
        finally:
            lab.stop()
        assert eventually(lambda: not watchers())
        assert "The lab is stopped." in view.text()
