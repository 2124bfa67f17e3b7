"""Generator and sink with DPDK's testpmd at the other end, and in between."""

from __future__ import annotations

import time

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from labs import memif
from labs.traffic import Generator, Sink, blocks, imix, udp

COUNT = 50_000
WITHIN = 20


def eventually(condition):
    deadline = time.monotonic() + WITHIN
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


@pytest.fixture
def end(request, place, testpmd):
    """Connect our end to a testpmd of the role and forward mode that is asked for."""
    links = []

    def start(role, forward, *options):
        ours = (memif.Client if role == "server" else memif.Server)(place / "memif.sock", timeout=WITHIN)
        links.append(ours)
        if role == "client":
            ours.start()
        peer = testpmd(f"role={role},id=0,socket={place}/memif.sock", forward=forward, pmd_options=options)
        if role == "server":
            ours.start()
        peer.do("start")
        return peer, ours.wait_up(WITHIN)

    yield start
    for each in links:
        each.close()


@pytest.mark.parametrize("role", ["server", "client"])
@pytest.mark.parametrize("packets", [udp(flows=10), udp(size=1500), imix()], ids=str)
def test_testpmd_counts_what_the_generator_sends(end, role, packets):
    peer, link = end(role, "rxonly")
    sent = Generator(link, packets).run(count=COUNT)
    assert sent.packets == COUNT
    assert eventually(lambda: peer.packets("RX") == COUNT)


@pytest.mark.parametrize("role", ["server", "client"])
def test_the_sink_counts_what_testpmd_sends(end, role):
    peer, link = end(role, "txonly", "--txpkts=64")
    with Sink(link) as sink:
        assert eventually(lambda: sink.live[blocks.PACKETS] > COUNT)
        peer.do("stop", "Done.")
        sent = peer.packets("TX")
        assert eventually(lambda: sink.live[blocks.PACKETS] + sink.live[blocks.STALE] == sent)
        report = sink.stop()
    assert report.bytes == report.packets * 64
    assert report.other == report.packets
    assert report.packets + report.stale == sent


def test_what_testpmd_forwards_arrives_whole_and_in_order(place, testpmd):
    """Over one memif to testpmd and back over another, which swaps the Ethernet addresses."""
    with memif.Server(place / "a.sock") as there, memif.Server(place / "b.sock") as back:
        testpmd(
            f"role=client,id=0,socket={place}/a.sock",
            f"role=client,id=0,socket={place}/b.sock",
            forward="macswap",
        ).do("start")
        there.wait_up(WITHIN)
        back.wait_up(WITHIN)
        packets = udp(flows=5, vary="dst")
        with Sink(back, packets, delay=True) as sink:
            sent = Generator(there, packets, rate=20_000).run(count=2000)
            assert eventually(lambda: sink.live[blocks.PACKETS] == sent.packets)
            report = sink.stop()
        assert (report.lost, report.reordered, report.duplicates, report.lost_of(sent)) == (0, 0, 0, 0)
        assert report.per_flow["packets"].tolist() == [400] * 5
        assert report.delay.packets == 2000

        Generator(there, packets).run(count=5)
        received = [Ether(packet) for packet in back.receive(WITHIN)]
    assert received[0].dst == "02:fe:00:00:00:0a"
    for packet in received:
        again = packet.copy()
        del again[IP].chksum
        assert bytes(again) == bytes(packet)
        assert packet[UDP].chksum == 0
