"""What tests of labs.memif share: sockets with short paths, pairs of links, and a look at open files."""

from __future__ import annotations

import gc
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from memif_loops import eventually

from labs import memif


@pytest.fixture
def short_dir():
    path = Path(tempfile.mkdtemp(prefix="lm", dir="/tmp"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def path(short_dir):
    """Return where a server may listen."""
    return short_dir / "memif.sock"


@pytest.fixture
def pair(path):
    """Connect a server and a client with the same options; the server first."""
    made = []

    def connect(**options):
        server = memif.Server(path, **options)
        server.start()
        made.append(server)
        client = memif.Client(path, **options)
        client.start()
        made.append(client)
        client.wait_up()
        return server.wait_up(), client

    yield connect
    for each in reversed(made):
        each.close()


def open_files():
    """Count what this process has open, without what pytest or numba may open and close at will."""
    found = []
    for each in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(each.readlink()))
        except FileNotFoundError:
            continue  # the directory's own
    return Counter(name for name in found if any(kind in name for kind in ("memfd", "eventfd", "socket:")))


@pytest.fixture
def no_leaks():
    """See that every descriptor that the test opened is closed again, soon after its links are."""
    before = open_files()
    yield
    if open_files() - before:  # only then: collecting takes longer than most tests
        assert eventually(lambda: gc.collect() >= 0 and not open_files() - before), open_files() - before
