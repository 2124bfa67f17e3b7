from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from labs.errors import NotAvailable
from labs.experiments.kernel_link import ENDS, TAP, TAP_LINES, kernel_link, missing

WHY = missing()


@pytest.mark.skipif(bool(WHY), reason=WHY)
def test_a_program_beside_the_interfaces_sees_these_and_no_others_of_this_machine():
    with kernel_link("abc") as within:
        shown = subprocess.run(
            [*within, "ip", "-o", "link"], capture_output=True, text=True, check=True
        ).stdout
    names = {line.split(":")[1].strip().split("@")[0] for line in shown.splitlines()}
    assert names == {"lo", *ENDS} or names > {"lo", *ENDS}  # a kernel may put its tunnels there, too
    assert not names & {each.name for each in Path("/sys/class/net").iterdir()} - {"lo", "tunl0", "sit0"}


@pytest.mark.skipif(bool(WHY), reason=WHY)
def test_nothing_is_left_of_it():
    with kernel_link("abc") as within:
        anchor = int(within[1].split("=")[1])
        while not (environment := Path(f"/proc/{anchor}/environ").read_bytes()):
            os.kill(anchor, 0)  # it has none in the instant in which it becomes another program
        assert b"VPP_LABS=abc" in environment  # for the reaper
    assert not Path(f"/proc/{anchor}").exists()
    assert not set(ENDS) & {each.name for each in Path("/sys/class/net").iterdir()}


def test_a_kernel_that_refuses_is_told_in_its_words(monkeypatch):
    lines = ["{ echo 'RTNETLINK answers: Operation not permitted'; exit 2; }"]
    assert "RTNETLINK answers: Operation not permitted" in missing(lines)
    with pytest.raises(NotAvailable, match="gives us no link"), kernel_link("abc", lines):
        pass


@pytest.mark.skipif(bool(missing(TAP_LINES)), reason=missing(TAP_LINES))
def test_a_tap_stands_beside_a_program():
    with kernel_link("abc", TAP_LINES) as within:
        shown = subprocess.run(
            [*within, "ip", "-o", "link"], capture_output=True, text=True, check=True
        ).stdout
    assert f" {TAP}: " in shown


def test_a_program_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "needs the program unshare" in missing()
