"""What tests of labs.traffic share: pairs of links, and both ends of one ring."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "memif"))
from memif_loops import loop

from labs import memif


@pytest.fixture
def pair():
    """Connect a server and a client with the same options, and return both."""
    place = Path(tempfile.mkdtemp(prefix="lt", dir="/tmp"))
    made = []

    def connect(**options):
        path = place / f"{len(made)}.sock"
        server = memif.Server(path, **{"ring_size": 1024, **options})
        made.append(server)
        server.start()
        client = memif.Client(path, **options)
        made.append(client)
        client.start()
        return server.wait_up(), client.wait_up()

    yield connect
    for each in reversed(made):
        each.close()
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(params=["s2m", "m2s"])
def ring(request):
    """Make both ends of a ring, in each direction."""
    made = []

    def make(**options):
        made.append(loop(request.param, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
