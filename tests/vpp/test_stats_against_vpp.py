"""The statistics reader and the parsers against a real VPP: two means that must agree."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from vpp_process import running_vpp, vpp_directory

from labs.vpp.parse import (
    parse_addresses,
    parse_interfaces,
    parse_memif,
    parse_runtime,
    parse_rx_placement,
    parse_threads,
)
from labs.vpp.sockets import DoorError
from labs.vpp.stats import Stats

pytestmark = pytest.mark.engine("process")

LINK = """\
create interface memif id 0 {role}
set interface state memif0/0 up
set interface ip address memif0/0 10.10.2.{host}/24
"""


@pytest.fixture(scope="module")
def pair(vpp_program):
    """Two VPPs with a memif between them, and a few packets over it."""
    with (
        vpp_directory() as directory,
        running_vpp(vpp_program, directory, "a") as one,
        running_vpp(vpp_program, directory, "b") as two,
    ):
        for vpp, role, host in ((one, "master", 1), (two, "slave", 2)):
            list(vpp.cli.run_script(LINK.format(role=role, host=host)))
        end = time.monotonic() + 20
        while not parse_memif(one.cli.run("show memif")).interface("memif0/0").connected:
            assert time.monotonic() < end
            time.sleep(0.02)
        one.cli.run("ping 10.10.2.2 repeat 5 interval 0.05")
        yield one, two


def test_counters_are_those_of_show_interface(pair):
    for vpp in pair:
        shown = {row.name: row.counters for row in parse_interfaces(vpp.cli.run("show interface"))}
        counted = vpp.stats.counters()
        assert set(counted) == set(shown)
        for name, counters in shown.items():
            assert counters.get("rx packets", 0) == counted[name].rx_packets
            assert counters.get("rx bytes", 0) == counted[name].rx_bytes
            assert counters.get("tx packets", 0) == counted[name].tx_packets
            assert counters.get("tx bytes", 0) == counted[name].tx_bytes
            assert counters.get("drops", 0) == counted[name].drops
            assert counters.get("tx-error", 0) == counted[name].tx_errors
        assert counted["memif0/0"].rx_packets >= 5


def test_errors_are_those_of_show_errors(pair):
    for vpp in pair:
        shown = [line.split() for line in vpp.cli.run("show errors").splitlines()[1:]]
        counted = vpp.stats.errors()
        assert sorted(int(words[0]) for words in shown) == sorted(counted.values())
        assert all("\0" not in name and name.isascii() for name in counted)
        assert {words[1] for words in shown} == {
            name.split("/")[2] for name in counted if name.count("/") == 3
        }


def test_node_counters_are_those_of_show_runtime(pair, eventually):
    one, _ = pair
    beat = one.stats.heartbeat()
    eventually(lambda: one.stats.heartbeat() > beat)
    counted = one.stats.node_counters()
    (thread,) = parse_runtime(one.cli.run("show runtime"))
    for node in thread.nodes:
        if node.name in ("ip4-icmp-echo-reply", "ip4-glean", "arp-reply"):
            assert (counted[node.name].calls, counted[node.name].vectors) == (node.calls, node.vectors)
    assert counted["ip4-icmp-echo-reply"].vectors >= 4


def test_no_row_of_a_real_answer_is_lost(pair):
    one, _ = pair
    text = one.cli.run("show runtime verbose")
    rows = [line for line in text.splitlines() if line[-3:-2] == "." and "loops/sec" not in line]
    (thread,) = parse_runtime(text)
    assert len(thread.nodes) == len(rows) > 300
    assert len(parse_interfaces(one.cli.run("show interface"))) == 2
    assert parse_addresses(one.cli.run("show interface address")) == {
        "local0": [],
        "memif0/0": ["10.10.2.1/24"],
    }


def test_threads_are_the_kernels(pair):
    one, _ = pair
    (main,) = parse_threads(one.cli.run("show threads"))
    assert (main.id, main.name, main.lwp) == (0, "vpp_main", one.pid)


def test_a_memif_has_two_sides(pair):
    states = [parse_memif(vpp.cli.run("show memif")).interface("memif0/0") for vpp in pair]
    server, client = states
    assert (server.role, client.role) == ("server", "client")
    assert server.remote_interface == client.remote_interface == "memif0/0"
    assert [len(state.rings) for state in states] == [2, 2]
    by_direction = [{ring.direction: ring for ring in state.rings} for state in states]
    for direction in ("slave-to-master", "master-to-slave"):
        ours, theirs = (rings[direction] for rings in by_direction)
        assert (ours.size, ours.offset, ours.region) == (theirs.size, theirs.offset, theirs.region)


def test_the_rx_mode_is_read_back(pair):
    one, _ = pair
    for mode in ("interrupt", "adaptive", "polling"):
        one.cli.run(f"set interface rx-mode memif0/0 {mode}")
        (queue,) = parse_rx_placement(one.cli.run("show interface rx-placement"))
        assert (queue.interface, queue.mode, queue.node) == ("memif0/0", mode, "memif-input")


def test_single_values_are_sane(pair):
    stats = pair[0].stats
    assert abs(stats.scalar("/sys/boottime") - time.time()) < 3600
    assert stats.scalar("/sys/num_worker_threads") == 0
    assert stats.vector_rate() >= 0


def test_an_interface_made_and_deleted_shows_at_once(real_vpp):
    before = set(real_vpp.stats.counters())
    name = real_vpp.cli.run("create loopback interface")
    assert set(real_vpp.stats.counters()) == before | {name}
    real_vpp.cli.run(f"delete loopback interface intfc {name}")
    assert set(real_vpp.stats.counters()) == before


def test_reading_goes_on_while_vpp_makes_interfaces(own_vpp):
    stop, counts, faults = threading.Event(), [], []

    def read():
        reader = Stats(own_vpp.conf.stats_socket, timeout=5)
        while not stop.is_set():
            try:
                counts.append(len(reader.counters()))
                reader.errors()
            except Exception as error:  # noqa: BLE001 - any error is a fault here
                faults.append(error)
        reader.close()

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(40):
        own_vpp.cli.run("create loopback interface")
    for number in range(20):
        own_vpp.cli.run(f"delete loopback interface intfc loop{number}")
    for teid in range(1, 200):
        own_vpp.cli.run(f"create gtpu tunnel src 1.1.1.1 dst 1.1.1.2 teid {teid} decap-next ip4")
    stop.set()
    thread.join()
    assert faults == []
    assert max(counts) > 100
    assert len(own_vpp.stats.counters()) == 1 + 20 + 199


def test_a_stopped_vpp_is_noticed_and_its_return_too(own_vpp, eventually):
    assert not own_vpp.stats.stopped()
    os.kill(own_vpp.pid, signal.SIGSTOP)
    eventually(own_vpp.stats.stopped)
    assert own_vpp.stats.counters()  # it may only be busy: what it has counted can be read
    with pytest.raises(DoorError, match="heartbeat"):
        own_vpp.stats.check()
    os.kill(own_vpp.pid, signal.SIGCONT)
    eventually(lambda: not own_vpp.stats.stopped())
    own_vpp.stats.check()


def test_a_killed_vpp_is_noticed(own_vpp, eventually):
    own_vpp.stats.counters()
    own_vpp.process.kill()
    own_vpp.process.wait()
    eventually(own_vpp.stats.stopped)
    with pytest.raises(DoorError) as caught:
        own_vpp.stats.counters()
    assert caught.value.fault == "dead"


def test_a_vpp_that_ends_cleanly_is_noticed_at_once(own_vpp):
    own_vpp.stats.counters()
    own_vpp.process.terminate()
    own_vpp.process.wait()
    with pytest.raises(DoorError) as caught:
        own_vpp.stats.counters()
    assert caught.value.fault == "absent"


def test_a_restart_is_survived(start_vpp):
    first = start_vpp("a")
    stats = Stats(first.conf.stats_socket)
    first.cli.run("create loopback interface")
    assert "loop0" in stats.counters()
    first.process.kill()
    first.process.wait()
    start_vpp("a")
    assert list(stats.counters()) == ["local0"]
    stats.close()


def test_a_reader_keeps_no_file_open(own_vpp):
    descriptors = Path("/proc/self/fd")
    stats = Stats(own_vpp.conf.stats_socket)
    before = len(list(descriptors.iterdir()))
    for _ in range(20):
        stats.reconnect()
        stats.counters()
    stats.close()
    assert len(list(descriptors.iterdir())) <= before


def test_the_configuration_is_taken_as_written(start_vpp):
    vpp = start_vpp("a", main_core=0, stats_interval=0.25, heap_mb=512, buffers=4096, physmem_mb=32)
    assert "512" in vpp.cli.run("show memory main-heap")
    assert vpp.cli.run("show plugins").count("_plugin.so") == 3
    (thread,) = parse_threads(vpp.cli.run("show threads"))
    assert thread.lcore == 0
    (runtime,) = parse_runtime(vpp.cli.run("show runtime"))
    assert runtime.update_interval == 0.25
    assert vpp.log.read_text() == ""  # nothing to explain to a learner


def test_a_worker_runs_on_its_core(start_vpp):
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("a worker needs a second core")
    vpp = start_vpp("a", main_core=cores[0], worker_cores=(cores[1],))
    main, worker = parse_threads(vpp.cli.run("show threads"))
    assert (main.lcore, worker.lcore) == (cores[0], cores[1])
    assert (worker.name, worker.type) == ("vpp_wk_0", "workers")
    assert os.sched_getaffinity(worker.lwp) == {cores[1]}
    assert len(parse_runtime(vpp.cli.run("show runtime"))) == 2
