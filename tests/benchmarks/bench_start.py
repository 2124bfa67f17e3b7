"""From ``lab.start()`` to the first echo reply."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SAMPLES = 10
GOALS = {"process": 1.5, "docker": 3.0, "glassbox": 4.0}
PROGRAM = Path(__file__).with_name("first_echo.py")


def test_first_echo_comes_soon(engine, report):
    runs = [_measure(engine) for _ in range(SAMPLES)]
    echoes = [run["first_echo_s"] for run in runs]
    report.at_most(f"{engine}: lab.start() to first echo", echoes, "s", GOALS[engine])
    report.at_most(f"{engine}: the same, a second time", _all(runs, "warm_first_echo_s"), "s", GOALS[engine])
    report.at_most(
        f"{engine}: the same, from the first VPP's birth", _all(runs, "birth_to_echo_s"), "s", None
    )
    report.at_most(f"{engine}: import of labs and vpp-papi", _all(runs, "import_s"), "s", None)
    assert all(row.passed for row in report.rows[-4:])


def _measure(engine):
    """Start a lab in a Python of its own, so that nothing is warm but the disk's cache."""
    done = subprocess.run([sys.executable, PROGRAM, engine], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _all(runs, key):
    return [run[key] for run in runs]
