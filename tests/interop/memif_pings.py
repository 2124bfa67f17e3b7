"""ARP and ICMP echo by hand, over a link of ours."""

from __future__ import annotations

import time

from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

OUR_MAC, PEER_MAC = "02:00:00:00:00:02", "02:fe:00:00:00:01"
OURS, PEER = "10.0.0.2", "10.0.0.1"


def echo(payload=b"ping", number=1, mode="ethernet"):
    packet = IP(src=OURS, dst=PEER, id=number) / ICMP(id=7, seq=number) / Raw(payload)
    return bytes(packet if mode == "ip" else Ether(src=OUR_MAC, dst=PEER_MAC) / packet)


def introduce(link, timeout=5.0):
    """Make ourselves known to the peer: it answers our ARP once it is ready, and knows us from then on."""
    ask = Ether(src=OUR_MAC, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=OUR_MAC, psrc=OURS, pdst=PEER)
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        link.send(ask)
        for packet in link.receive(0.2):
            if ARP in (answer := Ether(packet)) and answer[ARP].op == 2:
                return answer[ARP].hwsrc
    raise AssertionError("the peer answers no ARP")


def ping(link, payloads, mode="ethernet", queue=0, timeout=5.0):
    """Send an echo request for each payload, and return the payloads of the replies by sequence number."""
    link.send(
        [echo(each, number, mode) for number, each in enumerate(payloads)], queue=queue, timeout=timeout
    )
    answers = {}
    deadline = time.monotonic() + timeout
    while len(answers) < len(payloads) and time.monotonic() < deadline:
        for packet in link.receive(0.2):
            found = IP(packet) if mode == "ip" else Ether(packet)
            if ICMP in found and found[ICMP].type == 0:
                answers[found[ICMP].seq] = bytes(found[ICMP].payload)
    return answers


def assert_pings(link, payloads=(b"ping",), **options):
    assert ping(link, payloads, **options) == dict(enumerate(payloads))
