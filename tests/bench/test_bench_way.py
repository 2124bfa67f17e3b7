from __future__ import annotations

from types import SimpleNamespace

import pytest

from labs.bench.way import find_way
from labs.errors import LabError


def node(addresses):
    rows = [SimpleNamespace(interface_name=name, l2_address=f"mac of {name}") for name in addresses]
    return SimpleNamespace(addresses=lambda: addresses, api=SimpleNamespace(sw_interface_dump=lambda: rows))


def chain(count):
    """Return fake nodes in a row: memif0/0 to the left, memif1/0 to the right, and a probe's end each."""
    made = {}
    for at in range(1, count + 1):
        has = {"memif900/0": [f"10.99.{at}.1/24"]}
        if at > 1:
            has["memif0/0"] = [f"10.10.{at}.2/24"]
        if at < count:
            has["memif1/0"] = [f"10.10.{at + 1}.1/24"]
        made[f"vpp{at}"] = node(has)
    return made


def test_the_way_of_two_is_one_link():
    way = find_way(chain(2))
    assert (way.first.sender, way.first.by, way.first.receiver, way.first.at) == (
        "vpp1",
        "memif1/0",
        "vpp2",
        "memif0/0",
    )
    assert way.macs == ("mac of memif1/0", "mac of memif0/0")
    assert way.first.source == "10.10.2.1"
    assert way.first == way.last
    assert way.routes("198.18.0.0/15") == [("vpp2", "ip route add 198.18.0.0/15 via drop")]


def test_nodes_between_pass_on_and_the_last_drops():
    assert find_way(chain(4)).routes("P") == [
        ("vpp2", "ip route add P via 10.10.3.2 memif1/0"),
        ("vpp3", "ip route add P via 10.10.4.2 memif1/0"),
        ("vpp4", "ip route add P via drop"),
    ]


def test_a_lab_of_one_node_has_no_way():
    with pytest.raises(LabError, match="needs a link, and this lab has one node"):
        find_way(chain(1))


def test_a_lab_without_a_link_says_what_to_do():
    with pytest.raises(LabError, match="no way from vpp1 to vpp2"):
        find_way({"vpp1": node({}), "vpp2": node({})})
