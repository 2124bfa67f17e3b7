"""Our two ends against VPP's two ends."""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest
from memif_peers import memif_lines
from memif_pings import assert_pings, introduce, ping

from labs import memif
from labs.memif.errors import Down
from labs.memif.microscope import look
from labs.memif.peek import Peek

pytestmark = pytest.mark.engine("process")

ROLES = ["server", "client", "client no-zero-copy"]
VPP_CLIENTS = ["", "no-zero-copy", "rx-queues 2 tx-queues 2", "no-zero-copy rx-queues 2 tx-queues 2"]


def connected(place, vpp, role, options="", queues=1):
    """Connect VPP in a role, and return our end, the other one."""
    if role == "server":
        ours = memif.Client(place / "memif.sock", queues=queues)
    else:
        ours = memif.Server(place / "memif.sock")
        options += f" rx-queues {queues} tx-queues {queues}"
    ours.start()
    vpp.cli(memif_lines({"server": "master", "client": "slave"}[role], options=options))
    return ours.wait_up()


@pytest.fixture(params=ROLES)
def link(request, place, vpp):
    """Connect with VPP as server, and as client with and without zero-copy; ours is the other end."""
    role, _, options = request.param.partition(" ")
    with contextlib.closing(connected(place, vpp, role, options)) as ours:
        yield ours


@pytest.fixture(
    params=[(role, queues) for role in ROLES for queues in (1, 2)], ids=lambda each: f"{each[0]}-{each[1]}"
)
def wide_link(request, place, vpp):
    """Connect as `link` does, with one queue and with two."""
    (role, _, options), queues = request.param[0].partition(" "), request.param[1]
    with contextlib.closing(connected(place, vpp, role, options, queues)) as ours:
        assert len(ours.connection.tx) == len(ours.connection.rx) == queues
        yield ours


@pytest.mark.parametrize("queues", [1, 2])
@pytest.mark.parametrize("mode", ["ethernet", "ip"])
def test_as_client_of_vpp(place, vpp, queues, mode):
    vpp.cli(memif_lines("master", mode))
    with memif.Client(place / "memif.sock", queues=queues, mode=mode) as link:
        assert link.connection.peer_name.startswith("VPP 2")
        assert link.connection.peer_interface == "memif0/0"
        if mode == "ethernet":
            introduce(link)
        for queue in range(queues):
            assert_pings(link, [b"one", b"two" * 100], queue=queue, mode=mode)


@pytest.mark.parametrize("options", VPP_CLIENTS)
def test_as_server_of_vpp(place, vpp, options):
    with memif.Server(place / "memif.sock") as link:
        vpp.cli(memif_lines("slave", options=options))
        link.wait_up()
        assert len(link.connection.tx) == len(link.connection.rx) == (2 if "2" in options else 1)
        assert len(link.connection.regions) == (1 if "no-zero-copy" in options else 2)
        introduce(link)
        for queue in range(len(link.connection.tx)):
            assert_pings(link, [b"one", b"two" * 100], queue=queue)


def test_vpp_seals_all_that_it_shares(place, vpp):
    """What makes its memory, packet buffers included, safe to map: see labs.memif.regions."""
    with memif.Server(place / "memif.sock") as link:
        vpp.cli(memif_lines("slave"))
        assert [each.seals for each in link.wait_up().connection.regions] == [("shrink",), ("shrink",)]


def test_jumbo_frames_come_back_as_they_went(wide_link):
    introduce(wide_link)
    rng = np.random.default_rng(3)
    payloads = [rng.integers(0, 256, size, np.uint8).tobytes() for size in range(1400, 8900, 250)]
    for queue in range(len(wide_link.connection.tx)):
        assert_pings(wide_link, payloads, queue=queue)
    received = wide_link.counters()["rx"]
    assert received.dropped == 0


def test_every_packet_of_many_bursts_is_answered(link):
    introduce(link)
    for _ in range(6):
        assert_pings(link, [bytes([each]) * (each + 1) for each in range(200)])


@pytest.mark.parametrize("mode", ["polling", "interrupt", "adaptive"])
def test_whether_either_sleeps_or_polls(link, vpp, mode):
    introduce(link)
    vpp.cli(f"set interface rx-mode memif0/0 {mode}")
    for ours in ("interrupt", "polling"):
        link.rx_mode(ours)
        for _ in range(5):
            assert_pings(link)
    assert (link.counters()["tx"].rung > 0) == (mode != "polling")


def test_admin_down_and_up(wide_link, vpp):
    introduce(wide_link)
    for _ in range(3):
        vpp.cli("set interface state memif0/0 down")
        time.sleep(0.05)
        vpp.cli("set interface state memif0/0 up")
        wide_link.wait_up(10)
        introduce(wide_link)
        for queue in range(len(wide_link.connection.tx)):
            assert_pings(wide_link, queue=queue)


@pytest.mark.parametrize("role", ["master", "slave"])
def test_secrets(place, vpp, role):
    ours = memif.Client if role == "master" else memif.Server
    vpp.cli(memif_lines(role, options="secret right"))
    link = ours(place / "memif.sock", secret="wrong")  # noqa: S106 - to be refused
    link.start()
    deadline = time.monotonic() + 20
    while "incorrect secret" not in vpp.cli("show memif") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert "incorrect secret" in vpp.cli("show memif")
    with pytest.raises(Down, match=r"incorrect secret|wrong secret"):
        link.wait_up(0.5)
    link.close()
    with contextlib.closing(ours(place / "memif.sock", secret="right")) as link:  # noqa: S106 - any would do
        link.start()
        introduce(link.wait_up(10))
        assert_pings(link)


def test_vpp_says_what_is_wrong(place, vpp):
    vpp.cli(memif_lines("master"))
    for options, reason in (({"id": 5}, "unmatched interface id"), ({"mode": "ip"}, "mode mismatch")):
        with pytest.raises(Down, match=reason), memif.Client(place / "memif.sock", **options):
            pass
    with (
        memif.Client(place / "memif.sock"),
        pytest.raises(Down, match="already connected"),
        memif.Client(place / "memif.sock"),
    ):
        pass


def test_vpp_is_told_why_we_go(place, vpp):
    vpp.cli(memif_lines("master"))
    with memif.Client(place / "memif.sock"):
        pass
    time.sleep(0.1)
    assert 'remote-disc-reason "interface deleted"' in vpp.cli("show memif")


@pytest.mark.parametrize("role", ["master", "slave"])
def test_a_vpp_that_is_killed_and_started_ten_times(place, vpp, role):
    link = (memif.Client if role == "master" else memif.Server)(place / "memif.sock")
    link.start()
    for turn in range(10):
        vpp.cli(memif_lines(role))
        link.wait_up(20)
        introduce(link)
        assert_pings(link)
        vpp.kill()
        deadline = time.monotonic() + 5
        while link.is_up and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not link.is_up
        with pytest.raises(Down):
            link.send(b"x" * 60)
        vpp.start()
        assert link.times_up == turn + 1
    link.close()


def test_we_go_and_come_ten_times(place, vpp):
    vpp.cli(memif_lines("master"))
    for _ in range(10):
        with memif.Client(place / "memif.sock") as link:
            introduce(link)
            assert_pings(link)


def test_an_abstract_name(place, vpp):
    name = f"abstract:{place.name}"
    vpp.cli(
        f"create memif socket id 3 filename {name}\n"
        + memif_lines("master").replace("id 0", "id 0 socket-id 3").replace("memif0/0", "memif3/0")
    )
    with memif.Client(name) as link:
        introduce(link)
        assert_pings(link)


def test_the_largest_ring(place, vpp):
    vpp.cli(memif_lines("master"))
    with memif.Client(place / "memif.sock", ring_size=16384) as link:
        introduce(link)
        assert_pings(link, [b"x"] * 300, timeout=20)
        assert "ring-size 16384" in vpp.cli("show memif")
        assert len(ping(link, [b"y"])) == 1


@pytest.mark.parametrize("role", ["master", "slave"])
def test_looking_into_a_vpp_from_outside(place, vpp, role):
    """Its rings are seen through its open files, whoever made the memory."""
    link = (memif.Client if role == "master" else memif.Server)(place / "memif.sock")
    link.start()
    with contextlib.closing(link):
        vpp.cli(memif_lines(role))
        introduce(link.wait_up(10))
        with Peek(vpp.child.pid, queues_s2m=1) as peek:
            before = peek.look()
            assert_pings(link, [b"x"] * 7)
            after = peek.look()
        ours = look(link)
        assert [(each.head, each.tail) for each in after.rings] == [
            (each.head, each.tail) for each in ours.rings
        ]
        moved = [
            (there.head - here.head, there.tail - here.tail)
            for here, there in zip(before.rings, after.rings, strict=True)
        ]
        assert all(7 in each for each in moved)
        assert str(vpp.child.pid) in str(after)
