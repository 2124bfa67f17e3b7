"""The checks of notebook 06: each wrong answer is told from a right one, on live nodes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from run_exercise import run_exercise

from labs.course.catalogue import find_exercise
from labs.course.checks import run_check
from labs.course.model import cells

NODE = find_exercise("06-own-node")
SECRET = find_exercise("06-secret")
INSERT = "insert node guard before ip4-lookup\n"


def answered(exercise, was, now):
    """Run a solution in which `was` is `now`, and return what the check says."""
    assert was in exercise.solution
    return run_exercise(replace(exercise, solution=exercise.solution.replace(was, now)), "solution")[1]


@pytest.mark.engine("glassbox")
@pytest.mark.parametrize(
    ("was", "now", "reason"),
    [
        (INSERT, "show node guard\n", "time to live of 2 still gets through"),
        ("< 10", "< 9", "time to live of 9 still gets through"),
        ("< 10", "<= 10", "time to live of 10 does not get through"),
        ("< 10", "> 0", "no ping is answered at all"),
    ],
)
def test_a_guard_that_errs_is_told_where(was, now, reason):
    result = answered(NODE, was, now)
    assert not result.passed
    assert reason in result.reason


@pytest.mark.engine("glassbox")
def test_a_check_of_the_guard_leaves_nothing_and_can_be_run_again():
    names, result = run_exercise(NODE, "solution", keep_lab=True)
    lab = names["lab"]
    try:
        assert result.passed, result.reason
        assert run_check(NODE, lab).passed
        table = lab["vpp1"].memifs()
        assert [row.id for row in table.sockets] == [0]
        assert not table.interfaces
        assert not (lab.folder / "check.sock").exists()
    finally:
        lab.stop()


def test_a_lab_of_another_engine_is_sent_to_the_box():
    result = run_check(NODE, SimpleNamespace(engine="process"))
    assert not result.passed
    assert "`box`" in result.reason
    assert "the check itself failed" not in result.reason


CALL = 'vault = memif.Client(lab.folder / "vault.sock", id=3, secret="sesame")'
GONE = """\
vault.start(); vault.wait_up(); vault.send(bytes(64)); vault.close()
while lab["vpp1"].memifs().interface("memif6/3").connected: pass"""


WAYS = {
    "nothing sent": (("", ""), "vault.start()", "no packet has come"),
    "wrong secret": (("sesame", "mellon"), "vault.start()", "has no client"),
    "left again": (("", ""), GONE, "has no client"),
    "down": (("memif6/3 up", "memif6/3 down"), "vault.start()", "is down"),
    "another memif": (("id 3 socket-id 6", "id 4 socket-id 6"), "vault.start()", "has no memif6/3"),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_stay_outside_the_vault_has_its_reason(engine, monkeypatch, way):
    monkeypatch.setenv("LABS_ENGINE", engine)
    (was, now), client, reason = WAYS[way]
    server, _ = cells(SECRET.solution)
    server = server.replace(was, now) if was else server
    if way == "another memif":
        server = server.replace("memif6/3", "memif6/4")
    solution = f"{server}\n# %%\nfrom labs import memif\n{CALL}\n{client}\n"
    _, result = run_exercise(replace(SECRET, solution=solution), "solution")
    assert not result.passed
    assert reason in result.reason
