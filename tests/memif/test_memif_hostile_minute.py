"""Random bytes in the shared rings while traffic runs, on whole links: our two ends live through it."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from memif_loops import SETTLES_WITHIN, eventually

from labs import memif
from labs.memif.errors import MemifError
from labs.memif.open_files import memories_of
from labs.memif.ring import ring_bytes

SECONDS = float(os.environ.get("LABS_LONG_TESTS", "0")) or 5.0
RING = ring_bytes(64, 6)
RINGS = 4 * RING
INDEXES = [
    ring * RING + at for ring in range(4) for at in (0, 4, 5, 6, 7, 64, 65)
]  # cookie, flags, head, tail
PROGRAM = Path(__file__).with_name("hostile_end.py")

pytestmark = pytest.mark.timeout(300 + int(SECONDS) * 2)


def program(role, path, rx_mode):
    return subprocess.Popen(
        [sys.executable, PROGRAM, role, path, rx_mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def rings_of(pid):
    """Map a program's rings, to write into them; None while its link is down."""
    with contextlib.suppress(MemifError, OSError, ValueError):  # closed meanwhile, or not sized yet
        for each in memories_of(pid):
            if "region 0" in each.name:
                with each.path.open("r+b") as file:
                    return np.frombuffer(mmap.mmap(file.fileno(), RINGS), np.uint8)
    return None


def spoil(pid, seconds):
    """Write random bytes into whatever rings the program has, and return in how many connections."""
    noise = np.random.default_rng(20)
    deadline = time.monotonic() + seconds
    connections = 0
    while time.monotonic() < deadline:
        if (rings := rings_of(pid)) is None:
            time.sleep(0.002)
            continue
        connections += 1
        until = time.monotonic() + noise.uniform(0, 0.05)  # some break at once, some later
        while time.monotonic() < until:
            at = noise.integers(0, RINGS, 16)
            at[0] = noise.choice(INDEXES)
            few = at[: noise.integers(1, 17)]
            rings[few] = noise.integers(0, 256, few.size, np.uint8)
        del rings
        time.sleep(0.02)
    return connections


@pytest.mark.parametrize("rx_mode", ["polling", "interrupt"])
def test_random_bytes_in_the_rings_of_a_link_break_neither_end(path, rx_mode, record_testsuite_property):
    ends = {}
    try:
        for role in ("server", "client"):
            ends[role] = program(role, path, rx_mode)
        for each in ends.values():
            assert each.stdout.readline() == "ready\n"
        connections = spoil(ends["client"].pid, SECONDS / 2)
        assert [each.poll() for each in ends.values()] == [None, None]
        told = {}
        for role, each in reversed(ends.items()):
            told[role] = json.loads(each.communicate(timeout=60)[0])
            assert each.returncode == 0
    finally:
        for each in ends.values():
            each.kill()
            each.communicate()
    record_testsuite_property(
        f"hostile {rx_mode}", f"{rx_mode}, {SECONDS / 2:.0f} s, {connections} spoilings: {json.dumps(told)}"
    )
    for each in told.values():
        assert (each["stuck"], each["leaked"], each["threads"]) == (0, 0, 1)
        assert each["packets"] > 100
        assert each["up"] > SECONDS
    assert all(each["met"] for each in told.values())
    assert not path.exists()


def test_a_link_whose_rings_were_spoilt_comes_back_and_carries_packets(path):
    with memif.Server(path) as server, memif.Client(path, retry=0.01, ring_size=64) as client:
        for turn in range(20):
            for link in (server, client):
                link.wait_up()
            memory = client.connection.regions[0].memory
            noise = np.random.default_rng(turn)
            memory[: 2 * RING] = noise.integers(0, 256, 2 * RING, np.uint8)
            deadline = time.monotonic() + SETTLES_WITHIN
            while server.times_up == turn + 1 and time.monotonic() < deadline:
                for link in (server, client):
                    with contextlib.suppress(MemifError):
                        link.send(b"x", timeout=0)
                        link.receive(0.001)
            assert eventually(lambda turn=turn: server.times_up == turn + 2)
        for link in (server, client):
            link.wait_up()
        client.send(b"back")
        received = []
        assert eventually(lambda: received.extend(server.receive(0.1)) or b"back" in received)
