"""Routes and neighbours as Python keeps them, and the data plane's tables behind them."""

from __future__ import annotations

import ipaddress
import time

import numpy as np
import pytest
from glassbox_bench import Bench, raw_mac
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.errors import LabError
from labs.glassbox import fib, routes
from labs.glassbox.routes import Address, Prefix, Route
from labs.glassbox.vm import ADJACENCIES, PLIES, TO_ARP, TO_DROP, TO_LOCAL, TO_REWRITE

MAC = b"\x02\x00\x00\x00\x00\x0b"


@pytest.fixture(scope="module")
def made(folder):
    bench = Bench(folder)
    for number in range(3):
        made = bench.box.add_interface(f"pg{number}", "pg", raw_mac(f"02:00:00:00:00:{number:02x}"))
        bench.box.set_up(made, is_up=True)
    yield bench
    bench.close()


@pytest.fixture
def box(bench):
    """Lend a box without addresses, routes and neighbours."""
    yield bench.box
    for each in list(bench.box.interfaces)[1:]:
        bench.box.routes.drop_interface(each)
    for prefix, route in list(bench.box.routes.routes.items()):
        if route.source != "default":
            bench.box.routes.remove(prefix)


def pg(box, number=0):
    return box.interfaces.named(f"pg{number}")


def give(box, text, number=0):
    box.routes.add_address(pg(box, number), ipaddress.ip_interface(text))


def take(box, text, number=0):
    box.routes.remove_address(pg(box, number), ipaddress.ip_interface(text))


def found(box, address):
    """Return the adjacency's row that the data plane finds for an address."""
    result = np.zeros(1, np.int64)
    fib.find_all(box.vm.root, box.vm.plies, np.array([int(Address(address))], np.uint32), result)
    return box.vm.adjacencies[result[0]]


def shown(box):
    return {str(prefix): (route.kind, route.source) for prefix, route in box.routes.routes.items()}


def agrees(box, addresses):
    """See that the list and the tree agree."""
    for each in addresses:
        _, route = box.routes.lookup(Address(each))
        row = found(box, each)
        if route.kind in ("drop", "local"):
            assert row["next"] == {"drop": TO_DROP, "local": TO_LOCAL}[route.kind]
        else:
            assert row["interface"] == route.interface
            assert row["next_hop"] == (int(route.next_hop) if route.kind == "via" else 0)


ALWAYS = {
    "0.0.0.0/0": ("drop", "default"),
    "0.0.0.0/32": ("drop", "default"),
    "224.0.0.0/4": ("drop", "default"),
    "240.0.0.0/4": ("drop", "default"),
    "255.255.255.255/32": ("drop", "default"),
}


def test_an_empty_box_drops_everything(box):
    assert shown(box) == ALWAYS
    agrees(box, ["0.0.0.0", "1.2.3.4", "224.0.0.1", "255.255.255.255"])


@pytest.mark.parametrize("prefix", ALWAYS)
def test_what_is_always_there_cannot_be_deleted_and_comes_back(box, prefix):
    with pytest.raises(LabError):
        box.routes.remove(Prefix(prefix))
    box.routes.add(Prefix(prefix), Route("attached", 1))
    assert found(box, Prefix(prefix)[0])["next"] == TO_ARP
    box.routes.remove(Prefix(prefix))
    assert shown(box) == ALWAYS
    assert found(box, Prefix(prefix)[0])["next"] == TO_DROP


def test_a_route_that_is_not_there_cannot_be_deleted(box):
    with pytest.raises(LabError, match="10.0.0.0/8"):
        box.routes.remove(Prefix("10.0.0.0/8"))


def test_an_address_brings_its_routes_and_takes_them_along(box):
    give(box, "10.0.0.1/24")
    assert {name: kind for name, kind in shown(box).items() if name not in ALWAYS} == {
        "10.0.0.0/24": ("attached", "interface"),
        "10.0.0.0/32": ("drop", "interface"),
        "10.0.0.1/32": ("local", "interface"),
        "10.0.0.255/32": ("drop", "interface"),
    }
    agrees(box, ["10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.255", "10.0.1.0"])
    take(box, "10.0.0.1/24")
    assert shown(box) == ALWAYS


@pytest.mark.parametrize(("length", "count"), [(32, 1), (31, 2), (30, 4), (8, 4)])
def test_subnets_of_every_kind(box, length, count):
    give(box, f"10.0.0.1/{length}")
    assert len(shown(box)) == len(ALWAYS) + count
    agrees(box, [f"10.0.0.{each}" for each in range(6)])
    take(box, f"10.0.0.1/{length}")
    assert shown(box) == ALWAYS


def test_two_addresses_of_one_subnet_share_it(box):
    give(box, "10.0.0.1/24")
    give(box, "10.0.0.7/24")
    box.routes.learn(1, Address("10.0.0.2"), MAC)
    for one, other in (("10.0.0.1/24", "10.0.0.7/24"), ("10.0.0.7/24", "10.0.0.1/24")):
        take(box, one)
        assert box.routes.lookup(Address("10.0.0.9"))[1].kind == "attached"
        assert box.routes.lookup(Address(one[:-3]))[1].kind == "attached"
        assert box.routes.neighbours
        agrees(box, ["10.0.0.1", "10.0.0.2", "10.0.0.7", "10.0.0.9"])
        give(box, one)
        assert box.routes.lookup(Address(other[:-3]))[1].kind == "local"
    take(box, "10.0.0.1/24")
    take(box, "10.0.0.7/24")
    assert not box.routes.neighbours
    assert shown(box) == ALWAYS


def test_an_address_is_given_once(box):
    give(box, "10.0.0.1/24")
    with pytest.raises(LabError, match="pg0"):
        give(box, "10.0.0.1/16", number=1)
    assert pg(box, 1).addresses == []


def test_an_address_that_is_not_there_cannot_be_taken(box):
    with pytest.raises(LabError, match=r"10\.0\.0\.1"):
        take(box, "10.0.0.1/24")


def test_a_neighbour_gets_a_route_and_a_header(box):
    give(box, "10.0.0.1/24")
    box.routes.learn(1, Address("10.0.0.2"), MAC)
    assert shown(box)["10.0.0.2/32"] == ("via", "adjacency")
    row = found(box, "10.0.0.2")
    assert row["next"] == TO_REWRITE
    assert row["header"].tobytes()[:14] == MAC + pg(box).mac + b"\x08\0"
    box.routes.forget(1, Address("10.0.0.2"))
    assert "10.0.0.2/32" not in shown(box)
    assert found(box, "10.0.0.2")["next"] == TO_ARP


def test_a_neighbour_that_a_route_hid_shows_again(box):
    give(box, "10.0.0.1/24")
    give(box, "10.0.1.1/24", number=1)
    box.routes.add(Prefix("10.0.0.2/32"), Route("via", 2, Address("10.0.1.2")))
    box.routes.learn(1, Address("10.0.0.2"), MAC)
    assert shown(box)["10.0.0.2/32"] == ("via", "CLI")
    assert found(box, "10.0.0.2")["interface"] == 2
    box.routes.remove(Prefix("10.0.0.2/32"))
    assert shown(box)["10.0.0.2/32"] == ("via", "adjacency")
    assert found(box, "10.0.0.2")["next"] == TO_REWRITE


def test_a_neighbour_that_is_forgotten_while_it_is_hidden_stays_away(box):
    give(box, "10.0.0.1/24")
    box.routes.learn(1, Address("10.0.0.2"), MAC)
    box.routes.add(Prefix("10.0.0.2/32"), Route("drop"))
    box.routes.forget(1, Address("10.0.0.2"))
    assert shown(box)["10.0.0.2/32"] == ("drop", "CLI")
    box.routes.remove(Prefix("10.0.0.2/32"))
    assert "10.0.0.2/32" not in shown(box)


def test_a_neighbour_inside_another_route_is_reached_when_that_goes(box):
    give(box, "10.0.0.1/24")
    box.routes.add(Prefix("10.0.0.0/25"), Route("drop"))
    box.routes.learn(1, Address("10.0.0.2"), MAC)
    assert found(box, "10.0.0.2")["next"] == TO_DROP
    box.routes.remove(Prefix("10.0.0.0/25"))
    assert found(box, "10.0.0.2")["next"] == TO_ARP
    box.routes.learn(1, Address("10.0.0.2"), MAC)  # the answer to the question
    assert found(box, "10.0.0.2")["next"] == TO_REWRITE


def test_a_connected_subnet_goes_before_a_route_and_leaves_it_behind(box):
    box.routes.add(Prefix("10.0.0.0/24"), Route("via", 2, Address("10.0.1.2")))
    give(box, "10.0.0.1/24")
    assert shown(box)["10.0.0.0/24"] == ("attached", "interface")
    box.routes.add(Prefix("10.0.0.0/24"), Route("drop"))
    assert shown(box)["10.0.0.0/24"] == ("attached", "interface")
    take(box, "10.0.0.1/24")
    assert shown(box)["10.0.0.0/24"] == ("drop", "CLI")
    assert found(box, "10.0.0.5")["next"] == TO_DROP


def test_static_goes_before_learnt_and_back(box):
    give(box, "10.0.0.1/24")
    other = b"\x02" * 6
    box.routes.learn(1, Address("10.0.0.2"), MAC, static=True)
    box.routes.learn(1, Address("10.0.0.2"), other)
    assert box.routes.neighbours[1, Address("10.0.0.2")] == MAC
    box.routes.forget(1, Address("10.0.0.2"))
    box.routes.learn(1, Address("10.0.0.2"), other)
    assert box.routes.neighbours[1, Address("10.0.0.2")] == other


def test_a_neighbour_that_is_not_there_cannot_be_forgotten(box):
    with pytest.raises(LabError, match=r"10\.0\.0\.2"):
        box.routes.forget(1, Address("10.0.0.2"))


def test_a_deleted_interface_takes_hidden_routes_along(box):
    box.routes.add(Prefix("10.0.0.0/24"), Route("via", 1, Address("10.0.0.2")))
    give(box, "10.0.0.1/24")
    box.routes.drop_interface(pg(box))
    assert shown(box) == ALWAYS


def test_adjacencies_that_nothing_uses_make_room(box):
    for number in range(2 * ADJACENCIES):
        prefix = Prefix("50.0.0.0/8")
        box.routes.add(prefix, Route("via", 1, Address(number)))
        if number % 512 == 0:
            assert found(box, "50.0.0.1")["next_hop"] == number
        box.routes.remove(prefix)


def test_too_many_next_hops_are_refused_in_words(box):
    with pytest.raises(LabError, match=str(ADJACENCIES)):
        for number in range(ADJACENCIES + 1):
            box.routes.add(Prefix(50 << 24 | number), Route("via", 1, Address(number)))
    count = len(shown(box)) - len(ALWAYS)
    assert count > ADJACENCIES - 300
    agrees(box, [Address(50 << 24 | each) for each in (0, 1, count - 1, count, count + 1)])


def test_a_full_tree_is_refused_in_words_and_unchanged(box):
    with pytest.raises(LabError, match=str(PLIES)):
        for number in range(PLIES):
            box.routes.add(Prefix(number << 18 | 1 << 8 | 1), Route("attached", 1))
    count = len(shown(box)) - len(ALWAYS)
    assert count > PLIES // 2 - 10
    agrees(box, [Address(each << 18 | 1 << 8 | 1) for each in (1, 2, count - 1, count, count + 1)])
    box.routes.remove(Prefix(2 << 18 | 1 << 8 | 1))
    box.routes.add(Prefix("99.1.1.1/32"), Route("attached", 1))
    agrees(box, ["99.1.1.1", Address(2 << 18 | 1 << 8 | 1)])


def test_neighbours_that_find_no_room_harm_nothing(box):
    give(box, "10.0.0.1/8")
    with pytest.raises(LabError):
        for number in range(PLIES + 1):
            box.routes.learn(1, Address((10 << 24) + (number << 8) + 2), MAC, static=True)
    assert len(box.routes.neighbours) == sum(kind == ("via", "adjacency") for kind in shown(box).values())


prefix_of_few = st.builds(
    lambda a, b, length: Prefix((10 << 24 | a << 8 | b, length), strict=False),
    st.integers(0, 2),
    st.integers(0, 5),
    st.sampled_from([8, 16, 22, 23, 24, 25, 29, 30, 31, 32]),
)
host = st.builds(lambda a, b: Address(10 << 24 | a << 8 | b), st.integers(0, 2), st.integers(0, 5))
action = st.one_of(
    st.tuples(st.just("add"), prefix_of_few, st.sampled_from(["drop", "attached", "via"]), st.integers(1, 3), host),
    st.tuples(st.just("remove"), prefix_of_few),
    st.tuples(st.just("give"), st.integers(0, 2), host, st.sampled_from([24, 30, 31, 32])),
    st.tuples(st.just("take"), st.integers(0, 2)),
    st.tuples(st.just("learn"), st.integers(1, 3), host),
    st.tuples(st.just("forget"), st.integers(0, 5)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(action, max_size=30))
def test_whatever_is_done_list_and_tree_agree(made, actions):
    box = made.box
    everywhere = [Address(10 << 24 | a << 8 | b) for a in range(3) for b in (*range(7), 255)]
    try:
        for kind, *rest in actions:
            try:
                if kind == "add":
                    prefix, route, interface, hop = rest
                    box.routes.add(prefix, Route(route, interface if route != "drop" else 0, hop if route == "via" else None))
                elif kind == "remove":
                    box.routes.remove(rest[0], "CLI")
                elif kind == "give":
                    give(box, f"{rest[1]}/{rest[2]}", rest[0])
                elif kind == "take":
                    addresses = pg(box, rest[0]).addresses
                    if addresses:
                        box.routes.remove_address(pg(box, rest[0]), addresses[0])
                elif kind == "learn":
                    box.routes.learn(*rest, MAC)
                elif box.routes.neighbours:
                    keys = list(box.routes.neighbours)
                    box.routes.forget(*keys[rest[0] % len(keys)])
            except LabError:
                pass
            agrees(box, everywhere)
    finally:
        for each in list(box.interfaces)[1:]:
            box.routes.drop_interface(each)
        for prefix, route in list(box.routes.routes.items()):
            if route.source != "default":
                box.routes.remove(prefix)
    assert shown(box) == ALWAYS
    assert not box.routes.neighbours
    agrees(box, everywhere)


def test_forty_thousand_routes_come_and_go(box):
    """It takes 2 s on a quiet machine; here they must all be right."""
    prefixes = [Prefix(40 << 24 | each) for each in range(40_000)]
    began = time.monotonic()
    for each in prefixes:
        box.routes.add(each, Route("attached", 1))
    agrees(box, [40 << 24, (40 << 24) + 39_999, (40 << 24) + 40_000])
    for each in prefixes:
        box.routes.remove(each)
    assert shown(box) == ALWAYS
    took = time.monotonic() - began
    assert took < 120
    assert routes
