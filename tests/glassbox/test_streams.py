"""The packet generator's streams: how many, how fast, how large."""

from __future__ import annotations

import ctypes
import time

import pytest
from glassbox_bench import Bench, raw_mac, udp
from scapy.layers.l2 import Ether

from labs.errors import LabError
from labs.glassbox.packet import BASE, ROOM
from labs.glassbox.streams import HEAD, Stream
from labs.glassbox.vm import ARCS, FREE, STREAMS


@pytest.fixture(scope="module")
def made(folder):
    bench = Bench(folder)
    bench.wire(0, "10.0.0.1/24")
    bench.neighbour(bench.wires[0], "10.0.0.2")
    pg = bench.box.add_interface("pg0", "pg", raw_mac("02:00:00:00:99:0a"))
    bench.box.set_up(pg, is_up=True)
    bench.box.interfaces.write(pg)
    yield bench
    bench.close()


@pytest.fixture
def add(bench):
    """Add streams, and take them away after the test."""
    names = []

    def add(name="one", packet=None, limit=0, rate=0.0, node="ip4-lookup", **more):
        pg = bench.box.interfaces.named("pg0")
        raw = bytes(udp("1.2.3.4", "10.0.0.2")) if packet is None else packet
        stream = Stream(name, raw, limit, rate, pg, node, **more)
        bench.box.streams.add(stream)
        names.append(name)
        return stream

    yield add
    for name in set(names):
        if name in bench.box.streams.by_name:
            bench.box.streams.remove(name)


def drain(bench, times):
    got = []
    for _ in range(times):
        bench.turn()
        got += bench.wires[0].received()
    return got


@pytest.mark.parametrize("limit", [1, 2, 10, 255, 256, 257, 511, 512, 513, 1000, 2048])
def test_a_limit_is_kept_exactly(bench, add, limit):
    stream = add(limit=limit)
    bench.box.streams.enable(stream, is_on=True)
    got = drain(bench, 12)
    assert len(got) == limit == bench.box.streams.sent(stream)
    assert not bench.box.streams.is_enabled(stream)
    wanted = bytearray(bytes(udp("1.2.3.4", "10.0.0.2", ttl=63)))
    assert {each[14:] for each in got} == {bytes(wanted)}


def test_a_limit_is_kept_where_a_rate_splits_it(bench, add):
    stream = add(limit=1000, rate=50_000.0)
    bench.box.streams.enable(stream, is_on=True)
    got = []
    deadline = time.monotonic() + 10
    while bench.box.streams.is_enabled(stream) and time.monotonic() < deadline:
        got += drain(bench, 1)
    assert len(got) == 1000 == bench.box.streams.sent(stream)


def test_a_stream_that_is_enabled_again_begins_again(bench, add):
    stream = add(limit=5)
    for _ in range(3):
        bench.box.streams.enable(stream, is_on=True)
        assert len(drain(bench, 3)) == 5


def test_without_a_limit_there_is_no_end(bench, add):
    stream = add()
    bench.box.streams.enable(stream, is_on=True)
    got = drain(bench, 20)
    assert bench.box.streams.is_enabled(stream)
    bench.box.streams.enable(stream, is_on=False)
    assert len(got) == bench.box.streams.sent(stream) == 20 * 256
    assert drain(bench, 3) == []


def test_rates_are_in_proportion(bench, add):
    slow, fast = add("slow", rate=2_000.0), add("fast", rate=20_000.0)
    for each in (slow, fast):
        bench.box.streams.enable(each, is_on=True)
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        drain(bench, 1)
    for each in (slow, fast):
        bench.box.streams.enable(each, is_on=False)
    counts = [bench.box.streams.sent(each) for each in (slow, fast)]
    assert 7 < counts[1] / counts[0] < 13
    assert counts[0] < 1.5 * 2_000 * 1.2  # nothing was sent ahead of its time


def test_a_stream_begins_with_one_packet_and_not_with_a_burst(bench, add):
    stream = add(rate=1.0)
    bench.box.streams.enable(stream, is_on=True)
    drain(bench, 5)
    bench.box.streams.enable(stream, is_on=False)
    assert bench.box.streams.sent(stream) == 1


@pytest.mark.parametrize("then", [0.0, 1_000.0])
def test_a_rate_may_change_while_packets_flow(bench, add, then):
    stream = add(rate=1_000.0 if not then else 0.0)
    bench.box.streams.enable(stream, is_on=True)
    drain(bench, 3)
    bench.box.streams.set_rate(stream, then)
    before = bench.box.streams.sent(stream)
    time.sleep(0.02)
    drain(bench, 3)
    after = bench.box.streams.sent(stream) - before
    bench.box.streams.enable(stream, is_on=False)
    assert after == 3 * 256 if not then else 0 < after < 256


@pytest.mark.parametrize("size", [1, 13, 14, 60, 1500, ROOM])
def test_any_size_goes_in(bench, add, size):
    stream = add(packet=bytes(size), limit=3, node="ethernet-input")
    before = bench.box.counters.of_interface(stream.interface.index)
    bench.box.streams.enable(stream, is_on=True)
    drain(bench, 3)
    after = bench.box.counters.of_interface(stream.interface.index)
    assert after["rx packets"] - before["rx packets"] == 3
    assert after["rx bytes"] - before["rx bytes"] == 3 * size
    assert after["drops"] - before["drops"] == 3


@pytest.mark.parametrize("size", [20, 63, 64, 65, 1500])
@pytest.mark.parametrize("kinds", [1, 2, 3, 300])
def test_packets_differ_in_how_they_begin_and_begin_again(bench, add, size, kinds):
    """The whole packets are looked at where they lie: all but the first bytes are those of the first."""
    whole = bytes(udp("1.2.3.4", "10.0.0.2")) + bytes(at % 251 for at in range(1500))
    whole = whole[:size]
    heads = tuple(number.to_bytes(2, "little") + whole[2:HEAD] for number in range(kinds))
    stream = add(packet=heads[0] + whole[HEAD:], limit=kinds + 1, heads=heads, node="error-drop")
    bench.box.streams.enable(stream, is_on=True)
    made = []
    while bench.box.streams.is_enabled(stream):
        begun = bench.box.streams.sent(stream)
        top = int(bench.box.vm.state[FREE])
        addresses = bench.box.vm.free[:top][::-1].tolist()
        bench.turn()
        count = bench.box.streams.sent(stream) - begun
        made += [ctypes.string_at(origin_of(address), size) for address in addresses[:count]]
    assert made == [heads[at % kinds] + whole[HEAD:] for at in range(kinds + 1)]


def origin_of(packet):
    return ctypes.c_int64.from_address(packet + BASE).value


def test_no_more_packets_are_made_in_a_turn_than_maxframe_says(bench, add):
    stream = add(most=21)
    bench.box.streams.enable(stream, is_on=True)
    assert [len(drain(bench, 1)) for _ in range(4)] == [21] * 4


def test_a_stream_with_a_rate_does_not_save_up_more_than_maxframe(bench, add):
    stream = add(most=21, rate=1e6)
    bench.box.streams.enable(stream, is_on=True)
    time.sleep(0.01)
    assert len(drain(bench, 1)) == 21


@pytest.mark.parametrize("size", [0, ROOM + 1])
def test_sizes_that_cannot_be_are_refused(add, size):
    with pytest.raises(LabError, match=str(size)):
        add(packet=bytes(size))


def test_frames_may_come_in_by_ethernet(bench, add):
    frame = Ether(src="02:00:00:00:aa:0b", dst="02:00:00:00:99:0a") / udp("1.2.3.4", "10.0.0.2")
    stream = add(packet=bytes(frame), limit=2, node="ethernet-input")
    bench.box.streams.enable(stream, is_on=True)
    out, moved = bench.why(bench.wires[0])
    assert (out, moved) == ([], {"interface is not enabled for ip4": 2})


def test_streams_share_a_turn(bench, add):
    made = [add(f"s{each}", limit=100) for each in range(4)]
    for each in made:
        bench.box.streams.enable(each, is_on=True)
    assert len(drain(bench, 3)) == 400


def test_there_are_so_many_streams_and_no_more(add):
    for each in range(STREAMS):
        add(f"s{each}")
    with pytest.raises(LabError, match=str(STREAMS)):
        add("one more")
    add("s3", limit=7)  # it takes the place of its namesake


def test_a_stream_to_a_node_that_is_not_there_is_refused(bench, add):
    with pytest.raises(LabError, match="no-such-node"):
        add(node="no-such-node")
    assert "one" not in bench.box.streams.by_name


def test_streams_to_more_nodes_than_there_are_arcs_are_refused_and_harm_nothing(bench, add):
    names = [
        each for each in bench.box.graph.names if not each.startswith(("pg0", "memif0", "pg-", "memif-"))
    ]
    number = bench.box.graph.number("pg-input")
    room = ARCS - len(bench.box.graph.kinds[number].to)
    fresh = [each for each in names if each not in bench.box.graph.kinds[number].to]
    for name in fresh[:room]:
        add("walk", node=name)
    with pytest.raises(LabError, match="nodes"):
        add("walk", node=fresh[room])
    bench.box.graph.connect()
    stream = add(limit=1)
    bench.box.streams.enable(stream, is_on=True)
    assert len(drain(bench, 2)) == 1


def test_a_deleted_interface_takes_its_streams_along(bench, add):
    box = bench.box
    pg = box.add_interface("pg5", "pg")
    stream = Stream("gone", bytes(60), 0, 0.0, pg, "ethernet-input")
    box.streams.add(stream)
    box.streams.enable(stream, is_on=True)
    bench.turn()
    box.remove_interface(pg)
    assert "gone" not in box.streams.by_name
    before = int(box.vm.calls[box.graph.number("pg-input")])
    bench.turn(3)
    assert int(box.vm.calls[box.graph.number("pg-input")]) == before


def test_a_name_that_is_not_there_is_refused(bench):
    with pytest.raises(LabError, match="nobody"):
        bench.box.streams.named("nobody")
