from __future__ import annotations

import os

import numpy as np
import pytest

from labs.memif import peek as peeking
from labs.memif.errors import MemifError
from labs.memif.microscope import Slot, look
from labs.memif.peek import Peek, links_of

pytestmark = pytest.mark.usefixtures("no_leaks")


def test_a_link_of_ours_as_it_moves(pair):
    server, client = pair(ring_size=16, buffer_size=64)
    client.send([b"x" * 60, b"y" * 100])
    view = look(server)
    s2m, m2s = view.rings
    assert (s2m.name, s2m.size, s2m.head, s2m.tail, s2m.fill) == ("s2m 0", 16, 3, 0, 3)
    assert (m2s.name, m2s.head, m2s.tail, m2s.fill) == ("m2s 0", 16, 0, 0)
    assert [(each.length, each.goes_on) for each in s2m.slots(0, 3)] == [(60, False), (64, True), (36, False)]
    assert s2m.slots()[15] == Slot(15, 0, view.regions[0].size - 17 * 64, 64, goes_on=False)
    assert not s2m.wants_doorbell
    server.receive()
    server.send(b"z")
    server.rx_mode("interrupt")
    s2m, m2s = look(server).rings
    assert (s2m.fill, m2s.fill, s2m.wants_doorbell) == (0, 1, True)
    assert [each.head for each in look(client).rings] == [s2m.head, m2s.head]


def test_the_text_tells_the_handshake_and_the_rings(pair):
    server, client = pair()
    text = str(look(client))
    for part in (
        "Hello(",
        "Init(",
        "+ descriptor",
        "s2m 0: 1024 slots",
        "m2s 0",
        "sealed against: shrink, grow",
        "polls",
    ):
        assert part in text
    assert "ms peer Init(" in str(look(server))


@pytest.mark.parametrize(
    ("queues", "names"), [(1, ["s2m 0", "m2s 0"]), (2, ["ring 0", "ring 1", "ring 2", "ring 3"])]
)
def test_peeking_sees_the_same_from_outside(pair, queues, names):
    server, client = pair(queues=queues, ring_size=32, buffer_size=128, interface="peeked")
    client.send([b"x"] * 5)
    with Peek(os.getpid(), "peeked") as peek:
        view = peek.look()
        assert [each.name for each in view.rings] == names
        ours = look(server)
        assert [(each.head, each.tail, each.size, each.offset, each.line) for each in view.rings] == [
            (each.head, each.tail, each.size, each.offset, each.line) for each in ours.rings
        ]
        assert view.rings[0].slots() == ours.rings[0].slots()
        client.send([b"x"])
        assert peek.look().rings[0].head == 6
    with Peek(os.getpid(), "peeked", queues_s2m=queues) as peek:
        assert [each.name for each in peek.look().rings] == [each.name for each in look(server).rings]


def test_peeking_cannot_write(pair):
    pair(interface="peeked")
    with Peek(os.getpid(), "peeked") as peek:
        with pytest.raises(ValueError, match="read-only"):
            peek.rings[0].memory[0] = 1
        assert isinstance(peek.rings[0].memory, np.ndarray)


def test_what_is_not_there_is_told(pair):
    pair(interface="peeked")
    assert any("peeked" in each for each in links_of(os.getpid()))
    with pytest.raises(MemifError, match="no connected memif memif7/7") as caught:
        Peek(os.getpid(), "memif7/7")
    assert "peeked" in caught.value.hint
    with pytest.raises(MemifError, match="cannot be looked into"):
        Peek(2**22 + 1)


def test_memory_without_rings_is_no_link():
    with pytest.raises(MemifError, match="end to end"):
        peeking._places(np.zeros(4096, np.uint8))
