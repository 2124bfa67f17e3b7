"""Recordings that were never measured, for tests of what shows them."""

from __future__ import annotations

import math

import numpy as np

from labs import drawing
from labs.bench.recording import Recorder
from labs.bench.tables import Column
from labs.quality import Quality, Reason
from labs.views import End, LabView, NodeView

TRACKS = {
    "probe": {"probe_p50": "µs", "probe_p99": "µs", "probe_max": "µs", "probe_lost": "%"},
    "ping": {"ping_p50": "µs", "ping_max": "µs", "ping_lost": "%"},
    "traffic": {"sent": "Mpps", "received": "Mpps", "lost": "Mpps", "gbits": "Gbit/s"},
    "links": {"link0_forth": "Mpps", "link0_back": "Mpps"},
    "cpu": {
        **{f"{node}_{what}": "%" for node in ("vpp1", "vpp2") for what in ("runs", "waits")},
        **dict.fromkeys(("core0", "core1", "notebook"), "%"),
    },
}
RATES = {"probe": 4, "ping": 1, "traffic": 20, "links": 20, "cpu": 4}
FACTS = {
    "engine": "process",
    "data plane": "vpp v26.06-release",
    "labs": "0.1.0",
    "machine": {"cpu": "a processor", "cores": (0, 1), "virtual": True, "cpu_quota": None},
    "nodes": ["vpp1", "vpp2"],
    "cores asked": {"vpp1": [0], "vpp2": [1]},
    "pinning": "apart",
    "rx-mode": "polling",
    "frame size": 64,
    "offered rate": 2.0,
    "ring size": 1024,
    "traffic": "on",
}


def picture():
    """Return a lab of two nodes as it is drawn."""

    def end(role, address):
        return End("memif.sock", 0, "memif0/0", role, address, connected=True)

    nodes = (
        NodeView("vpp1", (0,), pinned=True, ends=(end("server", "10.10.2.1/24"),)),
        NodeView("vpp2", (1,), pinned=True, ends=(end("client", "10.10.2.2/24"),)),
    )
    return drawing.svg(LabView("two: vpp v26.06-release, engine process", nodes))


def bench(seconds=90, seed=4):
    """Return a recording in which both nodes were on one core for a while, with a gap of three seconds."""
    rng = np.random.default_rng(seed)
    recorder = Recorder(dict(FACTS))
    recorder.picture = picture()
    recorder.quality = Quality(
        (Reason("This is a virtual machine.", "Its host may run something else at any time."),)
    )
    for name, columns in TRACKS.items():
        track = recorder.add_track(
            name, [Column(c, c.replace("_", " "), unit) for c, unit in columns.items()]
        )
        for t in np.arange(0, seconds, 1 / RATES[name]):
            gap = name == "probe" and 0.45 < t / seconds < 0.48
            track.append(t, [math.nan] * len(columns) if gap else _row(name, t, seconds, rng))
    recorder.mark("traffic on", ["vppctl -s cli.sock packet-generator enable-stream bench"], 0.1 * seconds)
    recorder.mark(
        "pinning: all nodes on one core", [f"taskset -cp 0 {n}" for n in (4711, 4712)], 0.28 * seconds
    )
    recorder.mark("kept as A", (), 0.67 * seconds)
    recorder.mark("pinning: a core each", ["taskset -cp 0 4711", "taskset -cp 1 4712"], 0.69 * seconds)
    return recorder.snapshot()


def _row(name, t, seconds, rng):
    same = 0.28 <= t / seconds < 0.69
    wide = rng.lognormal(0, 0.08)
    match name:
        case "probe":
            p50 = (8000 if same else 17) * wide
            return [p50, 1.8 * p50, 3 * p50 * rng.lognormal(0, 0.3), 0]
        case "ping":
            p50 = (12000 if same else 80) * wide
            return [p50, 2.5 * p50, 0]
        case "cpu":
            waits = 49 if same else 1
            return [98 - waits, waits, 99 - waits, waits, 100, 3 if same else 100, 2 * wide]
        case _:
            sent = 2 * rng.normal(1, 0.01) if t > 0.1 * seconds else 0
            got = sent * (0.42 if same else 1)
            return [sent, got, sent - got, got / 2][: len(TRACKS[name])]
