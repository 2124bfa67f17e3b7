"""Routes and neighbours as Python keeps them, and the data plane's tables behind them."""

from __future__ import annotations

import re

import pytest
from glassbox_bench import NOBODY
from glassbox_routes import ALWAYS, MAC, agrees, found, give, pg, ports, shown, take, tidy

from labs.errors import LabError
from labs.glassbox.route import Address, Prefix, Route
from labs.glassbox.vm import TO_ARP, TO_DROP, TO_REWRITE


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


def test_an_empty_box_drops_everything(box):
    assert shown(box) == ALWAYS
    agrees(box, [NOBODY, "1.2.3.4", "224.0.0.1", "255.255.255.255"])


@pytest.mark.parametrize("prefix", ALWAYS)
def test_what_is_always_there_cannot_be_deleted_and_comes_back(box, prefix):
    with pytest.raises(LabError):
        box.routes.remove(Prefix(prefix))
    box.routes.add(Prefix(prefix), Route("attached", 1))
    inside = "99.0.0.1" if prefix == "0.0.0.0/0" else Prefix(prefix)[0]
    assert found(box, inside)["next"] == TO_ARP
    box.routes.remove(Prefix(prefix))
    assert shown(box) == ALWAYS
    assert found(box, inside)["next"] == TO_DROP


def test_a_route_that_is_not_there_cannot_be_deleted(box):
    with pytest.raises(LabError, match=re.escape("10.0.0.0/8")):
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
