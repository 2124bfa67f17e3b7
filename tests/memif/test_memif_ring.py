from __future__ import annotations

import os
import platform
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.memif.errors import BadMemory, MemifError
from labs.memif.layout import Layout
from labs.memif.messages import S2M, AddRing
from labs.memif.regions import make_region
from labs.memif.ring import COOKIE, line_of, log2_of, map_rings, own_line, ring_bytes

layouts = st.builds(
    Layout,
    queues_s2m=st.integers(1, 3),
    queues_m2s=st.integers(1, 3),
    log2_size=st.integers(0, 8),
    buffer_size=st.sampled_from([64, 128, 2048]),
    line=st.sampled_from([64, 128]),
)


def region_of(layout):
    region, descriptor = make_region(0, layout.region_size, "test")
    os.close(descriptor)
    layout.write(region)
    return region


@given(layouts)
def test_a_server_finds_the_rings_where_the_client_put_them(layout):
    region = region_of(layout)
    rings = map_rings(layout.places, [region])
    assert [ring.place for ring in rings] == layout.places
    assert {ring.line for ring in rings} == {layout.line}
    for number, ring in enumerate(rings):
        assert (ring.cookie, ring.head, ring.tail, ring.flags) == (COOKIE, 0, 0, 0)
        assert (ring.descriptors == layout.descriptors(number)).all()


@given(layouts)
def test_no_two_things_of_a_layout_overlap(layout):
    spans = [(each.offset, each.offset + ring_bytes(layout.line, layout.log2_size)) for each in layout.places]
    for number in range(len(layout.places)):
        slots = layout.descriptors(number)
        spans += [(int(each), int(each) + layout.buffer_size) for each in slots["offset"]]
    spans.sort()
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
    assert spans[-1][1] == layout.region_size


def test_head_and_tail_are_where_vpp_has_them():
    layout = Layout(1, 1, 10, 2048, 64)
    region = region_of(layout)
    ring = map_rings(layout.places, [region])[1]
    region.memory[16512 + 6 : 16512 + 8] = (1, 2)
    region.memory[16512 + 64 : 16512 + 66] = (3, 4)
    assert layout.places[1].offset == 16512
    assert (ring.head, ring.tail) == (0x201, 0x403)


def test_rings_that_do_not_lie_end_to_end_do_not_tell_their_line():
    rings = [AddRing(S2M, 0, 0, 0, 4), AddRing(0, 0, 0, 4096, 4)]
    with pytest.raises(BadMemory, match="cannot be told"):
        line_of(rings)
    assert line_of(rings, 128) == 128


def test_rings_that_contradict_each_other_or_the_caller_are_refused():
    rings = [AddRing(S2M, 0, 0, 0, 1), AddRing(0, 0, 0, ring_bytes(64, 1), 1)]
    assert line_of(rings) == 64
    with pytest.raises(BadMemory):
        line_of(rings, 128)
    with pytest.raises(BadMemory):
        line_of([*rings, AddRing(0, 1, 0, ring_bytes(64, 1) + ring_bytes(128, 1), 1)])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"region": 1}, "bad ring region"),
        ({"region": 65535}, "bad ring region"),
        ({"offset": 0xFFFFFFF0}, "ring outside its region"),
        ({"log2_size": 14}, "ring outside its region"),
        ({"offset": 0}, "bad ring offset"),
        ({"offset": 8 + 16512}, "bad ring offset"),
        ({"offset": 32 + 16512}, "wrong cookie on m2s ring 0"),
    ],
)
def test_a_ring_that_is_not_where_it_is_said_to_be_is_refused(change, reason):
    layout = Layout(1, 1, 10, 64, 64)
    one, other = layout.places
    with pytest.raises(BadMemory) as caught:
        map_rings([one, replace(other, **change)], [region_of(layout)], 64)
    assert caught.value.reason == reason


def test_a_ring_without_its_cookie_is_refused():
    layout = Layout(1, 1, 2, 64, 64)
    region = region_of(layout)
    region.memory[0] ^= 1
    with pytest.raises(BadMemory, match="no ring"):
        map_rings(layout.places, [region])


@pytest.mark.parametrize("size", [0, 3, 100, -2, 32768, 2.0, "1024"])
def test_a_ring_size_must_be_a_power_of_two_within_the_limit(size):
    with pytest.raises(MemifError, match="cannot have"):
        log2_of(size)


def test_ring_sizes_up_to_the_limit():
    assert [log2_of(1 << each) for each in range(15)] == list(range(15))


def test_a_client_knows_its_line_on_x86_only(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert own_line() == 64
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(MemifError, match="not known"):
        own_line()
    assert own_line(128) == 128
