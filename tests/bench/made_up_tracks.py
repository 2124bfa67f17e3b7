"""Tracks that no lab has measured: a minute in which two nodes share a core from 20 s to 35 s."""

from __future__ import annotations

import numpy as np

from labs.bench.tables import Column, Mark, Table

RATES = {"traffic": 20, "cpu": 4, "probe": 4, "ping": 1}
TURNS = ((20.0, "pinning: same core"), (35.0, "pinning: a core each"))


def table(name, columns, times, values):
    values = np.asarray(values, np.float32).reshape(len(times), len(columns))
    return Table(name, tuple(Column(each, each, "") for each in columns), np.asarray(times, float), values)


def wave(times, seed):
    """Return what looks like noise and is the same for the same time, between 0 and 1."""
    return np.modf(np.abs(np.sin(times * 12.9898 + seed * 78.233)) * 43758.5453)[0]


def tables(now, nodes=("vpp1", "vpp2"), cores=(0, 1), span=60.0):
    """Return all tables of the `span` seconds before `now`; nothing is measured from 48 s to 50 s."""
    made = {}
    for name, hertz in RATES.items():
        times = np.arange(np.ceil((now - span) * hertz), np.floor(now * hertz) + 1) / hertz
        second = times % 60
        same = (second > TURNS[0][0]) & (second <= TURNS[1][0])
        columns = _columns(name, times, same, nodes, cores)
        values = np.column_stack(list(columns.values()))
        values[(second > 48) & (second < 50)] = np.nan
        made[name] = table(name, list(columns), times, values)
    return made


def _columns(name, times, same, nodes, cores):
    if name == "traffic":
        sent = np.where(same, 5.0, 12.0) + 0.5 * wave(times, 1)
        received = sent * np.where(same, 0.8, 0.995)
        return {"sent": sent, "received": received, "lost": sent - received, "gbits": received * 0.512}
    if name == "cpu":
        made = {}
        for number, node in enumerate(nodes):
            made[f"{node}_runs"] = np.where(same, 49, 97) + 2 * wave(times, number)
            made[f"{node}_waits"] = 99.5 - made[f"{node}_runs"]
        made |= {f"core{core}": 99 + wave(times, core + 4) for core in cores}
        return {**made, "notebook": 3 + wave(times, 7)}
    if name == "probe":
        p50 = np.where(same, 6300, 2.5) * (1 + 0.1 * wave(times, 3))
        return {
            "probe_p50": p50,
            "probe_p99": 3 * p50,
            "probe_max": p50 * (5 + 5 * wave(times, 6)),
            "probe_lost": 0 * p50,
        }
    p50 = np.where(same, 9000, 72) * (1 + 0.1 * wave(times, 5))
    return {"ping_p50": p50, "ping_max": p50 * (2 + wave(times, 9)), "ping_lost": 0 * p50}


def marks(now):
    """Return the turns of the last two minutes."""
    start = np.floor(now / 60) * 60
    return [
        Mark(base + second, label, ("taskset -a -cp 0 4242",))
        for base in (start - 60, start)
        for second, label in TURNS
        if base + second <= now
    ]
