"""Our two ends against DPDK's two ends."""

from __future__ import annotations

import contextlib
import time

import pytest
from memif_pings import OURS, PEER, assert_pings, introduce

from labs import memif
from labs.memif.errors import Down

COUNT = 20_000
PACKET = bytes(range(64))


def port(place, role, options=""):
    return f"role={role},id=0,socket={place}/memif.sock{options}"


@pytest.fixture(params=["server", "client", "client,bsize=4096,rsize=12", "server 2", "client 2"])
def end(request, place, testpmd):
    """Start testpmd as server or client, with one queue or two and a forward mode; return it and our end."""
    given, _, queues = request.param.partition(" ")
    role, _, options = given.partition(",")
    links = []

    def start(forward):
        wanted = {"queues": int(queues or 1)} if role == "server" else {}
        ours = (memif.Client if role == "server" else memif.Server)(
            place / "memif.sock", timeout=20, **wanted
        )
        links.append(ours)
        if role == "client":
            ours.start()
        peer = testpmd(
            port(place, role, f",{options}" if options else ""),
            forward=forward,
            pmd_options=(f"--rxq={queues}", f"--txq={queues}") if queues else (),
        )
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
    queues = len(link.connection.tx)
    for turn in range(COUNT // 250):
        assert link.send(burst, timeout=20, queue=turn % queues) == 250
    assert received_by(peer, COUNT) == COUNT


def test_we_receive_all_that_testpmd_sends(end):
    peer, link = end("txonly")
    deadline = time.monotonic() + 20
    queues = len(link.connection.rx)
    received = [0] * queues
    while min(received) < COUNT and time.monotonic() < deadline:
        for queue in range(queues):
            burst = link.receive_burst(queue=queue)
            received[queue] += len(burst)
            assert set(burst.lengths.tolist()) <= {64}
    assert min(received) >= COUNT
    peer.do("stop", "Waiting for lcores")


def test_testpmd_answers_our_pings(end):
    peer, link = end("icmpecho")
    del peer
    mac = introduce(link, timeout=20)
    assert len(mac) == 17
    assert (OURS, PEER) == ("10.0.0.2", "10.0.0.1")
    for queue in range(len(link.connection.tx)):
        assert_pings(link, [b"one", b"two" * 300], timeout=20, queue=queue)


def test_jumbo_frames_come_back_as_they_went(end):
    _, link = end("icmpecho")
    introduce(link, timeout=20)
    payloads = [bytes([size % 251]) * size for size in range(1400, 8900, 250)]
    assert_pings(link, payloads, timeout=20)


def down(link, within=5):
    """Wait until a link is down, and return whether it is."""
    deadline = time.monotonic() + within
    while link.is_up and time.monotonic() < deadline:
        time.sleep(0.01)
    return not link.is_up


@pytest.mark.parametrize("role", ["server", "client"])
def test_a_testpmd_that_is_killed_and_started_ten_times(place, testpmd, role):
    with contextlib.closing(
        (memif.Client if role == "server" else memif.Server)(place / "memif.sock")
    ) as link:
        link.start()
        for turn in range(10):
            peer = testpmd(port(place, role), name=f"turn{turn}")
            peer.do("start")
            link.wait_up(20)
            link.send([PACKET] * 10)
            assert received_by(peer, 10) == 10
            assert link.times_up == turn + 1
            peer.child.kill()
            peer.child.wait()
            assert down(link)
            if role == "server":
                link.path.unlink()  # DPDK does not take over the socket of a dead listener


@pytest.mark.parametrize("role", ["server", "client"])
def test_a_port_that_is_stopped_and_started(place, testpmd, role):
    with contextlib.closing(
        (memif.Client if role == "server" else memif.Server)(place / "memif.sock")
    ) as link:
        link.start()
        peer = testpmd(port(place, role))
        for turn in range(3):
            peer.do("start")
            link.wait_up(20)
            link.send([PACKET] * 10)
            assert received_by(peer, 10 * (turn + 1)) == 10 * (turn + 1)
            peer.do("stop", "Waiting for lcores")
            peer.do("port stop 0", "Done")
            assert down(link)
            peer.do("port start 0", "Done")


@pytest.mark.parametrize(("secret", "is_right"), [("psst", True), ("wrong", False)])
def test_secrets_of_a_client(place, testpmd, secret, is_right):
    with memif.Server(place / "memif.sock", secret="psst") as link:  # noqa: S106 - any would do
        testpmd(port(place, "client", f",secret={secret}")).do("start")
        if is_right:
            assert link.wait_up(20).is_up
        else:
            deadline = time.monotonic() + 20
            while not link.last_error and time.monotonic() < deadline:
                time.sleep(0.05)
            assert link.last_error.reason == "incorrect secret"
            assert not link.is_up


@pytest.mark.parametrize(("secret", "is_right"), [("psst", True), ("wrong", False)])
def test_secrets_of_a_server(place, testpmd, secret, is_right):
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
