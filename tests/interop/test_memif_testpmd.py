"""Our two ends against DPDK's two ends."""

from __future__ import annotations

import time

import pytest
from memif_pings import OURS, PEER, assert_pings, introduce

from labs import memif
from labs.memif.errors import Down

COUNT = 20_000
PACKET = bytes(range(64))


def port(place, role, options=""):
    return f"role={role},id=0,socket={place}/memif.sock{options}"


@pytest.fixture(params=["server", "client", "client,bsize=4096,rsize=12"])
def end(request, place, testpmd):
    """Start testpmd as server or client with a forward mode; return it and our end."""
    role, _, options = request.param.partition(",")
    links = []

    def start(forward):
        ours = (memif.Client if role == "server" else memif.Server)(place / "memif.sock", timeout=20)
        links.append(ours)
        if role == "client":
            ours.start()
        peer = testpmd(port(place, role, f",{options}" if options else ""), forward=forward)
        if role == "server":
            ours.start()
        peer.do("start")
        return peer, ours.wait_up(20)

    yield start
    for each in links:
        each.close()


def received_by(peer, count, within=20):
    """Return the peer's count of packets, once it is no less than `count`."""
    deadline = time.monotonic() + within
    while (found := peer.packets("RX")) < count and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def test_testpmd_receives_all_that_we_send(end):
    peer, link = end("rxonly")
    assert link.connection.peer_name.startswith("DPDK")
    burst = memif.Burst.of([PACKET] * 250)
    for _ in range(COUNT // 250):
        assert link.send(burst, timeout=20) == 250
    assert received_by(peer, COUNT) == COUNT


def test_we_receive_all_that_testpmd_sends(end):
    peer, link = end("txonly")
    received = 0
    deadline = time.monotonic() + 20
    while received < COUNT and time.monotonic() < deadline:
        burst = link.receive_burst()
        received += len(burst)
        assert set(burst.lengths.tolist()) <= {64}
    assert received >= COUNT
    peer.do("stop", "Waiting for lcores")


def test_testpmd_answers_our_pings(end):
    peer, link = end("icmpecho")
    del peer
    mac = introduce(link, timeout=20)
    assert len(mac) == 17
    assert (OURS, PEER) == ("10.0.0.2", "10.0.0.1")
    assert_pings(link, [b"one", b"two" * 300], timeout=20)


def test_a_testpmd_that_comes_back(place, testpmd):
    with memif.Server(place / "memif.sock") as link:
        for turn in range(2):
            peer = testpmd(port(place, "client"), name=f"turn{turn}")
            peer.do("start")
            link.wait_up(20)
            link.send([PACKET] * 10)
            assert received_by(peer, 10) == 10
            peer.child.kill()
            peer.child.wait()
            deadline = time.monotonic() + 5
            while link.is_up and time.monotonic() < deadline:
                time.sleep(0.01)
            assert not link.is_up


@pytest.mark.parametrize(("secret", "is_right"), [("psst", True), ("wrong", False)])
def test_secrets(place, testpmd, secret, is_right):
    testpmd(port(place, "server", ",secret=psst")).do("start")
    link = memif.Client(place / "memif.sock", secret=secret)
    link.start()
    if is_right:
        assert link.wait_up(20).is_up
    else:
        with pytest.raises(Down, match="Incorrect secret"):
            link.wait_up(20)
    link.close()


@pytest.mark.parametrize("trust", [False, True])
def test_the_memory_of_a_zero_copy_client_is_taken_on_trust_only(place, testpmd, trust):
    """DPDK does not let its own memory be sealed: see labs.memif.regions."""
    with memif.Server(place / "memif.sock", trust=trust) as link:
        peer = testpmd(port(place, "client", ",zero-copy=yes"), options=("--single-file-segments",))
        peer.do("start")
        if not trust:
            with pytest.raises(Down, match="not sealed"):
                link.wait_up(1)
            return
        assert [each.seals for each in link.wait_up(20).connection.regions][1] == ("seal",)
        link.send([PACKET] * 10)
        assert received_by(peer, 10) == 10
