"""Links between our own two ends: up, down, up again, and what their users may ask of them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from memif_loops import eventually

from labs import memif
from labs.memif.control import STOP
from labs.memif.errors import Down, MemifError
from labs.memif.messages import Ack, AddRegion, AddRing, Connect, Connected, Hello, Init

pytestmark = pytest.mark.usefixtures("no_leaks")

PACKETS = [b"first", b"x" * 1500, b"y" * 9000, b"last"]


def test_packets_go_both_ways(pair):
    server, client = pair()
    assert client.send(PACKETS) == 4
    assert server.receive() == PACKETS
    assert server.send(PACKETS) == 4
    assert client.receive() == PACKETS
    assert client.counters()["tx"].packets == server.counters()["rx"].packets == 4
    assert client.counters()["rx"].bytes == server.counters()["tx"].bytes == sum(map(len, PACKETS))


def test_the_handshake_is_the_one_of_the_protocol(pair):
    server, client = pair()
    ours = [(type(each.message), each.by_us) for each in client.handshake]
    assert [kind for kind, _ in ours] == [
        Hello, Init, Ack, AddRegion, Ack, AddRing, Ack, AddRing, Ack, Connect, Connected,
    ]  # fmt: skip
    assert eventually(lambda: len(server.handshake) == len(ours))  # it is up before it says CONNECTED
    theirs = [(type(each.message), not each.by_us) for each in server.handshake]
    assert theirs == ours
    assert [each.message for each in server.handshake] == [each.message for each in client.handshake]


@pytest.mark.parametrize("queues", [1, 2, 5])
def test_every_queue_carries_its_own_packets(pair, queues):
    server, client = pair(queues=queues)
    for sender, receiver in ((client, server), (server, client)):
        for number in range(queues):
            sender.send([bytes([number])], queue=number)
        for number in reversed(range(queues)):
            assert receiver.receive_burst(queue=number).packets() == [bytes([number])]
    with pytest.raises(MemifError, match=f"no queue {queues}"):
        client.send(b"x", queue=queues)


def test_a_client_takes_no_more_than_the_server_offers(path):
    with (
        memif.Server(path, queues=2, ring_size=64) as server,
        memif.Client(path, queues=9, ring_size=1024) as client,
    ):
        server.wait_up()
        assert [len(client.connection.tx), len(server.connection.rx)] == [2, 2]
        assert client.connection.rings[0].size == 64


@pytest.mark.parametrize("ring_size", [1, 2, 16384])
def test_ring_sizes_from_the_least_to_the_most(pair, ring_size):
    server, client = pair(ring_size=ring_size, buffer_size=64)
    for _ in range(3):
        assert client.send_burst([b"x"] * ring_size) == ring_size
        assert client.send_burst([b"x"]) == 0
        received = 0
        while received < ring_size:
            received += len(server.receive_burst())
        assert received == ring_size


@pytest.mark.parametrize("secret", ["psst", b"\xff\x01", "s" * 23])
def test_the_right_secret_opens(pair, secret):
    server, client = pair(secret=secret)
    assert client.send(b"x") == 1
    assert server.receive() == [b"x"]


@pytest.mark.parametrize(("secret", "reason"), [("wrong", "incorrect secret"), (None, "secret required")])
def test_a_wrong_secret_does_not(path, secret, reason):
    with memif.Server(path, secret="right") as server:  # noqa: S106 - any would do
        with pytest.raises(Down, match=reason), memif.Client(path, secret=secret):
            pass
        assert server.last_error.reason == reason
        assert not server.is_up


def test_the_mode_must_be_the_same(path):
    with memif.Server(path, mode="ip"):
        with pytest.raises(Down, match="mode mismatch"), memif.Client(path):
            pass
        with memif.Client(path, mode="ip") as client:
            assert client.is_up


def test_an_interface_that_is_not_there_and_one_that_is_taken(path):
    with memif.Server(path, id=1):
        with pytest.raises(Down, match="unmatched interface id"), memif.Client(path, id=2):
            pass
        with (
            memif.Client(path, id=1),
            pytest.raises(Down, match="already connected"),
            memif.Client(path, id=1),
        ):
            pass


def test_several_interfaces_share_a_socket(path):
    with memif.Server(path, id=1) as one, memif.Server(path, id=2) as two:
        with pytest.raises(MemifError, match="served at"):
            memif.Server(path, id=2).start()
        with memif.Client(path, id=2) as client:
            client.send(b"two")
            assert two.wait_up().receive() == [b"two"]
            assert not one.is_up
        one.close()
        with memif.Client(path, id=2):
            assert two.wait_up().is_up
    assert not path.exists()


def test_an_abstract_name_needs_no_file():
    name = f"abstract:labs-test-{os.getpid()}"
    with memif.Server(name) as server, memif.Client(name) as client:
        client.send(b"x")
        assert server.receive() == [b"x"]


def test_a_client_that_comes_first_waits_for_its_server(path):
    client = memif.Client(path)
    client.start()
    time.sleep(0.05)
    assert not client.is_up
    with memif.Server(path) as server:
        client.wait_up()
        client.send(b"x")
        assert server.receive() == [b"x"]
        client.close()


def test_without_a_server_the_client_says_what_to_do(path):
    with pytest.raises(Down, match="No memif server answers") as caught, memif.Client(path, timeout=0.2):
        pass
    assert caught.value.hint


def test_both_sides_come_back_as_often_as_they_go(path):
    """Ten times each; the other side notices, says why, and connects again."""
    with memif.Server(path) as server:
        for turn in range(10):
            with memif.Client(path) as client:
                server.wait_up()
                client.send(bytes([turn + 1]))
                assert server.receive() == [bytes([turn + 1])]
            assert eventually(lambda: not server.is_up)
            assert "interface deleted" in server.last_error.message
        assert server.times_up == 10
    client = memif.Client(path, retry=0.01)
    client.start()
    for turn in range(10):
        with memif.Server(path) as server:
            server.wait_up()
            client.wait_up()
            server.send(bytes([turn + 1]))
            assert client.receive() == [bytes([turn + 1])]
        assert eventually(lambda: not client.is_up)
    client.close()


def test_a_listener_that_died_is_replaced_and_a_living_one_is_not(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as dead:
        dead.bind(str(path))
    with memif.Server(path) as server:
        assert not server.is_up
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as living:
        living.bind(str(path))
        living.listen()
        with pytest.raises(MemifError, match="Nothing can listen"):
            memif.Server(path).start()
    assert path.exists()


def test_a_file_that_is_no_socket_is_left_alone(path):
    path.write_text("mine")
    with pytest.raises(MemifError, match="Nothing can listen"):
        memif.Server(path).start()
    assert path.read_text() == "mine"


@pytest.mark.parametrize("where", ["", "x" * 108, "abstract:", "abstract:" + "x" * 108, "a\0b"])
def test_a_path_that_cannot_be_is_refused(where):
    with pytest.raises(MemifError, match="cannot be at"):
        memif.Server(where).start()


def test_a_directory_that_is_not_there_is_told(short_dir):
    with pytest.raises(MemifError, match="Nothing can listen"):
        memif.Server(short_dir / "none" / "memif.sock").start()


@pytest.mark.parametrize(
    "option",
    [
        {"id": -1}, {"id": 1 << 32}, {"id": True}, {"queues": 0}, {"queues": 256}, {"ring_size": 1000},
        {"ring_size": 32768}, {"buffer_size": 32}, {"buffer_size": 100}, {"buffer_size": 65536},
        {"secret": "x" * 24}, {"secret": "a\0"}, {"mode": "token-ring"}, {"rx_mode": "adaptive"},
        {"line_size": 32}, {"timeout": 0}, {"retry": 0}, {"queues": 255, "ring_size": 16384},
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_is_refused(path, option):
    with pytest.raises(MemifError):
        memif.Client(path, **option)


@pytest.mark.parametrize("mode", ["polling", "interrupt"])
def test_a_sleeper_is_woken(pair, mode):
    server, client = pair(rx_mode=mode)
    woken = []
    thread = threading.Thread(target=lambda: woken.append(server.wait(30)))
    thread.start()
    time.sleep(0.1)
    client.send(b"x")
    thread.join(10)
    assert woken == [True]
    assert server.receive() == [b"x"]
    assert not server.wait(0.01)


def test_the_rx_mode_is_what_the_peer_sees(pair):
    server, client = pair()
    client.send(b"x")
    assert client.counters()["tx"].rung == 0
    server.rx_mode("interrupt")
    client.send(b"x")
    assert client.counters()["tx"].rung == 1
    with pytest.raises(MemifError, match="rx_mode"):
        server.rx_mode("adaptive")


def test_the_rx_mode_outlives_the_connection(path):
    with memif.Server(path) as server:
        server.rx_mode("interrupt")
        for _ in range(2):
            with memif.Client(path) as client:
                server.wait_up()
                client.send(b"x")
                assert client.counters()["tx"].rung == 1
            assert eventually(lambda: not server.is_up)


def test_a_sleeper_wakes_when_the_link_goes(pair):
    server, client = pair()
    woken = []
    thread = threading.Thread(target=lambda: woken.append(server.wait(30)))
    thread.start()
    time.sleep(0.05)
    client.close()
    thread.join(10)
    assert woken == [False]


def test_a_link_that_is_down_says_why(pair):
    server, client = pair()
    client.close()
    assert eventually(lambda: not server.is_up)
    for action in (lambda: server.send(b"x"), server.receive, server.receive_burst, server.counters):
        with pytest.raises(Down, match="interface deleted"):
            action()


def test_send_waits_for_room(pair):
    server, client = pair(ring_size=8)
    received = []

    def drain():
        while len(received) < 100:
            received.extend(server.receive())

    thread = threading.Thread(target=drain)
    thread.start()
    packets = [bytes([each]) for each in range(1, 101)]
    assert client.send(packets, timeout=10) == 100
    thread.join(10)
    assert received == packets
    assert client.send([b"x"] * 20, timeout=0.01) == 8


def test_bursts_are_arrays_in_and_out(pair):
    server, client = pair()
    rows = np.arange(256, dtype=np.uint8).reshape(4, 64)
    assert client.send_burst(rows) == 4
    burst = server.receive_burst()
    assert burst.lengths.tolist() == [64] * 4
    assert (burst.data[:256].reshape(4, 64) == rows).all()


def test_a_kernel_holds_the_queue_and_hears_when_to_stop(pair):
    server, client = pair()
    queue = server.queue("rx")
    with queue.in_use() as block:
        assert not block[STOP]
        client.close()
        assert eventually(lambda: block[STOP])
        assert queue.doorbell >= 0
    with pytest.raises(Down), queue.in_use():
        pass
    assert eventually(lambda: queue.doorbell < 0)


def test_two_threads_may_send_on_one_queue(pair):
    server, client = pair(ring_size=256)
    threads = [
        threading.Thread(target=lambda mark=mark: client.send([bytes([mark]) * 100] * 500, timeout=10))
        for mark in (1, 2)
    ]
    for each in threads:
        each.start()
    received = []
    while len(received) < 1000:
        received.extend(server.receive(10))
    for each in threads:
        each.join(10)
    assert sorted(set(received)) == [b"\1" * 100, b"\2" * 100]
    assert received.count(b"\1" * 100) == 500


def test_closing_twice_and_before_the_start_does_no_harm(path):
    for make in (memif.Server, memif.Client):
        link = make(path)
        link.close()
        link.close()
    with pytest.raises(Down):
        memif.Server(path).wait_up(0.01)


def test_what_the_peer_says_of_itself_is_kept(path):
    with (
        memif.Server(path, name="the server", interface="s0") as server,
        memif.Client(path, name="the client", interface="c0") as client,
    ):
        server.wait_up()
        assert (client.connection.peer_name, client.connection.peer_interface) == ("the server", "s0")
        assert (server.connection.peer_name, server.connection.peer_interface) == ("the client", "c0")


@pytest.mark.parametrize("line_size", [64, 128])
def test_a_server_finds_out_the_clients_cache_line(path, line_size):
    with memif.Server(path) as server, memif.Client(path, line_size=line_size) as client:
        assert {each.line for each in server.wait_up().connection.rings} == {line_size}
        client.send(PACKETS)
        assert server.receive() == PACKETS
        server.send(PACKETS)
        assert client.receive() == PACKETS


def test_a_server_that_expects_another_cache_line_refuses(path):
    with memif.Server(path, line_size=128), pytest.raises(Down, match="unknown ring layout"):
        memif.Client(path, line_size=64).__enter__()


def test_a_program_that_ends_leaves_no_socket(path):
    program = f"""
from labs import memif
server, client = memif.Server({str(path)!r}), memif.Client({str(path)!r})
server.start()
client.start()
client.wait_up()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert not path.exists()
