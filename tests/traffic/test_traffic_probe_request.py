from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import ARP, Ether

from labs.errors import LabError
from labs.memif.errors import MemifError
from labs.traffic.probe_request import Request, checksum, resolve
from labs.traffic.stamp import Stamp

FIELDS = {
    "source": "198.18.9.2",
    "target": "198.18.9.1",
    "source_mac": "02:00:00:00:00:02",
    "target_mac": "02:00:00:00:00:01",
}
OURS, THEIRS = FIELDS["source"], FIELDS["target"]


def remade(packet):
    """Return the packet with checksums of scapy's own making."""
    copy = packet.copy()
    del copy[IP].chksum
    del copy[ICMP].chksum
    return type(packet)(bytes(copy))


@given(st.integers(0, 0xFFFF), st.integers(64, 2048), st.booleans())
def test_a_frame_is_what_scapy_says_an_echo_request_is(stream, size, ethernet):
    request = Request(**FIELDS, size=size, ethernet=ethernet)
    frame = request.frame(stream).tobytes()
    packet = (Ether if ethernet else IP)(frame)
    assert len(frame) == size - (0 if ethernet else 14)
    assert (packet[IP].src, packet[IP].dst, packet[ICMP].type, packet[ICMP].id) == (OURS, THEIRS, 8, stream)
    assert bytes(remade(packet)) == frame
    assert Stamp.read(frame, request.stamp_at) == Stamp(stream, 0, 0)


@given(st.binary(min_size=1, max_size=100).map(lambda each: each + b"\0" * (len(each) % 2)))
def test_data_with_its_checksum_sums_up_to_zero(data):
    assert checksum(data + checksum(data).to_bytes(2)) == 0


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("source", "198.18.9", "no IPv4 address"),
        ("target", "fd00::1", "no IPv4 address"),
        ("source_mac", "02:00:00:00:00", "no Ethernet address"),
        ("target_mac", "02-00-00-00-00-01", "no Ethernet address"),
        ("size", 63, "frames of 63 bytes"),
        ("size", 2049, "frames of 2049 bytes"),
        ("size", 64.0, "frames of 64.0 bytes"),
    ],
)
def test_what_cannot_be_is_refused(field, value, said):
    with pytest.raises(LabError, match=said) as refused:
        Request(**{**FIELDS, field: value})
    assert refused.value.hint


def answering(link, packet):
    """Wait for one packet, answer it with what `packet` makes of it, and return the thread."""

    def answer():
        while not (asked := link.receive(5)):
            pass
        link.send(packet(Ether(asked[0])))

    thread = threading.Thread(target=answer)
    thread.start()
    return thread


def reply(asked):
    return Ether(src="02:aa:bb:cc:dd:ee", dst=asked.src) / ARP(
        op=2, hwsrc="02:aa:bb:cc:dd:ee", psrc=asked[ARP].pdst, hwdst=asked.src, pdst=asked[ARP].psrc
    )


def test_the_other_end_is_asked_and_learns_who_asks(pair):
    server, client = pair()
    seen = []
    thread = answering(server, lambda asked: seen.append(asked) or reply(asked))
    assert resolve(client, OURS, FIELDS["source_mac"], THEIRS) == "02:aa:bb:cc:dd:ee"
    thread.join()
    (asked,) = seen
    assert (asked.dst, asked[ARP].op, asked[ARP].pdst) == ("ff:ff:ff:ff:ff:ff", 1, THEIRS)
    assert (asked[ARP].hwsrc, asked[ARP].psrc) == (FIELDS["source_mac"], OURS)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda asked: bytes(reply(asked))[:40],
        lambda asked: asked,
        lambda _: b"x" * 64,
        lambda asked: bytes(reply(asked)).replace(bytes([198, 18, 9, 1]), bytes([198, 18, 9, 3])),
    ],
    ids=["cut off", "a request", "no ARP", "of another"],
)
def test_what_is_no_answer_is_passed_over(pair, wrong):
    server, client = pair()
    thread = answering(server, wrong)
    with pytest.raises(MemifError, match=f"Nobody at .* answers ARP for {THEIRS}") as nobody:
        resolve(client, OURS, FIELDS["source_mac"], THEIRS, timeout=0.3)
    assert "target_mac" in nobody.value.hint
    thread.join()
