"""A box whose routes are tried out: three interfaces without a wire, and what is found behind an address."""

from __future__ import annotations

import ipaddress

import numpy as np
from glassbox_bench import Bench, raw_mac

from labs.glassbox import fib
from labs.glassbox.route import Address
from labs.glassbox.vm import TO_DROP, TO_LOCAL

MAC = b"\x02\x00\x00\x00\x00\x0b"


def ports(folder):
    """Return a bench with the interfaces pg0 to pg2, which are up."""
    bench = Bench(folder)
    for number in range(3):
        made = bench.box.add_interface(f"pg{number}", "pg", raw_mac(f"02:00:00:00:00:{number:02x}"))
        bench.box.set_up(made, is_up=True)
    return bench


def tidy(box):
    """Take all addresses, routes and neighbours away."""
    for each in list(box.interfaces)[1:]:
        box.routes.drop_interface(each)
    for prefix, route in list(box.routes.routes.items()):
        if route.source != "default":
            box.routes.remove(prefix)


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
