"""Reading a startup.conf: VPP's own, and what is wrong in one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.errors import LabError
from labs.glassbox.startup import read
from labs.vpp.startup_conf import StartupConf

PLACE = {
    "runtime_dir": "/tmp/r",  # noqa: S108 - nothing is made there
    "cli_socket": "/tmp/r/cli.sock",  # noqa: S108
    "api_socket": "/tmp/r/api.sock",  # noqa: S108
    "stats_socket": "/tmp/r/stats.sock",  # noqa: S108
    "api_prefix": "labs-x",
}
PLAIN = StartupConf(**PLACE).render()


def test_what_vpp_is_started_with_is_understood():
    conf = read(PLAIN)
    assert (conf.runtime_dir, conf.cli_socket) == (Path("/tmp/r"), Path("/tmp/r/cli.sock"))  # noqa: S108
    assert (conf.api_socket, conf.stats_socket) == (Path("/tmp/r/api.sock"), Path("/tmp/r/stats.sock"))  # noqa: S108
    assert (conf.main_core, conf.worker_cores, conf.update_interval) == (None, (), 0.5)


@settings(max_examples=50, deadline=None)
@given(
    cores=st.lists(st.integers(0, 1023), unique=True, min_size=1, max_size=5),
    interval=st.floats(0.01, 3600),
    sleep=st.integers(0, 1_000_000),
    events=st.none() | st.integers(1, 1 << 20),
)
def test_any_configuration_of_ours_is_understood(cores, interval, sleep, events):
    main, *workers = cores
    text = StartupConf(
        **PLACE,
        main_core=main,
        worker_cores=tuple(workers),
        stats_interval=interval,
        poll_sleep_usec=sleep,
        elog_events=events,
        plugins=("memif", "ping"),
    ).render()
    conf = read(text)
    assert (conf.main_core, conf.worker_cores) == (main, tuple(workers))
    assert conf.update_interval == pytest.approx(interval, rel=1e-4)


@pytest.mark.parametrize(("words", "cores"), [("1,3-5", (1, 3, 4, 5)), ("2", (2,)), ("2-2,1", (2, 1))])
def test_lists_of_cores(words, cores):
    assert read(PLAIN + f"cpu {{ main-core 0 corelist-workers {words} }}").worker_cores == cores


@pytest.mark.parametrize(
    "extra",
    [
        "cpu { main-core x }",
        "cpu { main-core -1 }",
        "cpu { corelist-workers 1-x }",
        "cpu { corelist-workers 3-1 }",
        "cpu { corelist-workers -1 }",
        "cpu { corelist-workers 1,,2 }",
        "cpu { main-core 1 corelist-workers 1 }",
        "cpu { main-core 0 corelist-workers 1,1 }",
        "cpu { main-core 1-2 }",
        "cpu { main-core }",
        "cpu { corelist-workers 9999 }",
        "cpu { corelist-workers 0-100000000 }",
        "nonsense { }",
        "nonsense",
        "cpu {",
        "}",
    ],
)
def test_what_is_wrong_is_told_in_words(extra):
    with pytest.raises(LabError):
        read(PLAIN + extra)


@pytest.mark.parametrize("interval", ["x", "nan", "inf", "-1", "0"])
def test_an_interval_that_cannot_be_is_refused(interval):
    with pytest.raises(LabError, match="interval"):
        read(PLAIN.replace("update-interval 0.5", f"update-interval {interval}"))


@pytest.mark.parametrize("section", ["unix", "socksvr", "statseg"])
def test_a_section_that_is_needed_is_missed(section):
    text = (
        PLAIN.replace(f"\n{section} {{", "\nlogging {")
        if section != "unix"
        else PLAIN.replace("unix {", "logging {")
    )
    with pytest.raises(LabError, match=section):
        read(text)


def test_relative_paths_are_refused():
    with pytest.raises(LabError, match="absolute"):
        read(PLAIN.replace("runtime-dir /tmp/r", "runtime-dir here"))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="{} #1", max_size=9) | st.text(alphabet="unixcp{} \n#-1/", max_size=60))
def test_any_text_is_read_or_refused(text):
    with pytest.raises(LabError):
        read(text)
