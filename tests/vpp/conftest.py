"""Fixtures for tests of labs.vpp: short directories, another user's eyes, and a real VPP."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from vpp_process import NOBODY, find_vpp, running_vpp, vpp_directory


@pytest.fixture
def short_dir():
    """Make a directory with a path short enough for sockets; pytest's own tmp_path is too long."""
    path = Path(tempfile.mkdtemp(prefix="lv", dir="/tmp"))
    yield path
    path.chmod(0o700)
    shutil.rmtree(path)


@pytest.fixture
def as_another_user():
    """Return a context in which this process is somebody who owns none of the test's files."""

    @contextlib.contextmanager
    def somebody():
        if os.geteuid():
            yield  # tests take their rights away by mode instead
            return
        os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)

    return somebody


@pytest.fixture(scope="session")
def vpp_program():
    program = find_vpp()
    if program is None:
        pytest.skip("no VPP found: set LABS_VPP or install VPP")
    return program


@pytest.fixture(scope="module")
def real_vpp(vpp_program):
    """Start one VPP for the tests of a module."""
    with vpp_directory() as directory, running_vpp(vpp_program, directory) as vpp:
        yield vpp


@pytest.fixture
def own_vpp(vpp_program):
    """Start one VPP for this test alone, which may harm it."""
    with vpp_directory() as directory, running_vpp(vpp_program, directory) as vpp:
        yield vpp


@pytest.fixture
def start_vpp(vpp_program):
    """Return a function that starts VPPs in one directory: start("a", main_core=0) -> RealVpp."""
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(vpp_directory())
        yield lambda name, **changes: stack.enter_context(
            running_vpp(vpp_program, directory, name, **changes)
        )


@pytest.fixture
def eventually():
    """Return a function that waits until a condition holds, and fails if it never does."""

    def wait(condition, seconds=10.0):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it never happened"
            time.sleep(0.02)

    return wait
