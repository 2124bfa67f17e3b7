"""How many packets go through a link and into a node: by the interface counters, and by our own generator."""

from __future__ import annotations

import time

import pytest
from quiet import Samples

from labs import engines, two_vpps
from labs.bench.load import Load
from labs.experiments.own_traffic import OwnTraffic
from labs.kernel import allowed_cores

ROUNDS, ENOUGH = 9, 3
WINDOW = 0.4
SETTLE = 0.3
GOALS = {"64 B": ("Mpps", 10.0), "1500 B": ("Gbit/s", 40.0), "straight in": ("Mpps", 20.0)}
"""A fall below these is a regression, on a machine whose cores are those of the course's own."""


@pytest.mark.parametrize("name", ["process", "glassbox"])
def test_packets_a_second(name, report):
    """In turn: small frames and large ones from node to node, and our generator into the first node."""
    if len(allowed_cores()) < 2:
        pytest.skip("two cores are needed")
    if not (found := engines.find(name).availability()).ok:
        pytest.skip(found.reason)
    lab = two_vpps(f"bench-rates-{name}", engine=name)
    lab.start()
    samples = Samples()
    try:
        lab.place("apart")
        pids = [node.handle.pid for node in lab.nodes.values()]
        measures = {"64 B": small(lab), "1500 B": large(lab), "straight in": straight(lab)}
        for _ in range(ROUNDS):
            for what, measure in measures.items():
                samples.take(what, measure, pids)
    finally:
        lab.stop()
    samples.need(ENOUGH)
    for what, (unit, goal) in GOALS.items():
        report.no_less(f"{name}: {what}", samples[what], unit, goal if name == "process" else None)
    assert all(row.passed for row in report.rows[-len(GOALS) :])


def small(lab):
    return lambda: through(lab, 64)["packets"] / 1e6


def large(lab):
    return lambda: 8 * through(lab, 1500)["bytes"] / 1e9


def through(lab, size):
    """Return packets and bytes a second that the last node receives, flat out."""
    lab["vpp2"].rx_mode("polling")
    load = Load(lab)
    load.size, load.rate = size, None
    load.start()
    try:
        time.sleep(SETTLE)

        def counts():
            counter = lab["vpp2"].counters()["memif0/0"]
            return {"packets": counter.rx_packets, "bytes": counter.rx_bytes}

        before, began = counts(), time.monotonic()
        time.sleep(WINDOW)
        after, seconds = counts(), time.monotonic() - began
    finally:
        load.stop()
    return {each: (after[each] - before[each]) / seconds for each in before}


def straight(lab):
    """Return what measures how many packets of our generator the first node takes, by its own counter."""

    def measure():
        lab["vpp2"].rx_mode("interrupt")  # our generator needs its core
        with OwnTraffic(lab.folder, lab["vpp1"]) as own:
            took = own.straight_in(WINDOW)
        assert took["sent"] == pytest.approx(took["received"], rel=0.01)
        return took["received"] / 1e6

    return measure
