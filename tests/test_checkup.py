from __future__ import annotations

import json
from dataclasses import replace

import pytest

from labs import checkup
from labs.checkup import Finding, Report, doctor
from labs.engines import rundir


@pytest.fixture
def no_vpp(monkeypatch):
    monkeypatch.setenv("LABS_VPP", "/nonexistent/vpp")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")


@pytest.fixture
def no_engine(no_vpp, monkeypatch):
    monkeypatch.setattr("labs.engines.glassbox.platform.machine", lambda: "sparc64")


def by_name(report):
    return {finding.what: finding for finding in report.findings}


def test_without_an_engine_the_machine_is_not_ready_and_each_hint_says_what_to_do(no_engine):
    report = doctor()
    found = by_name(report)
    assert not report.ready
    for engine in ("engine docker", "engine process", "engine glassbox"):
        assert found[engine].state == "missing"
        assert found[engine].hint
    assert "engine chosen" not in found
    assert "cannot run the labs yet" in str(report)


def test_without_vpp_the_glass_box_is_enough_and_said_to_be_what_it_is(no_vpp):
    report = doctor()
    found = by_name(report)
    assert report.ready, str(report)
    assert "not VPP" in found["engine glassbox"].found
    assert found["engine chosen"].found.startswith("glassbox")
    assert {found["engine docker"].state, found["engine process"].state} == {"note"}


def test_one_engine_is_enough(engine, monkeypatch):
    if engine != "docker":
        monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent")
    if engine == "glassbox":
        monkeypatch.setenv("LABS_VPP", "/nonexistent/vpp")
    report = doctor()
    assert report.ready, str(report)
    assert by_name(report)["engine chosen"].found.startswith(engine)


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


@pytest.mark.parametrize(
    ("absent", "state"),
    [
        ((), "ok"),
        (("ipykernel", "jupyterlab"), "note"),
        (("ipykernel",), "missing"),
        (("plotly",), "missing"),
    ],
)
def test_a_kernel_is_missing_only_where_notebooks_are_to_be_opened(monkeypatch, absent, state):
    monkeypatch.setattr(checkup, "_version_of", lambda package: "" if package in absent else "1.0")
    finding = by_name(doctor())["widgets"]
    assert finding.state == state
    assert bool(finding.hint) == bool(absent)
    assert all(package in finding.found for package in absent)


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
