"""Our generator and sink against DPDK's testpmd, and against memory itself; pairs alternate in one run."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from numba import njit, types
from quiet import Samples

from labs import memif
from labs.traffic import Generator, Sink, imix, udp, warm_up

sys.path.insert(0, str(Path(__file__).parents[1] / "interop"))
from memif_peers import Testpmd

ROUNDS = 9
WINDOW = 0.3
ENOUGH = 3  # undisturbed windows
SLOTS, SLOT, SIZE = 1024, 2048, 1500


@pytest.fixture
def cores():
    """Keep this process on core 0; its generators and sinks say where they run."""
    allowed = os.sched_getaffinity(0)
    if not {0, 1} <= allowed:
        pytest.skip("cores 0 and 1 are needed")
    warm_up()
    os.sched_setaffinity(0, {0})
    yield
    os.sched_setaffinity(0, allowed)


class Wire:
    """A socket's directory, and the testpmd processes on it."""

    def __init__(self):
        self.place = Path(tempfile.mkdtemp(prefix="lb", dir="/tmp"))
        self.path = self.place / "memif.sock"
        self.peers = []

    def testpmd(self, role, forward, core):
        options = {"forward": forward, "core": core, "name": f"{role}{core}"}
        if forward == "txonly":
            options["pmd_options"] = ("--txpkts=64",)
        port = f"role={role},id=0,socket={self.path}"
        self.peers.append(Testpmd(self.place, port, **options))
        return self.peers[-1]

    @property
    def pids(self):
        return [each.child.pid for each in self.peers]

    def close(self):
        for each in reversed(self.peers):
            each.stop()
        shutil.rmtree(self.place, ignore_errors=True)


@pytest.fixture
def wire():
    if not shutil.which("dpdk-testpmd"):
        pytest.skip("DPDK's testpmd is not here: apt-get install dpdk-dev puts it in place")
    made = []

    def make():
        made.append(Wire())
        return made[-1]

    yield make
    for each in made:
        each.close()


class Running:
    """The testpmds that take part in a window; the others do not forward, and so use no core."""

    def __init__(self, *peers):
        self.peers = peers

    def __enter__(self):
        for each in self.peers:
            each.do("start")

    def __exit__(self, *_exception):
        for each in reversed(self.peers):
            each.do("stop", "Done.")


def received(peer):
    """Return how many Mpps a testpmd receives during a window."""
    first, began = peer.packets("RX"), time.perf_counter()
    time.sleep(WINDOW)
    last = peer.packets("RX")
    return (last - first) / (time.perf_counter() - began) / 1e6


def peers(wire):
    """Return the peer's two ends and a measurement of them."""
    pair = wire()
    into = pair.testpmd("server", "rxonly", 1)
    out = pair.testpmd("client", "txonly", 0)

    def measure():
        with Running(into, out):
            time.sleep(0.05)
            return received(into)

    return pair, measure


def test_generator_into_testpmd(cores, wire, report):
    pair, theirs = peers(wire)
    own = wire()
    sink = own.testpmd("server", "rxonly", 1)
    samples = Samples()
    packets = {"1 flow": udp(), "1000 flows": udp(flows=1000), "IMIX": imix()}
    with memif.Client(own.path) as link:
        for _ in range(ROUNDS):
            samples.take("peer", theirs, pair.pids)
            for name, each in packets.items():
                with Running(sink), Generator(link, each, core=0):
                    samples.take(name, lambda: received(sink), own.pids)
    samples.need(ENOUGH)
    for name, goal in (("1 flow", 1.5), ("1000 flows", 1.5)):
        title = f"stamped 64 B, {name}: our generator → testpmd rxonly ÷ testpmd txonly → testpmd rxonly"
        report.at_least(title, samples[name], samples["peer"], "Mpps", goal)
    report.at_most("stamped IMIX: our generator → testpmd rxonly", samples["IMIX"], "Mpps", None)
    assert report.rows[-3].passed
    assert report.rows[-2].passed


def test_testpmd_into_sink(cores, wire, report):
    pair, theirs = peers(wire)
    own = wire()
    samples = Samples()
    with memif.Server(own.path) as link:
        source = own.testpmd("client", "txonly", 0)
        with Running(source):
            link.wait_up(20)

        def ours():
            return Sink(link, core=1).run(WINDOW).mpps

        for _ in range(ROUNDS):
            samples.take("peer", theirs, pair.pids)
            with Running(source):
                samples.take("ours", ours, own.pids)
    samples.need(ENOUGH)
    title = "64 B: testpmd txonly → our sink (counts, looks for stamps) ÷ testpmd txonly → testpmd rxonly"
    report.at_least(title, samples["ours"], samples["peer"], "Mpps", 1.0)
    assert report.rows[-1].passed


c_memcpy = types.ExternalFunction("memcpy", types.int64(types.int64, types.int64, types.int64))


@njit(nogil=True)
def copy_rounds(target, source, rounds):
    """Copy packets into the slots of a ring's memory, all of it `rounds` times, by the C library's memcpy.

    It is the fastest way there is in numba: an assignment of slices is eight times slower here.
    """
    for _ in range(rounds):
        for slot in range(target.shape[0]):
            c_memcpy(np.int64(target[slot].ctypes.data), np.int64(source.ctypes.data), source.size)


def test_generator_into_sink_against_memory(cores, report):
    """Every byte is written by the generator; the sink reads descriptor and stamp, as it does for loss."""
    place = Path(tempfile.mkdtemp(prefix="lb", dir="/tmp"))
    target, source = np.zeros((SLOTS, SLOT), np.uint8), np.arange(SIZE).astype(np.uint8)
    copy_rounds(target, source, 1)
    samples = Samples()

    def copied():
        rounds, began = 0, time.perf_counter()
        while (took := time.perf_counter() - began) < WINDOW:
            copy_rounds(target, source, 20)
            rounds += 20
        return rounds * SLOTS * SIZE / took / 1e9

    with memif.Server(place / "s") as server, memif.Client(place / "s") as client:
        server.wait_up()

        def ours():
            with Sink(server, core=1) as sink:
                Generator(client, udp(size=SIZE), core=0).run(seconds=WINDOW)
                got = sink.report()
            assert got.lost == 0
            return got.bytes / got.seconds / 1e9

        for _ in range(ROUNDS):
            samples.take("ours", ours)
            samples.take("peer", copied)
    shutil.rmtree(place)
    samples.need(ENOUGH)
    title = "1500 B: our generator (writes all bytes) → our sink (reads stamps) ÷ memcpy in numba"
    report.at_least(title, samples["ours"], samples["peer"], "GB/s", 0.5)
    assert report.rows[-1].passed
