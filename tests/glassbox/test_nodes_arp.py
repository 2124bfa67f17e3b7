"""ARP: who is answered, who is believed, and what happens to packets meanwhile."""

from __future__ import annotations

import ipaddress
import time

import pytest
from glassbox_bench import BROADCAST, NOBODY, Bench, asks, raw_mac, udp
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP
from scapy.layers.l2 import ARP, Ether

from labs.glassbox.route import Prefix, Route
from labs.glassbox.routes import MOST_LEARNED

A, GATE = "10.0.0.2", "10.0.0.1"


@pytest.fixture(scope="module")
def made(folder):
    """Make a box with two wires and no neighbour known."""
    bench = Bench(folder)
    bench.wire(0, "10.0.0.1/24")
    bench.wire(1, "10.0.1.1/16")
    yield bench
    bench.close()


@pytest.fixture(autouse=True)
def strangers(made):
    """Let the box forget everybody after each test."""
    yield
    for index, address in list(made.box.routes.neighbours):
        made.box.routes.forget(index, address)


def known(bench):
    return {(index, str(address)): mac for (index, address), mac in bench.box.routes.neighbours.items()}


def answer(wire, address, to, **fields):
    """Return the answer that we give the box: `address` is ours."""
    fields = {"op": 2, "hwsrc": wire.ours, "psrc": address, "hwdst": wire.theirs, "pdst": to} | fields
    return Ether(src=wire.ours, dst=wire.theirs) / ARP(**fields)


def test_a_question_for_our_address_is_answered(bench):
    wire = bench.wires[0]
    out = bench.through(wire, asks(A, GATE, wire))
    reply = ARP(op=2, hwsrc=wire.theirs, psrc=GATE, hwdst=wire.ours, pdst=A)
    assert out == [[bytes(Ether(src=wire.theirs, dst=wire.ours) / reply)], []]
    assert known(bench) == {(wire.index, A): raw_mac(wire.ours)}


def test_a_padded_question_gets_an_answer_without_padding(bench):
    wire = bench.wires[0]
    out = bench.through(wire, bytes(asks(A, GATE, wire)) + bytes(18))
    assert [len(each) for each in out[0]] == [42]


def test_a_question_sent_to_us_alone_is_answered_too(bench):
    wire = bench.wires[0]
    frame = asks(A, GATE, wire)
    frame.dst = wire.theirs
    assert len(bench.through(wire, frame)[0]) == 1


@pytest.mark.parametrize("target", ["10.0.0.3", "10.0.0.255", "99.0.0.1", NOBODY])
def test_a_question_for_others_is_not_answered_nor_believed(bench, target):
    out, moved = bench.why(bench.wires[0], asks(A, target, bench.wires[0]))
    assert (out, moved) == ([], {"IP4 destination address not local to subnet": 1})
    assert not known(bench)


def test_whoever_checks_whether_our_address_is_free_is_answered_and_not_noted(bench):
    wire = bench.wires[0]
    out = bench.through(wire, asks(NOBODY, GATE, wire))[0]
    assert ARP in Ether(out[0])
    assert Ether(out[0])[ARP].pdst == NOBODY
    assert not known(bench)


def test_nobody_takes_our_own_address(bench):
    wire = bench.wires[0]
    bench.through(wire, asks(GATE, GATE, wire), answer(wire, GATE, GATE))
    assert not known(bench)
    assert bench.box.routes.lookup(ipaddress.ip_address(GATE))[1].kind == "local"


def test_a_stranger_from_another_subnet_is_not_noted(bench):
    bench.through(bench.wires[0], asks("77.0.0.1", GATE, bench.wires[0]))
    assert not known(bench)


def test_an_announcement_is_believed_of_those_who_are_known_only(bench):
    wire = bench.wires[0]
    moved_to = "02:00:00:00:99:0b"
    bench.through(wire, asks(A, A, wire))
    assert not known(bench)
    bench.through(wire, asks(A, GATE, wire))
    news = Ether(src=moved_to, dst=BROADCAST) / ARP(op=1, hwsrc=moved_to, psrc=A, pdst=A)
    assert bench.through(wire, news) == [[], []]
    assert known(bench) == {(wire.index, A): raw_mac(moved_to)}


@pytest.mark.parametrize("sender", ["02:00:00:00:00:66", BROADCAST, "01:00:5e:00:00:01"])
def test_a_sender_that_is_not_whom_it_claims_to_be_is_dropped(bench, sender):
    wire = bench.wires[0]
    out, moved = bench.why(wire, asks(A, GATE, wire, hwsrc=sender))
    assert (out, moved) == ([], {"ARP hw addr does not match L2 frame src addr": 1})
    assert not known(bench)


@pytest.mark.parametrize("group", [BROADCAST, "01:00:5e:00:00:01"])
def test_no_neighbour_has_the_address_of_a_group(bench, group):
    frame = Ether(src=group, dst=BROADCAST) / ARP(op=1, hwsrc=group, psrc=A, pdst=GATE)
    out, moved = bench.why(bench.wires[0], frame)
    assert (out, moved) == ([], {"ARP hw addr does not match L2 frame src addr": 1})


@pytest.mark.parametrize("size", range(28))
def test_arp_cut_short_is_dropped(bench, size):
    whole = bytes(asks(A, GATE, bench.wires[0]))
    out, moved = bench.why(bench.wires[0], whole[: 14 + size])
    assert (out, moved) == ([], {"not an ARP packet for IPv4 over Ethernet": 1})


@pytest.mark.parametrize("fields", [{"hwtype": 6}, {"ptype": 0x86DD}, {"hwlen": 8}, {"plen": 16}])
def test_other_kinds_of_arp_are_dropped(bench, fields):
    raw = bytearray(bytes(asks(A, GATE, bench.wires[0])))
    at = {"hwtype": 15, "ptype": 17, "hwlen": 18, "plen": 19}
    for name, value in fields.items():
        raw[at[name]] = value & 255
    out, moved = bench.why(bench.wires[0], bytes(raw))
    assert (out, moved) == ([], {"not an ARP packet for IPv4 over Ethernet": 1})


@pytest.mark.parametrize("operation", [0, 3, 4, 8, 0xFFFF])
def test_other_operations_are_not_answered(bench, operation):
    assert bench.through(bench.wires[0], asks(A, GATE, bench.wires[0], op=operation)) == [[], []]


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_as_arp_do_no_harm(made, raw):
    wire = made.wires[0]
    made.through(wire, bytes(Ether(src=wire.ours, dst=BROADCAST, type=0x806)) + raw)
    made.check()


def test_a_packet_for_an_unknown_neighbour_becomes_a_question(bench):
    wire, out = bench.wires
    results = bench.through(wire, wire.frame() / udp(A, "10.0.1.77"))
    question = ARP(op=1, hwsrc=out.theirs, psrc="10.0.1.1", hwdst="00:00:00:00:00:00", pdst="10.0.1.77")
    assert results == [[], [bytes(Ether(src=out.theirs, dst=BROADCAST) / question)]]


def test_the_question_is_for_the_next_hop_of_a_route(bench):
    wire, out = bench.wires
    prefix = Prefix("30.0.0.0/8")
    bench.box.routes.add(prefix, Route("via", out.index, ipaddress.ip_address("10.0.1.9")))
    results = bench.through(wire, wire.frame() / udp(A, "30.1.2.3"))
    bench.box.routes.remove(prefix)
    assert Ether(results[1][0])[ARP].pdst == "10.0.1.9"


def test_many_packets_at_once_are_one_question(bench):
    wire = bench.wires[0]
    prefix = Prefix("30.0.0.0/8")
    bench.box.routes.add(prefix, Route("via", bench.wires[1].index, ipaddress.ip_address("10.0.1.9")))
    time.sleep(0.002)
    out, moved = bench.why(wire, *(wire.frame() / udp(A, f"30.0.0.{each}") for each in range(200)))
    bench.box.routes.remove(prefix)
    assert len(out) == moved["ARP requests sent"] < 200
    assert moved["ARP requests sent"] + moved["ARP requests throttled"] == 200


def test_the_question_is_put_again_later(bench):
    wire = bench.wires[0]
    for _ in range(3):
        time.sleep(0.003)
        assert len(bench.through(wire, wire.frame() / udp(A, "10.0.1.78"))[1]) == 1


def test_after_the_answer_packets_go_out(bench):
    wire, out = bench.wires
    bench.through(wire, wire.frame() / udp(A, "10.0.1.77"))
    assert bench.through(out, answer(out, "10.0.1.77", "10.0.1.1")) == [[], []]
    assert known(bench) == {(out.index, "10.0.1.77"): raw_mac(out.ours)}
    got = bench.through(wire, wire.frame() / udp(A, "10.0.1.77"))[1]
    assert [Ether(each)[IP].dst for each in got] == ["10.0.1.77"]
    assert Ether(got[0]).dst == out.ours


def test_a_route_comes_to_life_when_its_next_hop_answers(bench):
    wire, out = bench.wires
    prefix = Prefix("30.0.0.0/8")
    bench.box.routes.add(prefix, Route("via", out.index, ipaddress.ip_address("10.0.1.9")))
    bench.through(wire, wire.frame() / udp(A, "30.1.2.3"))
    bench.through(out, answer(out, "10.0.1.9", "10.0.1.1"))
    got = bench.through(wire, wire.frame() / udp(A, "30.1.2.3"))[1]
    bench.box.routes.remove(prefix)
    assert Ether(got[0]).dst == out.ours
    assert Ether(got[0])[IP].dst == "30.1.2.3"


def test_a_neighbour_set_by_hand_is_not_overruled(bench):
    wire, out = bench.wires
    by_hand = "02:00:00:00:77:0b"
    bench.neighbour(out, "10.0.1.77", by_hand)
    bench.through(out, answer(out, "10.0.1.77", "10.0.1.1"), asks("10.0.1.77", "10.0.1.1", out))
    got = bench.through(wire, wire.frame() / udp(A, "10.0.1.77"))[1]
    assert Ether(got[0]).dst == by_hand


def test_a_neighbour_that_moves_is_followed(bench):
    wire, out = bench.wires
    bench.through(out, asks("10.0.1.77", "10.0.1.1", out))
    other = "02:00:00:00:88:0b"
    frame = Ether(src=other, dst=out.theirs) / ARP(
        op=2, hwsrc=other, psrc="10.0.1.77", hwdst=out.theirs, pdst="10.0.1.1"
    )
    bench.through(out, frame)
    got = bench.through(wire, wire.frame() / udp(A, "10.0.1.77"))[1]
    assert Ether(got[0]).dst == other


def test_a_forgotten_neighbour_is_asked_for_again(bench):
    wire, out = bench.wires
    bench.through(out, asks("10.0.1.77", "10.0.1.1", out))
    bench.box.routes.forget(out.index, ipaddress.ip_address("10.0.1.77"))
    time.sleep(0.002)
    assert ARP in Ether(bench.through(wire, wire.frame() / udp(A, "10.0.1.77"))[1][0])


def test_a_second_address_is_answered_for_too(bench):
    wire, routes = bench.wires[0], bench.box.routes
    second = ipaddress.ip_interface("172.16.0.1/24")
    routes.add_address(wire.interface, second)
    out = bench.through(wire, asks("172.16.0.2", "172.16.0.1", wire))[0]
    noted = known(bench)
    routes.remove_address(wire.interface, second)
    assert Ether(out[0])[ARP].psrc == "172.16.0.1"
    assert noted == {(wire.index, "172.16.0.2"): raw_mac(wire.ours)}
    assert not known(bench)
    assert bench.through(wire, asks("172.16.0.2", "172.16.0.1", wire))[0] == []


def test_who_sends_arp_from_many_addresses_fills_no_table(bench):
    wire, out = bench.wires
    for first in range(0, MOST_LEARNED + 512, 128):
        hosts = range(first, first + 128)
        out.send(*(asks(f"10.0.{2 + each // 200}.{1 + each % 200}", "10.0.1.1", out) for each in hosts))
        bench.turn(3)
        out.received()
    assert len(known(bench)) == MOST_LEARNED
    bench.box.routes.add(Prefix("40.0.0.0/24"), Route("via", wire.index, ipaddress.ip_address("10.0.0.99")))
    bench.box.routes.remove(Prefix("40.0.0.0/24"))


def test_a_flood_of_news_loses_no_packet(bench):
    wire = bench.wires[0]
    wire.send(*[asks(A, GATE, wire)] * 900)
    bench.turn(6)
    assert len(wire.received()) == 900
