"""What all tests share: the engines, directories of their own, and a look for what they left behind."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
from long_tests import ENGINES, NOT_IN_DOCKER, missing, not_in_docker

HERE = Path(__file__).parent
SHM = Path("/dev/shm")  # noqa: S108 - where VPP puts its files
SWEPT_WITHIN = 5.0  # seconds; a lab's reaper needs up to 3 after its kernel was killed


def engine_of(item):
    """Return the engine that a test runs on, from the fixture `engine` or the marker; None for no engine."""
    marker = item.get_closest_marker("engine")
    if marker:
        return marker.args[0]
    return getattr(item, "callspec", None) and item.callspec.params.get("engine")


@pytest.fixture(scope="session", params=ENGINES)
def engine(request):
    """Run a test once on each engine; it is skipped, with the reason, where one is missing."""
    return request.param


def pytest_configure(config):
    config.addinivalue_line("markers", "engine(name): the test runs on that engine only")
    config.addinivalue_line("markers", "vpp: the test is about VPP, and so not for the glass box")


def pytest_collection_modifyitems(config, items):
    """Leave out what says nothing of the glass box: VPP's own words, plugins and IPv6."""
    others = [item for item in items if item.get_closest_marker("vpp") and engine_of(item) == "glassbox"]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]


def pytest_itemcollected(item):
    if name := engine_of(item):
        item.user_properties.append(("engine", name))


def pytest_runtest_setup(item):
    name = engine_of(item)
    if name and (reason := missing(name)):
        pytest.skip(reason)
    file = item.path.relative_to(HERE).as_posix() if item.path.is_relative_to(HERE) else ""
    if file in NOT_IN_DOCKER:
        not_in_docker(name)


def pytest_terminal_summary(terminalreporter):
    counts = {name: Counter() for name in ENGINES}
    reasons = {name: set() for name in ENGINES}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, ()):
            name = dict(getattr(report, "user_properties", ())).get("engine")
            if name in counts:
                counts[name][outcome] += 1
                if outcome == "skipped":
                    reasons[name].add(report.longrepr[2].removeprefix("Skipped: "))
    terminalreporter.section("engines")
    for name, count in counts.items():
        told = ", ".join(f"{count[each]} {each}" for each in count) or "no test"
        terminalreporter.line(
            f"{name:8} {told}" + "".join(f"\n         {each}" for each in sorted(reasons[name]))
        )


def in_use(path):
    """Return whether a living process has a file of /dev/shm mapped: then it is another session's lab."""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            if str(path) in maps.read_text(encoding="utf-8"):
                return True
    return False


def strays(place, shm_before):
    """Return what of this session's labs still runs or lies about."""
    left = [str(path) for path in SHM.glob("labs-*") if path not in shm_before and not in_use(path)]
    for process in psutil.process_iter(["pid", "cmdline"]):
        line = " ".join(process.info["cmdline"] or ())
        if place in line:
            left.append(f"process {process.info['pid']}: {line}")
    if not missing("docker"):
        from labs.engines.docker_daemon import connect  # noqa: PLC0415 - only where there is Docker

        containers = connect().containers.list(all=True, ignore_removed=True)
        left += [f"container {each.name}" for each in containers if place in str(each.attrs["Mounts"])]
    return left


@pytest.fixture(scope="session", autouse=True)
def own_directories():
    """Keep labs, runs and progress apart from the user's own, and see that no lab survives the session."""
    place = tempfile.mkdtemp(prefix="labs-t-", dir="/tmp")  # a socket's path must be short
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", place)
        patch.setenv("LABS_PROGRESS", f"{place}/progress.json")
        patch.setenv("LABS_RUNS", f"{place}/runs")
        for name in ("LABS_RUN_DIR", "LABS_ENGINE"):
            patch.delenv(name, raising=False)
        shm_before = set(SHM.glob("labs-*"))
        yield Path(place)
        deadline = time.monotonic() + SWEPT_WITHIN
        while (left := strays(place, shm_before)) and time.monotonic() < deadline:
            time.sleep(0.1)
    shutil.rmtree(place, ignore_errors=True)
    assert not left, "these survived the tests:\n" + "\n".join(left)
