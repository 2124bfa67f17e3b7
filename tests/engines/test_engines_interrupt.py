from __future__ import annotations

import json

import pytest
from owners import python, read_until

# Starts labs, and is interrupted after each of some delays, as by Ctrl-C or a notebook's stop button.
INTERRUPTED = """
    import contextlib, json, signal, sys, time
    import psutil
    from labs import LabError, two_vpps
    from labs.engines import rundir

    def attempt(delay):
        lab = two_vpps("cut", engine=sys.argv[1])
        told = ""
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            try:
                lab.start()
            except LabError as error:
                told = error.message
            if not told:
                time.sleep(delay + 0.2)  # the signal is still to come
        except KeyboardInterrupt:  # it had started before
            pass
        lab.stop()
        return told

    def left():
        children = [f"child {each.pid} {each.status()}" for each in psutil.Process().children()]
        files = [each.name for each in rundir.base().glob("*") if each.name == "cut" or "draft" in each.name]
        return children + files + containers()

    def containers():
        if sys.argv[1] != "docker":
            return []
        from labs.engines.docker_daemon import connect
        with contextlib.closing(connect()) as client:
            there = client.containers.list(all=True, ignore_removed=True)
            return [each.name for each in there if each.name.startswith("cut-")]

    signal.signal(signal.SIGALRM, signal.default_int_handler)
    lab = two_vpps("cut", engine=sys.argv[1])
    lab.start()  # all is imported now
    lab.stop()
    results = [(delay, attempt(delay), left()) for delay in json.loads(sys.argv[2])]
    print("results", json.dumps(results), flush=True)
"""

DELAYS = {
    "process": [0.002, 0.004, 0.006, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.1, 0.2, 0.3],
    "docker": [0.002, 0.01, 0.02, 0.04, 0.07, 0.1, 0.2, 0.4, 0.6, 0.8],
    "glassbox": [0.002, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0],
}


@pytest.fixture
def results(engine):
    """Return, for each delay, what the interrupted start said and what it left."""
    with python(INTERRUPTED, engine, json.dumps(DELAYS[engine])) as child:
        return json.loads(read_until(child, "results")[-1].removeprefix("results "))


def test_a_start_that_is_interrupted_says_so_and_leaves_nothing(results, engine):
    assert {told for _, told, _ in results} <= {"", "The start was interrupted."}
    assert sum(bool(told) for _, told, _ in results) >= len(DELAYS[engine]) // 2
    assert [(delay, left) for delay, _, left in results if left] == []
