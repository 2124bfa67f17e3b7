"""Peers that break the handshake: each gets a DISCONNECT with a reason, and leaves nothing behind."""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import resource
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memif_loops import eventually

from labs import memif
from labs.memif.errors import Down, MemifError
from labs.memif.layout import Layout
from labs.memif.messages import (
    IP,
    Ack,
    AddRegion,
    AddRing,
    Connect,
    Connected,
    Disconnect,
    Hello,
    Init,
    unpack,
)

pytestmark = pytest.mark.usefixtures("no_leaks")

TIMEOUT = 0.4
SECRET = "psst"  # noqa: S105 - any would do
LAYOUT = Layout(1, 1, 4, 64, 64)


class Peer:
    """The other end of a control socket, that says what it likes."""

    def __init__(self, sock):
        self.sock = sock
        self.sock.settimeout(5)
        self.open = []

    def say(self, message, *descriptors):
        data = message if isinstance(message, bytes) else message.pack()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        self.sock.sendmsg([data], rights if descriptors else [])

    def hear(self):
        """Return the next message; None at the end."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.sock, 200, 8)
        except ConnectionResetError:
            return None
        for each in descriptors:
            os.close(each)
        return unpack(data) if data else None

    def goodbye(self):
        """Return the reason of the DISCONNECT that comes, and see that nothing follows it."""
        while not isinstance(message := self.hear(), Disconnect):
            assert message, "the link ended without a DISCONNECT"
        assert self.hear() is None
        return message.reason

    def eventfd(self):
        self.open.append(os.eventfd(0, os.EFD_CLOEXEC))
        return self.open[-1]

    def memory(self, layout=LAYOUT, size=None, seals=fcntl.F_SEAL_SHRINK, flags=os.MFD_ALLOW_SEALING):
        """Make a region as a client does."""
        from labs.memif.regions import make_region  # noqa: PLC0415 - only its contents are wanted

        region, ours = make_region(0, layout.region_size, "test")
        layout.write(region)
        os.close(ours)
        descriptor = os.memfd_create("hostile", flags | os.MFD_CLOEXEC)
        self.open.append(descriptor)
        os.write(descriptor, region.memory.tobytes())
        if size is not None:
            os.ftruncate(descriptor, size)
        if seals:
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        return descriptor

    def close(self):
        self.sock.close()
        for each in self.open:
            os.close(each)


@pytest.fixture
def server(path):
    with memif.Server(path, timeout=TIMEOUT, secret=SECRET, ring_size=1024, queues=4) as made:
        yield made


@pytest.fixture
def stranger(server):
    """Connect to our server and hear its HELLO."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sock.connect(str(server.path))
    peer = Peer(sock)
    assert isinstance(peer.hear(), Hello)
    yield peer
    peer.close()


@pytest.fixture
def guest(stranger):
    """Be let in, as far as the INIT."""
    stranger.say(Init(secret=b"psst"))
    assert isinstance(stranger.hear(), Ack)
    return stranger


def region(peer, says=LAYOUT.region_size, **options):
    return AddRegion(0, says), peer.memory(**options)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (Init(version=0x0100), "unsupported version"),
        (Init(id=9, secret=b"psst"), "unmatched interface id"),
        (Init(secret=b"psst", mode=IP), "mode mismatch"),
        (Init(secret=b"psst", mode=77), "mode mismatch"),
        (Init(), "secret required"),
        (Init(secret=b"psss"), "incorrect secret"),
        (Init(secret=b"psst2"), "incorrect secret"),
        (Ack(), "unexpected message"),
        (Connect("x"), "unexpected message"),
        (Hello(), "unexpected message"),
        (b"x" * 127, "bad message size"),
        (b"x" * 129, "bad message size"),
        (bytes(128), "unknown message type"),
        (b"\x03\x00" + b"\xff" * 126, "unterminated secret"),
    ],
)
def test_a_stranger_is_sent_away_with_the_reason(stranger, message, reason):
    stranger.say(message)
    assert stranger.goodbye() == reason


def test_descriptors_that_do_not_belong_are_closed(stranger):
    stranger.say(Init(secret=b"psst"), stranger.eventfd(), stranger.eventfd())
    assert stranger.goodbye() == "wrong number of descriptors"


def test_a_flood_of_descriptors_is_closed(guest):
    guest.say(AddRegion(0, 4096), *[guest.eventfd() for _ in range(100)])
    assert guest.goodbye() == "wrong number of descriptors"


def test_a_stranger_that_says_nothing_is_sent_away(stranger, server):
    assert stranger.goodbye() == "timeout"
    assert not server.is_up


def test_a_guest_that_says_nothing_more_is_sent_away(guest, server):
    assert guest.goodbye() == "timeout"
    assert eventually(lambda: server.last_error and "too long" in server.last_error.message)


def test_a_guest_that_dawdles_is_sent_away(guest):
    """The time is for the whole handshake, not for each message."""
    began = time.monotonic()
    with contextlib.suppress(OSError):
        for number in range(100):
            guest.say(AddRing(1, number, 0, 0, 4), guest.eventfd())
            time.sleep(TIMEOUT / 3)
    assert time.monotonic() - began < 100 * TIMEOUT / 3


def test_many_strangers_do_not_keep_a_guest_out(server):
    crowd = []
    for _ in range(40):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        sock.connect(str(server.path))
        crowd.append(sock)
    with memif.Client(server.path, secret=SECRET, retry=0.05, timeout=5) as client:
        assert client.is_up
    for each in crowd:
        each.close()


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (lambda p: [region(p)[:1]], "wrong number of descriptors"),
        (lambda p: [(AddRegion(1, 4096), p.memory())], "unexpected region index"),
        (lambda p: [(AddRegion(0, 0), p.memory())], "bad region size"),
        (lambda p: [(AddRegion(0, 1 << 40), p.memory())], "bad region size"),
        (lambda p: [(AddRegion(0, LAYOUT.region_size + 1), p.memory())], "region is smaller than it says"),
        (lambda p: [region(p, size=0, seals=0)], "region is smaller than it says"),
        (lambda p: [region(p, size=100)], "region is smaller than it says"),
        (lambda p: [region(p, flags=0, seals=0)], "region is not sealed"),
        (lambda p: [(AddRegion(0, 8), p.eventfd())], "region is not sealed"),
        (lambda _: [(AddRing(1, 0, 0, 0, 4),)], "wrong number of descriptors"),
        (lambda p: [(AddRing(1, 1, 0, 0, 4), p.eventfd())], "unexpected ring index"),
        (lambda p: [(AddRing(1, 0, 0, 0, 11), p.eventfd())], "ring is too large"),
        (lambda p: [(AddRing(1, 0, 0, 0, 15), p.eventfd())], "ring is too large"),
        (lambda p: [(AddRing(1, 0, 0, 0, 255), p.eventfd())], "ring is too large"),
        (lambda p: [(AddRing(1, 0, 0, 0, 4, 8), p.eventfd())], "private headers not supported"),
        (lambda p: [(AddRing(1, 0, 0, 0, 4), p.memory())], "doorbell is no eventfd"),
        (lambda _: [(Connect("x"),)], "missing ring"),
        (lambda p: [region(p), (AddRing(1, 0, 0, 0, 4), p.eventfd()), (Connect("x"),)], "missing ring"),
        (lambda _: [(Init(secret=b"psst"),)], "unexpected message"),
        (lambda _: [(Connected("x"),)], "unexpected message"),
        (lambda _: [(Ack(),)], "unexpected message"),
    ],
)  # fmt: skip
def test_a_guest_that_breaks_the_rules_is_sent_away(guest, server, messages, reason):
    with contextlib.suppress(BrokenPipeError):
        for message, *descriptors in messages(guest):
            guest.say(message, *descriptors)
    assert guest.goodbye() == reason
    assert eventually(lambda: server.last_error and server.last_error.reason == reason)
    assert not server.is_up


def enter(guest, places=LAYOUT.places, layout=LAYOUT, change=None):
    """Go through a client's handshake, and return the region."""
    memory = guest.memory(layout)
    if change:
        change(memory)
    with contextlib.suppress(BrokenPipeError):  # it may be sent away on the way in
        guest.say(AddRegion(0, layout.region_size), memory)
        for place in places:
            guest.say(place, guest.eventfd())
        guest.say(Connect("hostile"))
    return memory


@pytest.mark.parametrize(
    ("places", "reason"),
    [
        ([replace(LAYOUT.places[0], region=1), LAYOUT.places[1]], "unknown ring layout"),
        ([LAYOUT.places[0], replace(LAYOUT.places[1], offset=0x7FFF0000)], "unknown ring layout"),
        ([LAYOUT.places[0], replace(LAYOUT.places[1], log2_size=10)], "ring outside its region"),
        ([LAYOUT.places[0], LAYOUT.places[0]], "unexpected ring index"),
        ([LAYOUT.places[0], replace(LAYOUT.places[1], offset=0)], "unknown ring layout"),
        ([replace(each, log2_size=3) for each in LAYOUT.places], "wrong cookie on m2s ring 0"),
    ],
)
def test_rings_that_cannot_be_are_refused(guest, places, reason):
    if reason.startswith("wrong cookie"):
        places = [places[0], replace(places[1], offset=128 + 16 * 8)]
    enter(guest, places)
    assert guest.goodbye() == reason


@pytest.mark.parametrize("at", [0, 384])
def test_a_wrong_cookie_is_refused(guest, at):
    enter(guest, change=lambda memory: os.pwrite(memory, b"\0", at))
    assert guest.goodbye().startswith("wrong cookie on")


def test_a_guest_that_keeps_the_rules_is_welcome_and_cannot_shrink_its_memory(guest, server):
    memory = enter(guest)
    server.wait_up()
    with pytest.raises(PermissionError):
        os.ftruncate(memory, 0)


def test_a_peer_that_breaks_a_ring_hears_why(guest, server):
    memory = enter(guest)
    server.wait_up()
    os.pwrite(memory, b"\xff\xff", 6)
    with pytest.raises(MemifError, match="index jumped"):
        server.receive(timeout=5)
    assert guest.goodbye() == "index jumped"
    assert eventually(lambda: not server.is_up)
    assert server.last_error.reason == "index jumped"
    with pytest.raises(Down, match="index jumped"):
        server.send(b"x")


def test_a_peer_that_talks_out_of_turn_on_a_link_that_is_up(guest, server):
    enter(guest)
    server.wait_up()
    guest.say(Connect("again"))
    assert guest.goodbye() == "unexpected message"
    assert eventually(lambda: not server.is_up)


SIZES = [0, 100, LAYOUT.region_size, 1 << 33]
USUAL = [Ack(), Connect("x"), Init(secret=b"psst"), *LAYOUT.places]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.binary(min_size=1, max_size=140),
                st.builds(AddRegion, st.integers(0, 2), st.sampled_from(SIZES)).map(AddRegion.pack),
                st.builds(
                    AddRing, st.integers(0, 1), st.integers(0, 2), st.integers(0, 1),
                    st.integers(0, 1 << 32 - 1), st.integers(0, 20), st.integers(0, 1),
                ).map(AddRing.pack),
                st.sampled_from([each.pack() for each in USUAL]),
            ),
            st.sampled_from(["", "memory", "eventfd", "memory eventfd"]),
        ),
        max_size=6,
    )
)  # fmt: skip
def test_any_conversation_ends_clean(server, conversation):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sock.connect(str(server.path))
    peer = Peer(sock)
    with contextlib.suppress(OSError):
        for data, descriptors in conversation:
            peer.say(data, *(getattr(peer, each)() for each in descriptors.split()))
    peer.close()
    assert eventually(lambda: not server.is_up)


@pytest.fixture
def false_server(path):
    """Listen as a server that says what it likes; return what waits for our client to come."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(path))
        listening.listen(8)
        listening.settimeout(5)
        client = memif.Client(path, timeout=TIMEOUT, retry=30)
        client.start()
        peer = Peer(listening.accept()[0])
        peer.client = client
        yield peer
        peer.close()
        client.close()


HELLO = Hello("false", max_region=255, max_m2s_ring=255, max_s2m_ring=255, max_log2_ring_size=14)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([Hello(min_version=0x300, max_version=0x300)], "incompatible protocol version"),
        ([Hello(min_version=0, max_version=0x1FF)], "incompatible protocol version"),
        ([Ack()], "unexpected message"),
        ([HELLO, HELLO], "unexpected message"),
        ([HELLO, Connected("x")], "unexpected message"),
        ([HELLO, Ack(), Ack(), Ack(), Ack(), Ack()], "unexpected message"),
        ([HELLO, Ack(), bytes(128)], "unknown message type"),
        ([HELLO, b"x"], "bad message size"),
        ([], "timeout"),
        ([HELLO], "timeout"),
        ([HELLO, Ack(), Ack(), Ack(), Ack()], "timeout"),
        ([b"\x02\x00" + b"\xff" * 126], "unterminated name"),
    ],
)
def test_a_server_that_breaks_the_rules_is_left(false_server, messages, reason):
    with contextlib.suppress(BrokenPipeError):
        for each in messages:
            false_server.say(each)
    assert false_server.goodbye() == reason
    client = false_server.client
    assert eventually(lambda: client.last_error and client.last_error.reason == reason)
    assert not client.is_up


GREETINGS = st.builds(
    Hello, st.just("false"), *[st.sampled_from([0, 0x1FF, 0x200, 0xFFFF])] * 2, *[st.integers(0, 300)] * 3,
    st.integers(0, 255),
)  # fmt: skip


@pytest.fixture
def listening(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.bind(str(path))
        sock.listen(8)
        sock.settimeout(5)
        yield sock


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(st.just(HELLO), GREETINGS, st.binary(min_size=1, max_size=140)),
    st.lists(
        st.tuples(
            st.one_of(
                st.just(Ack()),
                st.just(Ack()),
                st.sampled_from([Connected("x"), Disconnect(1, "no"), HELLO, AddRegion(0, 4096), AddRing(1)]),
                st.binary(min_size=1, max_size=140),
            ),
            st.sampled_from(["", "", "", "memory", "eventfd", "memory eventfd"]),
        ),
        max_size=8,
    ),
)
def test_any_conversation_of_a_server_ends_clean(path, listening, greeting, conversation):
    client = memif.Client(path, timeout=TIMEOUT, retry=30)
    client.start()
    peer = Peer(listening.accept()[0])
    with contextlib.suppress(OSError):
        peer.say(greeting)
        for message, descriptors in conversation:
            peer.say(message, *(getattr(peer, each)() for each in descriptors.split()))
    peer.close()
    assert eventually(lambda: client.last_error and not client.is_up)
    client.close()
    assert isinstance(client.last_error, MemifError)
    with pytest.raises(Down):
        client.send(b"x")


def test_descriptors_from_a_server_are_closed(false_server):
    false_server.say(HELLO, false_server.eventfd())
    assert false_server.goodbye() == "wrong number of descriptors"


def test_a_server_that_refuses_is_quoted(false_server):
    false_server.say(HELLO)
    false_server.say(Disconnect(7, "not today"))
    client = false_server.client
    assert eventually(lambda: client.last_error and "not today" in client.last_error.message)


def test_a_server_that_takes_few_and_small_rings_gets_them(false_server):
    false_server.say(replace(HELLO, max_m2s_ring=0, max_s2m_ring=0, max_log2_ring_size=0))
    for _ in range(4):
        false_server.say(Ack())
    rings = []
    while len(rings) < 2:
        message = false_server.hear()
        if isinstance(message, AddRing):
            rings.append(message)
    assert [each.log2_size for each in rings] == [0, 0]


def test_a_peers_words_cannot_move_the_readers_cursor(false_server):
    false_server.say(HELLO)
    false_server.say(Disconnect(0, "\x1b[2Jgone"))
    client = false_server.client
    assert eventually(lambda: client.last_error and "?[2Jgone" in client.last_error.message)


def test_a_process_without_free_descriptors_says_so(path):
    with memif.Server(path) as server:
        used = {int(each.name) for each in Path("/proc/self/fd").iterdir()}
        few = next(most for most in range(1, 65536) if most - len({n for n in used if n < most}) == 2)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, before[1]))
        try:
            client = memif.Client(path, retry=0.05)
            client.start()
            assert eventually(lambda: client.last_error)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        client.wait_up(10)
        assert server.wait_up().is_up
        client.close()
