"""Interfaces come and go: indexes are used again, and nothing of the old ones is left behind."""

from __future__ import annotations

import ipaddress

import pytest
from glassbox_bench import Bench, asks, echo, raw_mac, udp
from scapy.layers.inet import IP
from scapy.layers.l2 import ARP, Ether

from labs.errors import LabError
from labs.glassbox.route import Prefix, Route
from labs.glassbox.vm import CROSS_CONNECT, INTERFACES, LAYER3, NODES

A = "10.0.0.2"


def test_a_deleted_interface_leaves_no_way_to_it(bench):
    box = bench.box
    wire = bench.wire(9, "10.9.0.1/24")
    bench.neighbour(wire, "10.9.0.2")
    box.routes.add(Prefix("50.0.0.0/8"), Route("via", wire.index, ipaddress.ip_address("10.9.0.2")))
    box.routes.add(Prefix("51.0.0.0/8"), Route("attached", wire.index))
    source = bench.wires[0]
    for target in ("10.9.0.2", "50.0.0.1"):
        assert len(bench.through(source, source.frame() / udp(A, target))[-1]) == 1
    bench.cut(wire)
    assert not [
        each for each in box.routes.routes.values() if each.kind != "drop" and each.interface == wire.index
    ]
    assert not [each for each, _ in box.routes.neighbours if each == wire.index]
    for target in ("10.9.0.2", "10.9.0.1", "50.0.0.1", "51.0.0.1", "10.9.0.255"):
        out, moved = bench.why(source, source.frame() / udp(A, target))
        assert (out, moved) == ([], {"blackholed packets": 1})


def test_a_new_interface_with_an_old_index_uses_its_own_address(bench):
    source = bench.wires[0]
    first = bench.wire(9, "10.9.0.1/24")
    bench.neighbour(first, "10.9.0.2")
    bench.through(source, source.frame() / udp(A, "10.9.0.2"))
    index = first.index
    bench.cut(first)
    second = bench.wire(8, "10.9.0.1/24")
    assert second.index == index
    got = bench.through(source, source.frame() / udp(A, "10.9.0.2"))[-1]
    assert ARP in Ether(got[0])  # nobody is known there any more
    assert Ether(got[0]).src == second.theirs
    bench.neighbour(second, "10.9.0.2", "02:00:00:00:55:0b")
    got = bench.through(source, source.frame() / udp(A, "10.9.0.2"))[-1]
    bench.cut(second)
    assert (Ether(got[0]).src, Ether(got[0]).dst) == (second.theirs, "02:00:00:00:55:0b")


def test_the_same_interface_deleted_and_made_again(bench):
    source = bench.wires[0]
    for _ in range(5):
        wire = bench.wire(9, "10.9.0.1/24")
        bench.neighbour(wire, "10.9.0.2")
        assert len(bench.through(source, source.frame() / udp(A, "10.9.0.2"))[-1]) == 1
        bench.cut(wire)


def test_a_changed_hardware_address_is_used_at_once(bench):
    wire, source = bench.wires[1], bench.wires[0]
    wire.interface.mac = raw_mac("02:00:00:00:44:0a")
    bench.box.interfaces.write(wire.interface)
    bench.box.routes.refresh(wire.interface)
    got = bench.through(source, source.frame() / udp(A, "10.0.1.2"))[1]
    wire.interface.mac = raw_mac(wire.theirs)
    bench.box.interfaces.write(wire.interface)
    bench.box.routes.refresh(wire.interface)
    assert Ether(got[0]).src == "02:00:00:00:44:0a"


def test_a_cross_connect_to_a_deleted_interface_is_undone(bench):
    box, source = bench.box, bench.wires[2]
    peer = box.add_interface("pg7", "pg")
    box.bridges.connect(source.interface, peer)
    assert source.interface.mode == CROSS_CONNECT
    box.remove_interface(peer)
    assert source.interface.mode == LAYER3
    assert len(bench.through(source, asks("10.0.2.9", "10.0.2.1", source))[2]) == 1


def test_a_bridge_forgets_a_deleted_port(bench):
    box = bench.box
    ports = [box.add_interface(f"pg{each}", "pg") for each in (1, 2)]
    for each in ports:
        box.set_up(each, is_up=True)
        box.bridges.join(each, 3)
    box.remove_interface(ports[0])
    assert [each.name for each in box.bridges.ports(3)] == ["pg2"]
    box.remove_interface(ports[1])
    assert box.bridges.ports(3) == []


def test_names_are_given_once(bench):
    made = bench.box.add_interface("pg3", "pg")
    with pytest.raises(LabError, match="pg3"):
        bench.box.add_interface("pg3", "pg")
    bench.box.remove_interface(made)
    assert not bench.box.interfaces.has("pg3")


def test_too_many_interfaces_are_refused_in_words(bench):
    room = INTERFACES - len(list(bench.box.interfaces))
    made = [bench.box.add_interface(f"loop{each}", "loop") for each in range(room)]
    with pytest.raises(LabError, match=str(INTERFACES)):
        bench.box.add_interface("one more", "loop")
    assert len(list(bench.box.interfaces)) == INTERFACES
    for each in made:
        bench.box.remove_interface(each)
    assert len(list(bench.box.interfaces)) == 1 + len(bench.wires)


def test_a_graph_without_room_refuses_the_interface_and_keeps_nothing_of_it(folder):
    bench = Bench(folder)
    box = bench.box
    room = (NODES - len(box.graph)) // 2  # each interface has two nodes
    for number in range(room):
        box.remove_interface(box.add_interface(f"new{number}", "loop"))
    with pytest.raises(LabError, match="nodes"):
        box.add_interface("one more", "loop")
    assert [each.name for each in box.interfaces] == ["local0"]
    box.add_interface("new1", "loop")  # a name that was there is there again
    with pytest.raises(LabError, match="nodes"):
        box.add_memif(77, role="master")
    assert not box.memifs.by_index
    with pytest.raises(LabError, match="nodes"):
        box.add_memif(77, role="master")  # the first one does not listen any more
    box.close()


def test_local0_cannot_be_deleted(bench):
    with pytest.raises(LabError, match="local0"):
        bench.box.remove_interface(bench.box.interfaces[0])


def test_a_loopback_hears_what_it_says(bench):
    """Packets routed to a neighbour behind a loopback come back in by it, and go on from there."""
    box, source = bench.box, bench.wires[0]
    loop = box.add_interface("loop0", "loop")
    box.routes.add_address(loop, ipaddress.ip_interface("172.20.0.1/24"))
    box.set_up(loop, is_up=True)
    box.routes.learn(loop.index, ipaddress.ip_address("172.20.0.2"), loop.mac, static=True)
    box.routes.add(Prefix("60.0.0.0/8"), Route("via", loop.index, ipaddress.ip_address("172.20.0.2")))
    out, moved = bench.why(source, source.frame() / udp(A, "60.0.0.1", ttl=9))
    assert (out, moved) == ([], {"ip4 ttl <= 1": 1})
    assert box.counters.of_interface(loop.index)["rx packets"] in (0, 8)
    box.remove_interface(loop)


def test_an_address_of_a_loopback_answers(bench):
    box, source = bench.box, bench.wires[0]
    loop = box.add_interface("loop0", "loop")
    box.routes.add_address(loop, ipaddress.ip_interface("172.20.0.1/32"))
    got = bench.through(source, source.frame() / echo(A, "172.20.0.1"))[0]
    box.remove_interface(loop)
    assert Ether(got[0])[IP].src == "172.20.0.1"


def test_packets_that_go_round_for_ever_do_not_stop_the_box(folder):
    """Two loopbacks wired to each other: the loop must go on turning, and end when they are unwired."""
    bench = Bench(folder)
    box = bench.box
    one, other = (box.add_interface(f"loop{each}", "loop") for each in range(2))
    for each, peer in ((one, other), (other, one)):
        box.set_up(each, is_up=True)
        box.bridges.connect(each, peer)
    wire = bench.wire(40)
    box.bridges.connect(wire.interface, one)
    wire.send(bytes(64), bytes(64))
    bench.turn(5)
    calls = int(box.vm.calls.sum())
    bench.turn(5)
    assert int(box.vm.calls.sum()) > calls
    box.remove_interface(other)
    bench.turn(2)
    bench.check()
    bench.close()
