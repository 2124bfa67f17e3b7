from __future__ import annotations

import os
import signal
import time

import pytest

from labs import drawing, two_vpps
from labs.drawing import LabView, NodeView
from labs.vpp.cli import TIMEOUT


@pytest.fixture
def lab(engine):
    made = two_vpps("portrait", engine=engine)
    made.start()
    yield made
    made.stop()


def test_a_node_that_is_stopped_is_drawn_as_silent_and_soon(lab):
    pid = lab["vpp1"].handle.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        words = repr(lab)
        assert time.monotonic() - began < TIMEOUT  # as long as one question would have taken
    finally:
        os.kill(pid, signal.SIGCONT)
    assert "vpp1: core 0, does not answer" in words
    assert "vpp2: core 1\n" in words
    assert "memif0/0 (client)" in words
    assert "does not answer" not in repr(lab)
    assert "connected" in repr(lab)


def test_a_silent_node_looks_and_reads_otherwise():
    shown = {
        answers: drawing.svg(LabView("lab", (NodeView("vpp1", (0,), pinned=True, answers=answers),)))
        for answers in (True, False)
    }
    assert "● running" in shown[True]
    assert "◌ does not answer" in shown[False]
    assert "stroke-dasharray" in shown[False]
    assert "vpp1: core 0, does not answer" in shown[False]
