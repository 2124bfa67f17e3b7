"""Many routes, any order, and no room for more."""

from __future__ import annotations

import contextlib

import pytest
from glassbox_routes import ALWAYS, MAC, agrees, found, give, pg, ports, shown, tidy
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.errors import LabError
from labs.glassbox.route import Address, Prefix, Route
from labs.glassbox.vm import ADJACENCIES, PLIES


@pytest.fixture(scope="module")
def made(folder):
    bench = ports(folder)
    yield bench
    bench.close()


@pytest.fixture
def box(bench):
    """Lend a box without addresses, routes and neighbours."""
    yield bench.box
    tidy(bench.box)


def _add_many(box, prefixes, kind="attached"):
    for number, prefix in enumerate(prefixes):
        box.routes.add(prefix, Route(kind, 1, Address(number) if kind == "via" else None))


def _learn_many(box, addresses):
    for each in addresses:
        box.routes.learn(1, each, MAC, static=True)


def test_adjacencies_that_nothing_uses_make_room(box):
    for number in range(2 * ADJACENCIES):
        prefix = Prefix("50.0.0.0/8")
        box.routes.add(prefix, Route("via", 1, Address(number)))
        if number % 512 == 0:
            assert found(box, "50.0.0.1")["next_hop"] == number
        box.routes.remove(prefix)


def test_too_many_next_hops_are_refused_in_words(box):
    with pytest.raises(LabError, match=str(ADJACENCIES)):
        _add_many(box, (Prefix(50 << 24 | each) for each in range(ADJACENCIES + 1)), kind="via")
    count = len(shown(box)) - len(ALWAYS)
    assert count > ADJACENCIES - 300
    agrees(box, [Address(50 << 24 | each) for each in (0, 1, count - 1, count, count + 1)])


def test_a_full_tree_is_refused_in_words_and_unchanged(box):
    with pytest.raises(LabError, match=str(PLIES)):
        _add_many(box, (Prefix(each << 18 | 1 << 8 | 1) for each in range(PLIES)))
    count = len(shown(box)) - len(ALWAYS)
    assert count > PLIES // 2 - 10
    agrees(box, [Address(each << 18 | 1 << 8 | 1) for each in (1, 2, count - 1, count, count + 1)])
    box.routes.remove(Prefix(2 << 18 | 1 << 8 | 1))
    box.routes.add(Prefix("99.1.1.1/32"), Route("attached", 1))
    agrees(box, ["99.1.1.1", Address(2 << 18 | 1 << 8 | 1)])


def test_neighbours_that_find_no_room_harm_nothing(box):
    give(box, "10.0.0.1/8")
    with pytest.raises(LabError, match=str(PLIES)):
        _learn_many(box, (Address((10 << 24) + (each << 8) + 2) for each in range(PLIES + 1)))
    assert len(box.routes.neighbours) == sum(kind == ("via", "adjacency") for kind in shown(box).values())


prefix_of_few = st.builds(
    lambda a, b, length: Prefix((10 << 24 | a << 8 | b, length), strict=False),
    st.integers(0, 2),
    st.integers(0, 5),
    st.sampled_from([8, 16, 22, 23, 24, 25, 29, 30, 31, 32]),
)
host = st.builds(lambda a, b: Address(10 << 24 | a << 8 | b), st.integers(0, 2), st.integers(0, 5))
action = st.one_of(
    st.tuples(
        st.just("add"), prefix_of_few, st.sampled_from(["drop", "attached", "via"]), st.integers(1, 3), host
    ),
    st.tuples(st.just("remove"), prefix_of_few),
    st.tuples(st.just("give"), st.integers(0, 2), host, st.sampled_from([24, 30, 31, 32])),
    st.tuples(st.just("take"), st.integers(0, 2)),
    st.tuples(st.just("learn"), st.integers(1, 3), host),
    st.tuples(st.just("forget"), st.integers(0, 5)),
)


def act(box, kind, *rest):
    """Carry out what hypothesis has thought of; it may be refused."""
    with contextlib.suppress(LabError):
        if kind == "add":
            prefix, route, interface, hop = rest
            leaves = interface if route != "drop" else 0
            box.routes.add(prefix, Route(route, leaves, hop if route == "via" else None))
        elif kind == "remove":
            box.routes.remove(rest[0], "CLI")
        elif kind == "give":
            give(box, f"{rest[1]}/{rest[2]}", rest[0])
        elif kind == "take" and pg(box, rest[0]).addresses:
            box.routes.remove_address(pg(box, rest[0]), pg(box, rest[0]).addresses[0])
        elif kind == "learn":
            box.routes.learn(*rest, MAC)
        elif kind == "forget" and box.routes.neighbours:
            keys = list(box.routes.neighbours)
            box.routes.forget(*keys[rest[0] % len(keys)])


@settings(max_examples=150, deadline=None)
@given(st.lists(action, max_size=30))
def test_whatever_is_done_list_and_tree_agree(made, actions):
    box = made.box
    everywhere = [Address(10 << 24 | a << 8 | b) for a in range(3) for b in (*range(7), 255)]
    try:
        for each in actions:
            act(box, *each)
            agrees(box, everywhere)
    finally:
        tidy(box)
    assert shown(box) == ALWAYS
    assert not box.routes.neighbours
    agrees(box, everywhere)


def test_forty_thousand_routes_come_and_go(box):
    prefixes = [Prefix(40 << 24 | each) for each in range(40_000)]
    for each in prefixes:
        box.routes.add(each, Route("attached", 1))
    agrees(box, [40 << 24, (40 << 24) + 39_999, (40 << 24) + 40_000])
    for each in prefixes:
        box.routes.remove(each)
    assert shown(box) == ALWAYS
