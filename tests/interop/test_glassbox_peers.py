"""The glass box on the wire with the real peers: VPP, and DPDK's testpmd."""

from __future__ import annotations

import pytest

from labs import Lab, NodeSpec, Topology
from labs.vpp.parse import parse_ping_line

PINGS = 5
OTHER = {"master": "slave", "slave": "master"}


@pytest.fixture
def box():
    """Yield a lab of one glass box, and stop it afterwards."""
    lab = Lab(Topology("interop", (NodeSpec("vpp1"),)), engine="glassbox")
    lab.start()
    yield lab
    lab.stop()


def lines(path, role, address, options=""):
    """Return the lines that make memif7/0 at a socket: the glass box and VPP take the same."""
    return f"""\
create memif socket id 7 filename {path}
create interface memif id 0 socket-id 7 {options} {role}
set interface state memif7/0 up
set interface ip address memif7/0 {address}
"""


def answered(text):
    """Return how many replies a ping shows."""
    return sum(parse_ping_line(line) is not None for line in text.splitlines())


@pytest.mark.engine("process")
@pytest.mark.parametrize("role", ["master", "slave"])
@pytest.mark.parametrize("queues", [1, 2])
def test_the_glass_box_and_vpp_ping_each_other(box, vpp, place, role, queues):
    path = place / "seven.sock"
    options = f"rx-queues {queues} tx-queues {queues}"
    box["vpp1"].cli(lines(path, role, "10.0.0.1/24", options if role == "slave" else ""))
    vpp.cli(lines(path, OTHER[role], "10.0.0.2/24", options if role == "master" else ""))
    box.wait_link()
    ping = "ping 10.0.0.{} repeat {} interval 0.05"
    assert answered(box["vpp1"].cli(ping.format(2, PINGS + 1))) >= PINGS
    assert answered(vpp.cli(ping.format(1, PINGS + 1))) >= PINGS


@pytest.mark.engine("process")
@pytest.mark.parametrize("role", ["master", "slave"])
@pytest.mark.parametrize("mode", ["polling", "interrupt", "adaptive"])
def test_each_rx_mode_with_vpp_in_the_same(box, vpp, place, role, mode):
    path = place / "seven.sock"
    for cli, its, address in ((box["vpp1"].cli, role, "1"), (vpp.cli, OTHER[role], "2")):
        cli(lines(path, its, f"10.0.0.{address}/24"))
    box.wait_link()
    for cli in (box["vpp1"].cli, vpp.cli):
        cli(f"set interface rx-mode memif7/0 {mode}")
    assert answered(vpp.cli(f"ping 10.0.0.1 repeat {PINGS + 1} interval 0.05")) >= PINGS
    assert answered(box["vpp1"].cli(f"ping 10.0.0.2 repeat {PINGS} interval 0.05")) == PINGS


@pytest.mark.engine("process")
def test_a_killed_vpp_is_noticed_and_taken_back(box, vpp, place):
    path = place / "seven.sock"
    box["vpp1"].cli(lines(path, "master", "10.0.0.1/24"))
    for _ in range(3):
        vpp.cli(lines(path, "slave", "10.0.0.2/24"))
        box.wait_link()
        assert answered(vpp.cli(f"ping 10.0.0.1 repeat {PINGS} interval 0.05")) >= PINGS - 1
        vpp.kill()
        vpp.start()


@pytest.mark.engine("glassbox")
@pytest.mark.parametrize("role", ["master", "slave"])
def test_testpmd_answers_the_glass_box(box, testpmd, place, role):
    path = place / "seven.sock"
    theirs = "client" if role == "master" else "server"
    if role == "master":
        box["vpp1"].cli(lines(path, role, "10.0.0.1/24"))
    peer = testpmd(f"role={theirs},id=0,socket={path}", forward="icmpecho")
    peer.do("start")
    if role == "slave":
        box["vpp1"].cli(lines(path, role, "10.0.0.1/24"))
    box.wait_link(20)
    text = box["vpp1"].cli(f"ping 10.0.0.9 repeat {PINGS + 1} interval 0.05")
    assert answered(text) >= PINGS
