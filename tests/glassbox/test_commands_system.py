from __future__ import annotations

import logging
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_pair import pair_of

from labs.errors import NotAvailable
from labs.glassbox.commands.columns import thread_name
from labs.health import check_plugins
from labs.topology import NodeSpec
from labs.vpp.cli_failures import classify
from labs.vpp.parse import parse_plugins, parse_threads, parse_version


@pytest.fixture(scope="module")
def pair():
    with pair_of("a") as one:
        yield one


def test_the_version_says_that_this_is_not_vpp(pair):
    text = pair.do("a", "show version")
    assert text.startswith("glass-box (not VPP) v")
    assert parse_version(text) == "glass-box (not VPP)"
    assert f"{os.getpid()}" in pair.do("a", "show version verbose")


def test_the_plugins_that_a_node_needs_are_there(pair):
    table = parse_plugins(pair.do("a", "show plugins"))
    check_plugins("vpp1", NodeSpec("vpp1").plugins, table)
    assert table.path == "built into the glass box"
    with pytest.raises(NotAvailable, match=r"gtpu_plugin\.so"):
        check_plugins("vpp1", ("memif", "gtpu"), table)


def test_threads_are_those_of_the_kernel(pair):
    (row,) = parse_threads(pair.do("a", "show threads"))
    assert (row.id, row.name, row.lwp, row.type) == (0, "glass_main", os.getpid(), "")
    assert (row.lcore, row.core, row.socket) == (None, None, None)
    assert row.policy == "other (0)"


def test_threads_show_the_cores_of_the_startup_file():
    with pair_of("a", workers=1) as one:
        box = one.boxes["a"]
        box.startup = SimpleNamespace(main_core=0, worker_cores=(0,))
        box.workers = SimpleNamespace(tids=[os.getpid()])
        main, worker = parse_threads(one.do("a", "show threads"))
        assert (main.lcore, worker.lcore) == (0, 0)
        assert (worker.id, worker.name, worker.type) == (1, thread_name(1), "workers")
        topology = Path("/sys/devices/system/cpu/cpu0/topology/core_id")
        if topology.exists():
            assert main.core == int(topology.read_text())


def test_the_columns_of_show_threads_are_vpps(pair):
    assert pair.do("a", "show threads").splitlines()[0] == (
        "ID     Name                Type        LWP     Sched Policy (Priority)  "
        "lcore  Core   Socket State     "
    )


def test_buffers_are_counted(pair):
    head, row = pair.do("a", "show buffers").splitlines()
    assert head == "Pool Name            Index NUMA  Size  Data Size  Total  Avail  Cached   Used  "
    name, *numbers = row.split()
    total, free, _, used = (int(each) for each in numbers[4:])
    assert name == "glass_main"
    assert total == free + used == 4096


def test_memory_is_the_kernels_count(pair):
    text = pair.do("a", "show memory")
    resident = int(next(line for line in text.splitlines() if "resident" in line).split()[1])
    assert resident > 10_000
    assert pair.do("a", "show memory main-heap").splitlines()[0] == text.splitlines()[0]


def test_cpu_and_clock_tell_of_this_machine(pair):
    text = pair.do("a", "show cpu")
    assert float(text.split("Base frequency:")[1].split()[0]) > 0.001
    first, second = (float(pair.do("a", "show clock").split()[2].rstrip(",")) for _ in range(2))
    assert 0 < first < second


def test_echo_gives_the_line_back(pair):
    assert pair.do("a", "echo hello  there") == "hello  there\n"


def test_what_is_noted_is_shown_and_cleared(pair):
    pair.do("a", "clear logging")
    logging.getLogger("labs.glassbox.doors").warning("a client left with %d bytes unread", 7)
    (line,) = pair.do("a", "show log").splitlines()
    assert line.endswith(" warn       glassbox/doors a client left with 7 bytes unread")
    pair.do("a", "clear logging")
    assert pair.do("a", "show logging") == ""


def test_a_file_of_lines_is_run_until_one_is_refused(pair, tmp_path):
    file = tmp_path / "lines"
    file.write_text(
        "# make an interface\ncreate loopback interface instance 40  # with a number\n\n"
        "comment {\n a b\n}\nshow interfce\ncreate loopback interface instance 41\n"
    )
    text = pair.ask("a", f"exec {file}")
    assert text.splitlines() == [
        "loop40",
        "show: unknown input `interfce'",
        "exec: CLI line error: show interfce",
    ]
    assert "loop41" not in pair.do("a", "show interface")
    assert classify(f"exec {file}", text).text.startswith("exec: CLI line error: ")


def test_a_file_that_is_right_says_what_its_lines_say(pair, tmp_path):
    file = tmp_path / "lines"
    file.write_text("echo one\necho two\n")
    assert pair.do("a", f"exec {file}") == "one\ntwo\n"


def test_a_ping_in_a_file_does_not_go_on_for_ever(pair, tmp_path):
    file = tmp_path / "lines"
    file.write_text("ping 10.0.0.1\n")
    assert "a file waits for nothing" in pair.ask("a", f"exec {file}")
    assert pair.boxes["a"].pings == {}


def test_a_file_that_is_not_there_is_refused_as_in_vpp(pair):
    assert (
        pair.refusal("a", "exec /nowhere/x") == "exec: failed to open `/nowhere/x': No such file or directory"
    )
    assert pair.refusal("a", "exec") == "exec: expecting file name"


def test_a_file_that_runs_itself_ends(pair, tmp_path):
    file = tmp_path / "again"
    file.write_text(f"exec {file}\n")
    assert classify(f"exec {file}", pair.ask("a", f"exec {file}")) is not None


@pytest.mark.parametrize("line", ["quit", "q", "exit"])
def test_leaving_prints_nothing(pair, line):
    assert pair.do("a", line) == ""
