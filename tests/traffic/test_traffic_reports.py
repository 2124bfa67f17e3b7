"""Reports: figures, and the words for them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from labs import traffic
from labs.traffic.reports import FLOW, Delay, GeneratorReport, SinkReport


def flows(*rows):
    return np.array([tuple(row) for row in rows], FLOW)


def test_rates_are_packets_and_bits_over_seconds():
    report = GeneratorReport(packets=3_000_000, bytes=192_000_000, seconds=1.5)
    assert report.mpps == pytest.approx(2.0)
    assert report.gbit_per_s == pytest.approx(1.024)
    assert report.summary().splitlines()[0] == "sent 3,000,000 packets in 1.5 s: 2 Mpps, 1.024 Gbit/s"


def test_no_time_is_no_rate():
    assert SinkReport(packets=1, bytes=64, seconds=0.0).mpps == 0.0


@pytest.mark.parametrize(("missed", "reached"), [(0, True), (9, True), (11, False)])
def test_a_rate_is_reached_to_a_thousandth(missed, reached):
    report = GeneratorReport(packets=10_000 - missed, bytes=1, seconds=1.0, rate=10_000.0, missed=missed)
    assert report.reached == reached
    assert ("was not reached" in report.summary()) != reached


def test_flat_out_there_is_no_rate_to_miss():
    report = GeneratorReport(packets=1, bytes=64, seconds=1.0, full=1234)
    assert report.reached
    assert "rate" not in report.summary()
    assert "ring full 1,234 times" in report.summary()


def test_the_sinks_totals_are_those_of_all_flows():
    report = SinkReport(
        packets=9, bytes=1, seconds=1.0, per_flow=flows((5, 320, 2, 1, 1), (4, 256, 3, 0, 0)), other=7
    )
    assert (report.lost, report.reordered, report.duplicates) == (5, 1, 1)
    assert "5 lost, 1 reordered, 1 duplicate, 7 without a stamp" in report.summary()


def test_the_sender_knows_of_losses_at_the_end():
    sent = GeneratorReport(packets=12, bytes=1, seconds=1.0, per_flow=np.array([6, 6]))
    received = SinkReport(packets=9, bytes=1, seconds=1.0, per_flow=flows((5, 1, 0, 0, 1), (4, 1, 0, 0, 0)))
    assert received.lost == 0
    assert received.lost_of(sent) == 4


def test_delays_have_units():
    report = SinkReport(packets=1, bytes=1, seconds=1.0, delay=Delay(2.5e-7, 0.0035, 2.0, 10))
    assert "delay 0.25 µs least, 3.5 ms mean, 2 s most, of 10 packets" in report.summary()


def test_a_report_prints_as_its_summary():
    report = GeneratorReport(packets=1, bytes=64, seconds=1.0, ended="It ended early.")
    assert str(report) == report.summary()
    assert report.summary().endswith("It ended early.")


@pytest.mark.parametrize("name", traffic.__all__)
def test_all_that_is_promised_is_there(name):
    assert getattr(traffic, name) is not None


def test_a_name_there_is_not_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = traffic.nothing


def test_importing_the_room_does_not_load_numba():
    code = "import sys, labs.traffic; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_warming_up_tells_each_kernel():
    told = []
    assert traffic.warm_up(lambda done, total, name: told.append((done, total, name))) >= 0
    names = [name for _, _, name in told]
    assert {"generate", "absorb"} <= set(names)
    assert names[-1] == ""
    assert [done for done, _, _ in told] == list(range(len(told)))
    assert {total for _, total, _ in told} == {len(told) - 1}


def test_a_warm_kernel_is_not_compiled_again_for_a_run():
    from labs.traffic.absorb import absorb  # noqa: PLC0415
    from labs.traffic.generate import generate  # noqa: PLC0415

    traffic.warm_up()
    assert (len(generate.signatures), len(absorb.signatures)) == (1, 1)
