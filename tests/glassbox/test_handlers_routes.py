from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

import pytest
from cli_pair import pair_of
from handlers_api import ALL, door_of

MAC = "02:00:00:00:00:0a"
NO_HOP = str(IPv4Address(0))
LABEL = {"is_uniform": 0, "label": 0, "ttl": 0, "exp": 0}


def path(**fields):
    """Return a path with all its fields, as papi wants them."""
    return {
        "sw_if_index": ALL,
        "table_id": 0,
        "rpf_id": 0,
        "weight": 1,
        "preference": 0,
        "type": 0,
        "flags": 0,
        "proto": 0,
        "nh": {
            "address": {"ip4": fields.pop("hop", NO_HOP)},
            "via_label": 0,
            "obj_id": 0,
            "classify_table_index": 0,
        },
        "n_labels": 0,
        "label_stack": [LABEL] * 16,
    } | fields


@pytest.fixture
def pair():
    with pair_of("a") as made:
        yield made


@pytest.fixture
def api(pair):
    with door_of(pair) as made:
        yield made


def test_routes_are_added_listed_and_deleted(pair, api):
    index = api.must("create_loopback").sw_if_index
    api.must("sw_interface_add_del_address", sw_if_index=index, is_add=True, prefix="10.0.0.1/24")
    route = {"table_id": 0, "stats_index": 0, "prefix": "10.9.0.0/16", "n_paths": 1}
    api.must("ip_route_add_del", is_add=True, route=route | {"paths": [path(hop="10.0.0.5")]})
    found = {
        each.route.prefix: each.route for each in api.ip_route_dump(table={"table_id": 0, "is_ip6": False})
    }
    (way,) = found[IPv4Network("10.9.0.0/16")].paths
    assert (way.sw_if_index, way.nh.address.ip4) == (index, IPv4Address("10.0.0.5"))
    assert int(found[IPv4Network("0.0.0.0/0")].paths[0].type) == 2
    api.must("ip_route_add_del", is_add=False, route=route | {"n_paths": 0, "paths": []})
    assert IPv4Network("10.9.0.0/16") not in pair.boxes["a"].routes.routes


def test_a_route_may_drop_or_name_its_interface(pair, api):
    index = api.must("create_loopback").sw_if_index
    route = {"table_id": 0, "stats_index": 0, "n_paths": 1}
    for prefix, way in (("10.8.0.0/16", path(type=2)), ("10.7.0.0/16", path(sw_if_index=index))):
        api.must("ip_route_add_del", is_add=True, route=route | {"prefix": prefix, "paths": [way]})
    routes = pair.boxes["a"].routes.routes
    assert routes[IPv4Network("10.8.0.0/16")].kind == "drop"
    assert (routes[IPv4Network("10.7.0.0/16")].kind, routes[IPv4Network("10.7.0.0/16")].interface) == (
        "attached",
        index,
    )


@pytest.mark.parametrize(
    ("change", "retval"),
    [
        ({"table_id": 5}, -3),
        ({"prefix": "2001:db8::/32"}, -97),
        ({"n_paths": 2, "paths": [path(hop="10.0.0.5")] * 2}, -9),
        ({"paths": [path(hop="10.0.0.5", type=8)]}, -9),
        ({"paths": [path(sw_if_index=77)]}, -2),
    ],
)
def test_routes_that_cannot_be_are_refused(pair, api, change, retval):
    before = dict(pair.boxes["a"].routes.routes)
    route = {
        "table_id": 0,
        "stats_index": 0,
        "prefix": "10.9.0.0/16",
        "n_paths": 1,
        "paths": [path(hop="10.0.0.5")],
    }
    assert api.refused("ip_route_add_del", is_add=True, route=route | change) == retval
    assert pair.boxes["a"].routes.routes == before


def test_neighbours_are_added_listed_and_forgotten(api):
    index = api.must("create_loopback").sw_if_index
    api.must("sw_interface_add_del_address", sw_if_index=index, is_add=True, prefix="10.0.0.1/24")
    one = {"sw_if_index": index, "flags": 1, "mac_address": MAC, "ip_address": "10.0.0.5"}
    api.must("ip_neighbor_add_del", is_add=True, neighbor=one)
    (found,) = api.ip_neighbor_dump(sw_if_index=ALL, af=0)
    assert (str(found.neighbor.mac_address), str(found.neighbor.ip_address)) == (MAC, "10.0.0.5")
    assert int(found.neighbor.flags) == 1
    assert api.ip_neighbor_dump(sw_if_index=0, af=0) == []
    api.must("ip_neighbor_add_del", is_add=False, neighbor=one)
    assert api.ip_neighbor_dump(sw_if_index=ALL, af=0) == []
