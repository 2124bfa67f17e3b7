from __future__ import annotations

import threading
import time

import pytest

pytest.importorskip("scapy", reason="scapy is not installed")

from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.sendrecv import AsyncSniffer

pytestmark = pytest.mark.usefixtures("no_leaks")

REQUEST = (
    Ether(src="02:00:00:00:00:02", dst="02:00:00:00:00:01") / IP(src="10.0.0.2", dst="10.0.0.1") / ICMP()
)


def answer(link, count, noise=0):
    """Answer so many echo requests, each after some noise."""
    while count:
        for packet in link.receive(5):
            layers = Ether(packet)
            link.send([bytes(60)] * noise)
            layers[IP].src, layers[IP].dst = layers[IP].dst, layers[IP].src
            layers[ICMP].type = 0
            del layers[ICMP].chksum
            del layers[IP].chksum
            link.send(layers)
            count -= 1


@pytest.mark.parametrize("noise", [0, 5])
def test_sr1_finds_the_answer(pair, noise):
    server, client = pair()
    socket = client.scapy_socket()
    thread = threading.Thread(target=answer, args=(server, 3, noise))
    thread.start()
    for _ in range(3):
        reply = socket.sr1(REQUEST, timeout=10, verbose=False)
        assert reply[ICMP].type == 0
        assert reply.time >= 0
    thread.join(10)
    socket.close()


def test_no_answer_is_none(pair):
    _, client = pair()
    socket = client.scapy_socket()
    assert socket.sr1(REQUEST, timeout=0.2, verbose=False) is None
    socket.close()


@pytest.mark.parametrize("queues", [1, 2])
def test_a_sniffer_sees_what_comes_and_can_be_stopped(pair, queues):
    server, client = pair(queues=queues)
    socket = server.scapy_socket()
    sniffer = AsyncSniffer(opened_socket=socket, count=20 * queues)
    sniffer.start()
    for number in range(20):
        for queue in range(queues):
            client.send(REQUEST / Raw(bytes([number])), queue=queue)
    sniffer.join(10)
    assert len(sniffer.results) == 20 * queues
    idle = AsyncSniffer(opened_socket=socket)
    idle.start()
    time.sleep(0.1)
    assert list(idle.stop()) == []
    socket.close()


def test_a_packet_of_scapys_is_sent_as_it_is(pair):
    server, client = pair()
    client.send(REQUEST)
    client.send([REQUEST, REQUEST])
    received = []
    while len(received) < 3:
        received += server.receive()
    assert received == [bytes(REQUEST)] * 3


def test_ip_mode_is_told_by_the_layer(pair):
    server, client = pair(mode="ip")
    socket = server.scapy_socket()
    client.send(REQUEST[IP])
    assert server.wait(5)
    assert socket.recv().summary().startswith("IP / ICMP")
    socket.close()
