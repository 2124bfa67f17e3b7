"""The probe against the real peers: VPP in every role and mode, and DPDK's testpmd."""

from __future__ import annotations

import contextlib
import os
import re
import time

import pytest
from memif_peers import memif_lines

from labs import memif
from labs.memif.errors import MemifError
from labs.traffic.probe import Probe

pytestmark = pytest.mark.engine("process")

ENDS = {"source": "10.0.0.2", "target": "10.0.0.1"}
SETTLES = 20  # requests before each run, which do not count


@pytest.fixture(params=["server", "client", "client no-zero-copy"])
def link(request, place, vpp):
    """Connect with VPP as server, and as client with and without zero-copy; ours is the other end."""
    role, _, options = request.param.partition(" ")
    ours = (memif.Client if role == "server" else memif.Server)(place / "memif.sock")
    ours.start()
    vpp.cli(memif_lines({"server": "master", "client": "slave"}[role], options=options))
    yield ours.wait_up()
    ours.close()


def came(vpp):
    """Return how many packets VPP itself has counted in and out of the interface."""
    text = vpp.cli("show interface memif0/0")
    return [int(re.search(rf"{way} packets +(\d+)", text)[1]) for way in ("rx", "tx")]


def test_every_request_is_answered_whatever_the_role(link, vpp):
    probe = Probe(link, **ENDS)
    run = probe.run(0.3, 1e-3, floor=False)
    assert (run.sent, run.lost, run.twice) == (300, 0, 0)
    before = came(vpp)
    run = probe.run(0.3, 1e-3, floor=False)
    assert [after - each for after, each in zip(came(vpp), before, strict=True)] == [300 + SETTLES] * 2


@pytest.mark.parametrize("size", [64, 65, 500, 1514, 2048])
def test_vpp_takes_the_checksums_of_every_size(place, vpp, size):
    vpp.cli(memif_lines("master"))
    with memif.Client(place / "memif.sock") as link:
        run = Probe(link, **ENDS, size=size).run(0.1, 1e-3, floor=False)
    assert (run.sent, run.lost) == (100, 0)


def test_a_link_without_ethernet(place, vpp):
    vpp.cli(memif_lines("master", "ip"))
    with memif.Client(place / "memif.sock", mode="ip") as link:
        assert Probe(link, **ENDS).run(0.2, 1e-3, floor=False).lost == 0


@pytest.mark.parametrize("wait", ["poll", "nap", "sleep"])
@pytest.mark.parametrize("mode", ["polling", "interrupt", "adaptive"])
def test_whether_either_sleeps_or_polls(place, vpp, mode, wait):
    vpp.cli(memif_lines("master"))
    with memif.Client(place / "memif.sock", ring_size=256) as link:
        vpp.cli(f"set interface rx-mode memif0/0 {mode}")
        probe = Probe(link, **ENDS, wait=wait)
        for _ in range(2):
            run = probe.run(0.2, 1e-3, floor=False)
            assert (run.sent, run.lost) == (200, 0)


def test_vpp_is_not_asked_to_ring_while_the_probe_looks(place, vpp):
    vpp.cli(memif_lines("master"))
    with memif.Client(place / "memif.sock") as link:
        Probe(link, **ENDS, wait="poll").run(0.2, 1e-3, floor=False)
        doorbell = link.queue("rx").doorbell
        with pytest.raises(BlockingIOError):
            os.eventfd_read(doorbell)


def test_a_ring_full_at_once_and_a_hundred_thousand_a_second(place, vpp):
    vpp.cli(memif_lines("master"))
    with memif.Client(place / "memif.sock", ring_size=256) as link:
        run = Probe(link, **ENDS).run(0.5, 10e-6, floor=False)
    assert run.planned == 50_000
    assert run.lost == 0
    assert run.sent == 50_000


def test_a_vpp_that_is_killed_meanwhile(place, vpp):
    vpp.cli(memif_lines("master"))
    with memif.Client(place / "memif.sock") as link:
        measurement = Probe(link, **ENDS).start(30.0, 1e-3, floor=False)
        while measurement.so_far().received < 100:
            time.sleep(0.01)
        vpp.kill()
        run = measurement.result()
    assert run.received >= 100
    assert run.ended.startswith("The link went down")
    vpp.start()


def test_a_target_that_vpp_does_not_have(place, vpp):
    vpp.cli(memif_lines("master"))
    with (
        memif.Client(place / "memif.sock") as link,
        pytest.raises(MemifError, match=r"answers ARP for 10\.0\.0\.9"),
    ):
        Probe(link, source="10.0.0.2", target="10.0.0.9").run(0.1)


def test_a_delay_that_vpp_makes_is_seen(place, vpp):
    """VPP sleeps after each turn of its main loop: with 2 ms of that, half a turn passes in the mean."""
    vpp.kill()
    text = vpp.file.read_text().replace("unix {", "unix { poll-sleep-usec 2000 ", 1)
    assert "poll-sleep-usec" in text
    vpp.file.write_text(text)
    vpp.start()
    vpp.cli(memif_lines("master"))
    with memif.Client(place / "memif.sock") as link:
        run = Probe(link, **ENDS).run(1.0, 1e-3, poisson=True, floor=False)
    assert run.lost == 0
    assert run.p50 > 500
    assert run.percentile(10) < run.p50 < run.p90  # anywhere in the turn, so spread, not a step


@pytest.mark.parametrize("forward", ["macswap", "icmpecho"])
def test_testpmd(place, testpmd, forward):
    with contextlib.closing(memif.Server(place / "memif.sock", ring_size=1024)) as link:
        link.start()
        testpmd(f"role=client,id=0,socket={place}/memif.sock", forward=forward).do("start")
        link.wait_up(20)
        run = Probe(link, **ENDS, target_mac="02:00:00:00:00:09").run(0.3, 1e-3, floor=False)
    assert (run.sent, run.lost) == (300, 0)
