"""What tests of the data plane share: a box with three wires, made once a module."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from glassbox_bench import Bench
from glassbox_running import Running, sleep


@pytest.fixture(scope="module")
def folder():
    """Return where sockets may be: their names have to be short."""
    path = Path(tempfile.mkdtemp(prefix="lg", dir="/tmp"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def made(folder):
    """Make a box with three wires in subnets 10.0.N.0/24; 20.0.0.0/8 lies behind the second."""
    bench = Bench(folder)
    for number in range(3):
        wire = bench.wire(number, f"10.0.{number}.1/24")
        bench.neighbour(wire, f"10.0.{number}.2")
    yield bench
    bench.close()


@pytest.fixture
def bench(made):
    """Lend a module's box to a test, and see that it has lost no packet's memory."""
    for each in made.wires:
        each.received()
    yield made
    made.turn(2)
    made.check()
    for each in made.wires:
        each.received()


@pytest.fixture
def place(folder):
    """Return a directory of a test's own."""
    return Path(tempfile.mkdtemp(dir=folder))


@pytest.fixture
def running(place):
    """Run a box with two wires; what is sent into the first comes out of the second."""
    bench = Bench(place)
    for number in range(2):
        wire = bench.wire(number, f"10.0.{number}.1/24", retry=1.5)
        bench.neighbour(wire, f"10.0.{number}.2")
    with Running(bench.box) as running:
        running.bench = bench
        sleep(running)
        yield running
    bench.turn(2)
    bench.check()
    bench.close()
