from __future__ import annotations

import json
from dataclasses import replace

import pytest

from labs import checkup
from labs.checkup import Finding, Report, doctor
from labs.engines import rundir


@pytest.fixture
def no_engine(monkeypatch):
    monkeypatch.setenv("LABS_VPP", "/nonexistent/vpp")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")


def by_name(report):
    return {finding.what: finding for finding in report.findings}


def test_without_an_engine_the_machine_is_not_ready_and_each_hint_says_what_to_do(no_engine):
    report = doctor()
    found = by_name(report)
    assert not report.ready
    for engine in ("engine docker", "engine process"):
        assert found[engine].state == "missing"
        assert found[engine].hint
    assert "engine chosen" not in found
    assert "cannot run the labs yet" in str(report)


def test_one_engine_is_enough(engine, monkeypatch):
    other = {"docker": ("LABS_VPP", "/nonexistent/vpp"), "process": ("DOCKER_HOST", "unix:///nonexistent")}
    monkeypatch.setenv(*other[engine])
    report = doctor()
    found = by_name(report)
    assert report.ready, str(report)
    assert found["engine chosen"].found.startswith(engine)
    assert sorted(each.state for each in (found["engine docker"], found["engine process"])) == ["note", "ok"]


def test_too_little_memory_is_found(monkeypatch):
    here = checkup.machine()
    monkeypatch.setattr(checkup, "machine", lambda: replace(here, available_mb=10))
    assert by_name(doctor())["memory"].state == "missing"


def test_one_core_is_a_note_not_a_fault(monkeypatch):
    here = checkup.machine()
    monkeypatch.setattr(checkup, "machine", lambda: replace(here, cores=(0,), physical=1))
    assert by_name(doctor())["cores"].state == "note"


def test_a_quota_below_the_cores_is_named(monkeypatch):
    here = checkup.machine()
    monkeypatch.setattr(checkup, "machine", lambda: replace(here, cores=(0, 1), cpu_quota=0.5))
    finding = by_name(doctor())["cores"]
    assert finding.state == "note"
    assert "0.5" in finding.found


def test_a_run_directory_that_is_too_long_is_found(monkeypatch, tmp_path):
    monkeypatch.setenv("LABS_RUN_DIR", str(tmp_path / ("x" * 90)))
    finding = by_name(doctor())["run directory"]
    assert finding.state == "missing"
    assert str(rundir.LONGEST_SOCKET) in finding.found


def test_a_missing_widget_package_is_named(monkeypatch):
    monkeypatch.setattr(checkup, "_WIDGETS", ("ipywidgets", "no-such-package"))
    finding = by_name(doctor())["widgets"]
    assert finding.state == "missing"
    assert "no-such-package" in finding.found
    assert "ipywidgets," not in finding.found


def test_the_html_escapes_what_it_shows():
    report = Report((Finding("a<b", "ok", "<script>", "x & y"),))
    page = report._repr_html_()
    assert "<script>" not in page
    assert "a&lt;b" in page
    assert "x &amp; y" in page


def test_the_report_is_json(no_engine):
    record = json.loads(json.dumps(doctor().to_dict()))
    assert record["ready"] is False
    assert {"what", "state", "found", "hint"} == set(record["findings"][0])
