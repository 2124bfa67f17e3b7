"""Fixtures for tests of labs.vpp: short directories, another user's eyes, and a real VPP."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from labs.vpp.api import Api
from labs.vpp.cli import Cli
from labs.vpp.startup_conf import StartupConf
from labs.vpp.stats import Stats

_NOBODY = 65534


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
        os.seteuid(_NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)

    return somebody


def find_vpp():
    """Return the vpp program: $LABS_VPP (a file, or its installation), on PATH, or under /opt/vpp."""
    named = os.environ.get("LABS_VPP")
    places = [Path(named), Path(named) / "bin" / "vpp"] if named else []
    on_path = shutil.which("vpp")
    places += [Path(on_path)] if on_path else []
    places.append(Path("/opt/vpp/bin/vpp"))
    return next((place for place in places if place.is_file() and os.access(place, os.X_OK)), None)


@dataclass
class RealVpp:
    """One VPP that a test started, with its three doors."""

    program: Path
    conf: StartupConf
    process: subprocess.Popen
    log: Path

    def __post_init__(self):
        self.cli = Cli(self.conf.cli_socket)
        self.api = Api(self.conf.api_socket, "test")
        self.stats = Stats(self.conf.stats_socket)

    @property
    def pid(self):
        return self.process.pid

    def alive(self):
        return self.process.poll() is None

    def stop(self):
        self.api.close()
        self.cli.close()
        self.stats.close()
        self.process.kill()
        self.process.wait()
        for left in Path("/dev/shm").glob(f"{self.conf.api_prefix}-*"):  # noqa: S108 - where VPP puts them
            left.unlink()


def make_conf(directory, name, **changes):
    """Return a configuration for a VPP whose files all lie in `directory`."""
    values = {
        "runtime_dir": str(directory),
        "cli_socket": f"{directory}/{name}.cli",
        "api_socket": f"{directory}/{name}.api",
        "stats_socket": f"{directory}/{name}.stats",
        "api_prefix": f"lt{os.getpid()}-{directory.name}-{name}",
        "plugins": ("memif", "ping", "gtpu"),
    }
    return StartupConf(**{**values, **changes})


@pytest.fixture(scope="session")
def vpp_program():
    program = find_vpp()
    if program is None:
        pytest.skip("no VPP found: set LABS_VPP or install VPP")
    return program


@contextlib.contextmanager
def running_vpp(program, directory, name="v", **changes):
    """Start one unprivileged VPP, wait until its API answers, and leave nothing of it."""
    conf = make_conf(directory, name, **changes)
    file, log = directory / f"{name}.conf", directory / f"{name}.log"
    file.write_text(conf.render())
    user = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    with log.open("w") as out:
        process = subprocess.Popen(
            [program, "-c", file], stdout=out, stderr=out, stdin=subprocess.DEVNULL, **user
        )
    vpp = RealVpp(program, conf, process, log)
    try:
        vpp.api.connect(deadline=20, alive=vpp.alive)
        yield vpp
    finally:
        vpp.stop()


@contextlib.contextmanager
def vpp_directory():
    path = Path(tempfile.mkdtemp(prefix="lv", dir="/tmp"))
    path.chmod(0o777)  # VPP runs as nobody when the tests run as root
    try:
        yield path
    finally:
        shutil.rmtree(path)


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
