"""The glass box against DPDK's testpmd and against VPP: forwarding, waiting, starting."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from forwarding import NotReady, Tester, running
from quiet import measured
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from labs import Lab, NodeSpec, Topology, engines, two_vpps

sys.path.insert(0, str(Path(__file__).parents[1] / "interop"))
from memif_peers import Testpmd

ROUNDS, ENOUGH, TRIES = 31, 9, 5
IDLE_PERCENT = 3.0
PROGRAM = Path(__file__).with_name("first_packet.py")
LINES = """\
create memif socket id 1 filename near.sock
create memif socket id 2 filename far.sock
create interface memif id 0 socket-id 1 hw-addr 02:00:00:00:00:a0 slave
create interface memif id 0 socket-id 2 hw-addr 02:00:00:00:00:b0 slave
set interface state memif1/0 up
set interface state memif2/0 up
set interface ip address memif1/0 10.0.0.1/24
set interface ip address memif2/0 10.0.1.1/24
set ip neighbor memif2/0 10.0.1.2 02:00:00:00:00:b2
ip route add 20.0.0.0/8 via 10.0.1.2
"""
"""A router between two memifs: the same lines for VPP and for the glass box."""


def packets():
    """Return 256 packets of 64 bytes for as many hosts."""
    heads = [
        Ether(dst="02:00:00:00:00:a0", src="02:00:00:00:00:a2")
        / IP(src="10.0.0.2", dst=f"20.0.{number}.1")
        / UDP(sport=1234, dport=2345)
        for number in range(256)
    ]
    return [bytes(head / bytes(64 - len(head))) for head in heads]


class Router:
    """A node that forwards, on core 1, stopped unless it is measured."""

    def __init__(self, engine, routes=16):
        self.lab = Lab(Topology(f"bench-{engine}", (NodeSpec("vpp1", cores=(1,)),)), engine=engine)
        self.lab.start()
        node = self.lab["vpp1"]
        place = Path(node._rundir.path)
        self.tester = Tester(place / "near.sock", place / "far.sock", packets())
        node.cli(LINES + "\n".join(f"ip route add 20.0.{each}.0/24 via 10.0.1.2" for each in range(routes)))
        self.tester.ready()
        self.pid = node.handle.pid
        self.pids = [self.pid]
        os.kill(self.pid, signal.SIGSTOP)

    def rate(self):
        with running(self.pid):
            return self.tester.best()

    def close(self):
        os.kill(self.pid, signal.SIGCONT)
        self.tester.close()
        self.lab.stop()


class MacSwap:
    """DPDK's testpmd, which swaps the Ethernet addresses of a packet and sends it out of the other port.

    By itself it copies packets into the link's memory; asked to, it lends its own.
    """

    def __init__(self, *, zero_copy=False):
        self.place = Path(tempfile.mkdtemp(prefix="lb", dir="/tmp"))
        sockets = [self.place / name for name in ("near.sock", "far.sock")]
        self.tester = Tester(*sockets, packets())
        lend, one_file = (",zero-copy=yes", ("--single-file-segments",)) if zero_copy else ("", ())
        ports = [f"role=client,id=0,socket={socket}{lend}" for socket in sockets]
        self.peer = Testpmd(self.place, *ports, forward="macswap", core=1, options=one_file)
        self.peer.do("start")
        try:
            self.tester.ready()
        except NotReady:
            self.close()
            raise
        self.pids = [self.peer.child.pid]
        self.peer.do("stop", "Done.")

    def rate(self):
        self.peer.do("start")
        try:
            return self.tester.best()
        finally:
            self.peer.do("stop", "Done.")

    def close(self):
        self.tester.close()
        self.peer.stop()
        shutil.rmtree(self.place, ignore_errors=True)


def lending():
    """Return a testpmd that lends its packets; in one start out of three its link does not come up."""
    for _ in range(TRIES):
        with contextlib.suppress(NotReady):
            return MacSwap(zero_copy=True)
    pytest.skip(f"DPDK's zero-copy client did not connect in {TRIES} starts")


def test_forwarding(report):
    """Alternate: the glass box, testpmd, and VPP where it is, each on core 1, the tester on core 0.

    Each is a client, and copies or lends as it does by itself; testpmd also as it lends when asked to. A
    round counts in which nobody was disturbed, and a ratio is one of a round: the host's pace may change.
    """
    allowed = os.sched_getaffinity(0)
    if not {0, 1} <= allowed:
        pytest.skip("cores 0 and 1 are needed")
    if not shutil.which("dpdk-testpmd"):
        pytest.skip("DPDK's testpmd is not here: apt-get install dpdk-dev puts it in place")
    has_vpp = engines.find("process").availability().ok
    devices = {}
    rounds = []
    try:
        devices["glass box"] = Router("glassbox")
        devices["testpmd"] = MacSwap()
        devices["testpmd, zero-copy"] = lending()
        if has_vpp:
            devices["VPP"] = Router("process")
        os.sched_setaffinity(0, {0})
        for _ in range(ROUNDS):
            found = {name: measured(device.rate, device.pids, TRIES) for name, device in devices.items()}
            rounds += [found] if None not in found.values() else []
    finally:
        os.sched_setaffinity(0, allowed)
        for device in devices.values():
            device.close()
    if len(rounds) < ENOUGH:
        pytest.skip(
            f"other programs used the processors nearly all the time; undisturbed rounds: {len(rounds)}"
        )
    goals = {"testpmd": 2.0, "testpmd, zero-copy": None, "VPP": 1.0}
    for name in devices.keys() & goals.keys():
        pairs = [(found["glass box"], found[name]) for found in rounds]
        report.paired(f"64 B IPv4: glass box ÷ {name}", pairs, "Mpps", goals[name])
    assert all(row.passed for row in report.rows[-(len(devices) - 1) :])


def test_idle_in_interrupt_mode(report):
    """Two witnesses: the scheduler's record of each thread, and the process's own account of its time."""
    lab = two_vpps("bench-idle", engine="glassbox")
    lab.start()
    try:
        lab.rx_mode("interrupt")
        time.sleep(0.5)
        seen, told = [], []
        for _ in range(5):
            before = [_used(node.handle.pid) for node in lab.nodes.values()]
            shares = lab.evidence(seconds=2).shares
            after = [_used(node.handle.pid) for node in lab.nodes.values()]
            seen += [100 * share.running for share in shares]
            told += [100 * (b - a) / 2 for a, b in zip(before, after, strict=True)]
    finally:
        lab.stop()
    report.at_most("glass box, interrupt mode, idle: a core, by schedstat", seen, "%", IDLE_PERCENT)
    report.at_most("the same, by the process's own clock", told, "%", IDLE_PERCENT)
    assert report.rows[-2].passed
    assert report.rows[-1].passed


def _used(pid):
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_first_packet_comes_soon(report):
    """From the first import of the library to a packet that has crossed a link, kernels cached."""
    command = [sys.executable, PROGRAM]
    runs = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(10)
    ]
    took = [run["packet_s"] for run in runs]
    report.at_most("first import to first packet, in a new Python", took, "s", 3.0)
    report.at_most("the same, by the process's own age", [run["age_s"] for run in runs], "s", None)
    assert report.rows[-2].passed
