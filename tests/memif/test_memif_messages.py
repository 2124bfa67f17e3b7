from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memif_golden import GOLDEN, golden

from labs.memif import messages
from labs.memif.errors import BadMessage
from labs.memif.messages import (
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

U8, U16, U32, U64 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32, 64))


def text(size):
    """Return strings that fit a field of `size` bytes."""
    characters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
    return st.text(characters, max_size=size).map(lambda each: messages.clip(each, size))


any_message = st.one_of(
    st.just(Ack()),
    st.builds(Hello, text(32), U16, U16, U16, U16, U16, U8),
    st.builds(
        Init, U16, U32, U8, st.binary(max_size=23).map(lambda each: each.replace(b"\0", b"x")), text(32)
    ),
    st.builds(AddRegion, U16, U64),
    st.builds(AddRing, U16, U16, U16, U32, U8, U16),
    st.builds(Connect, text(32)),
    st.builds(Connected, text(32)),
    st.builds(Disconnect, U32, text(96)),
)


@given(any_message)
def test_what_is_packed_unpacks_to_the_same(message):
    packed = message.pack()
    assert len(packed) == 128
    assert unpack(packed) == message


@given(st.binary(min_size=128, max_size=128))
def test_any_128_bytes_are_a_message_or_refused(data):
    with contextlib.suppress(BadMessage):
        assert unpack(unpack(data).pack()).kind == data[0]


@given(any_message, st.binary(max_size=127))
def test_what_stands_behind_the_fields_does_not_matter(message, noise):
    data = message.pack()
    used = 2 + message.layout.size
    assert unpack(data[:used] + noise.ljust(128, b"\xff")[: 128 - used]) == message


@given(st.binary(max_size=300).filter(lambda each: len(each) != 128))
def test_short_and_long_messages_are_refused(data):
    with pytest.raises(BadMessage, match=f"of {len(data)} bytes"):
        unpack(data)


@pytest.mark.parametrize("kind", [0, 9, 99, 0x0100, 0xFFFF])
def test_an_unknown_type_is_refused(kind):
    with pytest.raises(BadMessage, match=f"unknown type {kind}"):
        unpack(kind.to_bytes(2, "little").ljust(128, b"\0"))


@pytest.mark.parametrize(
    "message",
    [
        Hello(name="x"),
        Init(name="x"),
        Init(secret=b"x"),
        Connect("x"),
        Connected("x"),
        Disconnect(reason="x"),
    ],
)
def test_a_string_that_does_not_end_is_refused(message):
    data = bytearray(message.pack())
    begin = data.rindex(b"x")
    for at in range(begin, 128):
        data[at] = ord("x")
    with pytest.raises(BadMessage, match="does not end"):
        unpack(bytes(data))


@pytest.mark.parametrize(
    "message",
    [
        Hello(name="n" * 32),
        Init(secret=b"s" * 24),
        Init(secret=b"a\0b"),
        Connect("a\0b"),
        Disconnect(reason="r" * 96),
        Hello(min_version=1 << 16),
        AddRegion(size=-1),
        AddRing(log2_size=256),
    ],
)
def test_what_a_field_cannot_hold_is_not_packed(message):
    with pytest.raises(BadMessage):
        message.pack()


@given(st.text(), st.integers(1, 96))
def test_clipped_text_fits(words, size):
    assert len(messages.clip(words, size).encode()) < size


VPP, DPDK = "VPP 26.06-release", "DPDK 22.11.11"


@pytest.mark.parametrize(
    ("peer", "message"),
    [
        ("vpp", Ack()),
        ("vpp", Hello(VPP, 0x200, 0x200, 256, 256, 256, 14)),
        ("vpp", Init(0x200, 5, messages.IP, b"psst", VPP)),
        ("vpp", AddRegion(0, 33024)),
        ("vpp", AddRing(messages.S2M, 0, 0, 0, 10, 0)),
        ("vpp", Connect("memif7/5")),
        ("vpp", Connected("memif0/0")),
        ("vpp", Disconnect(0, "unknown message type (0x63)")),
        ("testpmd", Ack()),
        ("testpmd", Hello(DPDK, 0x200, 0x200, 255, 255, 255, 14)),
        ("testpmd", Init(0x200, 3, messages.ETHERNET, b"psst", DPDK)),
        ("testpmd", AddRegion(0, 4227328)),
        ("testpmd", AddRing(messages.S2M, 0, 0, 0, 10, 0)),
        ("testpmd", Connect("net_memif0")),
        ("testpmd", Connected("net_memif0")),
        ("testpmd", Disconnect(0, "Unknown message type")),
    ],
)
def test_ours_are_the_bytes_of_the_real_peers(peer, message):
    sent = golden(peer, type(message).__name__)
    assert unpack(sent) == message
    assert message.pack() == sent


def field(number, size):
    """Return bytes of which no two are alike, and the number they make."""
    data = bytes(range(number, number + size))
    return int.from_bytes(data, "little"), data


def laid_out(kind, *fields):
    """Return a message whose fields have the given widths (and strings), and its bytes, made by hand."""
    values, data, at = [], kind.kind.to_bytes(2, "little"), 1
    for each in fields:
        if isinstance(each, int):
            value, part = field(at, each)
            at += each
        else:
            value, size = each
            part = (value.encode() if isinstance(value, str) else value).ljust(size, b"\0")
        values.append(value)
        data += part
    return kind(*values), data.ljust(128, b"\0")


@pytest.mark.parametrize(
    ("message", "data"),
    [
        laid_out(Ack),
        laid_out(Hello, ("name", 32), 2, 2, 2, 2, 2, 1),
        laid_out(Init, 2, 4, 1, (b"secret", 24), ("name", 32)),
        laid_out(AddRegion, 2, 8),
        laid_out(AddRing, 2, 2, 2, 4, 1, 2),
        laid_out(Connect, ("interface", 32)),
        laid_out(Connected, ("interface", 32)),
        laid_out(Disconnect, 4, ("reason", 96)),
    ],
)  # fmt: skip
def test_every_field_stands_where_the_protocol_puts_it(message, data):
    """Field widths from VPP 26.06, src/plugins/memif/memif.h; each field has bytes of its own."""
    assert message.pack() == data
    assert unpack(data) == message


def test_every_kind_of_both_peers_was_captured():
    kinds = {each.__name__ for each in messages.KINDS.values()}
    assert {kind for peer, kind in GOLDEN if peer == "vpp"} == kinds
    assert {kind for peer, kind in GOLDEN if peer == "testpmd"} == kinds
