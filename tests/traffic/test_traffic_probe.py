"""The probe on links: runs, watched and stopped, against other ends of every kind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.errors import LabError
from labs.memif.errors import Down, MemifError
from labs.traffic.probe import Probe
from labs.traffic.probe_echo import Echo
from labs.traffic.stamp import Stamp

ENDS = {"source": "198.18.9.2", "target": "198.18.9.1", "target_mac": "02:00:00:00:00:01"}


@pytest.fixture
def node(pair):
    """Connect a probe to an echo with the given manners; return the probe, and the echo."""
    with contextlib.ExitStack() as stack:

        def connect(manners=None, ring_size=256, **options):
            there, here = pair(ring_size=ring_size)
            echo = stack.enter_context(Echo(there, **(manners or {})))
            return Probe(here, **{**ENDS, "name": "echo", **options}), echo

        yield connect


def test_every_request_is_answered_and_counted(node):
    probe, _ = node()
    run = probe.run(0.2, floor=False)
    assert (run.planned, run.sent, run.received, run.lost, run.ended) == (1000, 1000, 1000, 0, "")
    assert len(run.samples_us) == run.histogram.count == 1000
    assert run is probe.last


def test_a_probe_that_sees_no_reply_says_so(pair):
    _, here = pair()
    run = Probe(here, **ENDS, name="nobody").run(0.05, patience=0.1, floor=False)
    assert (run.received, run.lost) == (0, 250)
    with pytest.raises(LabError, match="answered none of 250 requests"):
        _ = run.p50
    assert "250 sent, 0 answered" in str(run)
    assert "lost" in repr(run.summary())


def test_one_way_uses_the_other_link(pair):
    first, here = pair(ring_size=256)
    second, there = pair(ring_size=256)
    from labs.traffic.probe_echo import Echo as Forwarder  # noqa: PLC0415 - it forwards, here

    with Forwarder((second.queue("tx"), first.queue("rx")), delay=0.002):
        run = Probe(here, **ENDS, receive_on=there).run(0.2, 1e-3, floor=False)
    assert run.way == "one way"
    assert run.received == 200
    assert run.percentile(0) >= 2000


@settings(max_examples=10, deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=200), min_size=1, max_size=20), st.integers(0, 0xFFFF))
def test_what_else_comes_is_no_reply(wire, packets, stream):
    there, here = wire
    forged = [bytes(42) + bytes(Stamp(stream, 0, 10**12)), bytes(42) + bytes(Stamp(stream, 0, 5))[:-1]]
    measurement = Probe(here, **ENDS).start(0.02, 1e-3, patience=0.3, floor=False)
    while not measurement.plan.sent.any():
        time.sleep(0.001)
    there.send([*packets, *forged])
    run = measurement.result()
    there.receive(0)
    assert run.received == 0
    assert run.foreign == len(packets) + len(forged)


@pytest.fixture(scope="module")
def wire(tmp_path_factory):
    from labs import memif  # noqa: PLC0415 - for this fixture alone

    path = tmp_path_factory.mktemp("w", numbered=True) / "m.sock"
    with memif.Server(path, ring_size=256) as there, memif.Client(path, ring_size=256) as here:
        there.wait_up()
        yield there, here


def test_a_reply_that_comes_twice_counts_once(pair):
    there, here = pair()
    over = threading.Event()

    def answer_twice():
        while not over.is_set():
            for packet in there.receive(0.02):
                there.send([packet, packet])

    thread = threading.Thread(target=answer_twice)
    thread.start()
    run = Probe(here, **ENDS).run(0.2, 1e-3, floor=False)
    over.set()
    thread.join()
    assert run.received == 200
    assert run.twice >= 190
    assert any("more than once" in each for each in run.notes)


# Ends before its time


def test_a_link_that_goes_down_leaves_what_was_measured(pair):
    there, here = pair(ring_size=256)
    with Echo(there):
        measurement = Probe(here, **ENDS, name="gone").start(5.0, floor=False)
        while measurement.so_far().received < 100:
            time.sleep(0.005)
        there.close()
        run = measurement.result()
    assert run.received >= 100
    assert run.planned < 25000
    assert run.ended.startswith("The link went down during the run")
    assert run.ended in str(run.summary())
    with pytest.raises(Down):
        Probe(here, **ENDS).run(0.1)


def test_a_probe_can_be_watched_and_stopped(node):
    probe, _ = node()
    measurement = probe.start(60.0, floor=False)
    while (early := measurement.so_far()).received < 50:
        time.sleep(0.005)
    assert early.lost == 0
    measurement.stop()
    run = measurement.result()
    assert early.received <= run.received < 300_000
    assert run.lost == 0
    assert run.ended == "The run was stopped before its time."


def test_an_interrupt_ends_the_run_and_keeps_it(node):
    probe, _ = node()
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        probe.run(60.0, floor=False)
    assert time.monotonic() - began < 30
    assert probe.last.received > 0


STOPPED_AND_CONTINUED = """
import json, os, sys, tempfile, time
from labs import memif
from labs.traffic import Echo, Probe
with tempfile.TemporaryDirectory(dir="/tmp") as place:
    path, small = place + "/m", {"ring_size": 256}
    with memif.Server(path, **small) as there, memif.Client(path, **small) as here:
        with Echo(there.wait_up()):
            probe = Probe(here, source="198.18.9.2", target="198.18.9.1", target_mac="02:00:00:00:00:01")
            measurement = probe.start(1.0, 1e-3, floor=False)
            while measurement.so_far().received < 100:
                time.sleep(0.001)
            print("running", flush=True)
            run = measurement.result()
print(json.dumps({
    "longest": int(run.gaps_ns[:, 1].max()), "disturbed": int(run.disturbed.sum()), "notes": run.notes,
    "p95": run.percentile(95), "uncorrected": run.percentile(95, corrected=False),
    "max": run.percentile(100), "lost": run.lost,
}))
"""


def test_a_probe_that_is_held_up_itself_notices_and_says_so():
    """The kernel takes the whole process off its core for 200 ms, echo and all."""
    child = subprocess.Popen([sys.executable, "-c", STOPPED_AND_CONTINUED], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "running\n"
    child.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    child.send_signal(signal.SIGCONT)
    told = json.loads(child.communicate(timeout=60)[0])
    assert told["longest"] >= 190e6
    assert told["disturbed"] >= 190
    assert told["lost"] == 0
    assert told["max"] >= 190e3
    assert (
        told["p95"] >= 100e3 > told["uncorrected"]
    )  # none was sent meanwhile, so only the due times show it
    assert any("did not run" in each for each in told["notes"])


# What a learner may get wrong


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seconds": 0}, "run for 0 seconds"),
        ({"seconds": "2"}, "run for '2' seconds"),
        ({"interval": 0}, "send every 0 seconds"),
        ({"interval": -1e-3}, "send every"),
        ({"seconds": 3600, "interval": 1e-6}, "cannot keep 3600000000 samples"),
        ({"outstanding": 0}, "be 0 requests outstanding"),
        ({"patience": 0}, "wait for 0 seconds"),
        ({"seconds": float("nan")}, "run for nan seconds"),
    ],
)
def test_what_cannot_be_is_refused(pair, options, said):
    _, here = pair()
    with pytest.raises(LabError, match=said) as refused:
        Probe(here, **ENDS).run(**options)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"wait": "pol"}, "wait cannot be 'pol'"),
        ({"core": 4096}, "cannot run on core 4096"),
        ({"size": 20}, "frames of 20 bytes"),
        ({"target": "vpp2"}, "no IPv4 address"),
    ],
)
def test_a_probe_that_cannot_be(pair, options, said):
    _, here = pair()
    with pytest.raises(LabError, match=said):
        Probe(here, **{**ENDS, **options})


def test_a_frame_that_fits_no_slot(pair):
    _, here = pair(buffer_size=128)
    with pytest.raises(MemifError, match="does not fit one slot"):
        Probe(here, **ENDS, size=256).run(0.01, floor=False)


def test_a_link_with_more_than_one_queue(pair):
    _, here = pair(queues=2)
    with pytest.raises(MemifError, match="receives on one queue, and this link has 2"):
        Probe(here, **ENDS).run(0.01)


def test_a_jumbo_of_a_peer_is_one_foreign_packet(pair):
    there, here = pair(buffer_size=256)
    measurement = Probe(here, **ENDS).start(0.2, 1e-2, patience=0.1, floor=False)
    while not measurement.plan.sent.any():
        time.sleep(0.001)
    there.send(bytes(1000))
    run = measurement.result()
    assert (run.received, run.foreign) == (0, 1)
