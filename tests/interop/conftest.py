"""The real peers as fixtures, each in a short directory of its own."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from memif_peers import Testpmd, Vpp


@pytest.fixture
def place():
    """Make a directory with a path short enough for sockets."""
    path = Path(tempfile.mkdtemp(prefix="lm", dir="/tmp"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def vpp(place):
    node = Vpp(place)
    yield node
    node.stop()


@pytest.fixture
def testpmd(place):
    if not shutil.which("dpdk-testpmd"):
        pytest.skip("DPDK's testpmd is not here: apt-get install dpdk-dev puts it in place")
    running = []

    def start(*ports, **options):
        running.append(Testpmd(place, *ports, **options))
        return running[-1]

    yield start
    for each in running:
        each.stop()
