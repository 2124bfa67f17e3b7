"""Starting a real VPP for tests: one unprivileged process, all of whose files lie in one directory."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from labs.vpp.api import Api
from labs.vpp.cli import Cli
from labs.vpp.startup_conf import StartupConf
from labs.vpp.stats import Stats

NOBODY = 65534


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


@contextlib.contextmanager
def running_vpp(program, directory, name="v", **changes):
    """Start one unprivileged VPP, wait until its API answers, and leave nothing of it."""
    conf = make_conf(directory, name, **changes)
    file, log = directory / f"{name}.conf", directory / f"{name}.log"
    file.write_text(conf.render())
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
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
