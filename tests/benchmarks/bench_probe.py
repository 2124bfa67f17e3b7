"""Two instruments on one node: VPP's own ping and our probe on the wire, a core each, in turns."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from statistics import median

import pytest
from quiet import Samples

from labs.kernel import allowed_cores
from labs.stock import two_vpps
from labs.traffic.floor import measure

pytestmark = [
    pytest.mark.engine("process"),
    pytest.mark.timeout(600),
    pytest.mark.skipif(len(allowed_cores()) < 2, reason="this session may use one core only"),
]
ROUNDS = 9
TRIES = 4  # of each window, where others use the processors
ENOUGH = 3  # undisturbed windows
SECONDS = 0.3
RATIO = 5.0
"""The probe's median is to be below a fifth of the ping's."""


@pytest.fixture
def lab():
    lab = two_vpps("bench-probe", engine="process")
    lab.start()
    yield lab
    lab.stop()


@contextlib.contextmanager
def frozen(node):
    """Stop a node for a while, so that its core is the probe's."""
    os.kill(node.handle.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(node.handle.pid, signal.SIGCONT)


def ping_us(lab):
    ping = lab.ping("vpp1", "vpp2", count=20, interval=0.02)
    return ping.p50 * 1e3 if ping.received else float("inf")


def probe_us(lab, probe):
    with frozen(lab["vpp1"]):
        return probe.run(SECONDS, floor=False).p50


def loop_us(lab, probe):
    """Measure the same way by a plain loop in Python over the link's own calls."""
    port = probe._ends()[0]
    measurement = probe.start(0.01, 1e-3, floor=False)
    packet = measurement.wire.request.frame(7).tobytes()
    measurement.result()
    times = []
    with frozen(lab["vpp1"]):
        end = time.perf_counter() + SECONDS
        while (began := time.perf_counter()) < end:
            port.link.send_burst([packet])
            while not len(port.link.receive_burst()):
                pass
            times.append((time.perf_counter() - began) * 1e6)
    return median(times)


def in_turns(lab, mode):
    for node in lab.nodes.values():
        node.rx_mode(mode)
    probe = lab.probe("vpp2", wait="poll", core=lab["vpp1"].cores()[0])
    pids = [node.handle.pid for node in lab.nodes.values()]
    samples = Samples()
    for _ in range(ROUNDS):
        samples.take("ping", lambda: ping_us(lab), pids, TRIES)
        samples.take("probe", lambda: probe_us(lab, probe), pids, TRIES)
        samples.take("loop", lambda: loop_us(lab, probe), pids, TRIES)
    samples.need(ENOUGH)
    return samples


def test_the_probe_sees_less_than_vpps_own_ping(lab, report):
    samples = in_turns(lab, "polling")
    title = "polling VPP, a core each: VPP's own ping p50 ÷ probe p50 (5: the probe's is a fifth)"
    report.at_least(title, samples["ping"], samples["probe"], "µs", RATIO)
    report.at_most("the same, a plain Python loop over the link: p50", samples["loop"], "µs", None)
    floors = [measure().p50_us for _ in range(ROUNDS)]
    report.at_most("the probe's own floor: p50", floors, "µs", None)
    assert report.rows[-3].passed
    assert median(floors) < median(samples["probe"]) <= median(samples["loop"])


def test_the_probe_sees_less_of_a_vpp_that_sleeps(lab, report):
    """VPP's ping waits for the next turn of a loop that sleeps; the wire does not."""
    samples = in_turns(lab, "interrupt")
    title = "VPP in interrupt mode: VPP's own ping p50 ÷ probe p50"
    report.at_least(title, samples["ping"], samples["probe"], "µs", RATIO)
    assert report.rows[-1].passed
