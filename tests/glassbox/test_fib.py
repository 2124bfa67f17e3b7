"""The tree of routes against a plain search of a list."""

from __future__ import annotations

import ipaddress

import numpy as np
import pytest
from glassbox_bench import chance
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.errors import LabError
from labs.glassbox import fib, tree
from labs.glassbox.tree import Tree

Prefix = ipaddress.IPv4Network
Address = ipaddress.IPv4Address
ALL = Prefix("0.0.0.0/0")


class Plain:
    """The oracle: a list, and the tree that has to agree with it."""

    def __init__(self, plies=64):
        self.root, self.plies = np.zeros(1 << 16, np.uint32), np.zeros((plies, 256), np.uint32)
        self.entries = {ALL: 0}
        self.tree = Tree(self.root, self.plies, self.entries.items)
        self.tree.put(ALL, 0)

    def add(self, prefix, value):
        self.tree.put(prefix, value)
        self.entries[prefix] = value

    def remove(self, prefix):
        del self.entries[prefix]
        around = max(
            (each for each in self.entries if prefix.subnet_of(each)), key=lambda each: each.prefixlen
        )
        self.tree.take(prefix, around, self.entries[around])

    def find(self, address):
        fits = [each for each in self.entries if address in each]
        return self.entries[max(fits, key=lambda each: each.prefixlen)]

    def check(self, addresses):
        wanted = [self.find(each) for each in addresses]
        found = np.zeros(len(addresses), np.int64)
        fib.find_all(self.root, self.plies, np.array([int(each) for each in addresses], np.uint32), found)
        assert found.tolist() == wanted


def edges(prefixes):
    """Return the addresses at which the answer may change, and those next to them."""
    numbers = {0, (1 << 32) - 1}
    for each in prefixes:
        for end in (int(each.network_address), int(each.broadcast_address)):
            numbers |= {end - 1, end, end + 1}
    return [Address(each) for each in sorted(numbers) if 0 <= each < 1 << 32]


# few bits to choose from at each level, so that prefixes lie within, beside and upon each other
numbers = st.builds(
    lambda a, b, c, d: a << 24 | b << 16 | c << 8 | d,
    st.sampled_from([0, 10, 11, 127, 128, 255]),
    st.sampled_from([0, 1, 128, 255]),
    st.sampled_from([0, 1, 128, 254, 255]),
    st.sampled_from([0, 1, 127, 128, 255]),
)
prefixes = st.builds(
    lambda number, length: Prefix((number, length), strict=False), numbers, st.integers(1, 32)
)
steps = st.lists(st.tuples(st.booleans(), prefixes, st.integers(1, 4000)), max_size=40)


@settings(max_examples=150, deadline=None)
@given(steps=steps)
def test_any_order_of_adding_and_deleting_finds_the_longest_prefix(steps):
    table = Plain()
    seen = []
    for is_add, prefix, value in steps:
        if is_add or prefix not in table.entries:
            table.add(prefix, value)
        else:
            table.remove(prefix)
        seen.append(prefix)
    table.check(edges(seen))
    for prefix in [each for each in table.entries if each != ALL]:
        table.remove(prefix)
        table.check(edges([prefix]))
    table.check(edges(seen))


@settings(max_examples=30, deadline=None)
@given(number=numbers, order=st.permutations(list(range(33))), out=st.permutations(list(range(1, 33))))
def test_all_lengths_at_one_place_in_any_order(number, order, out):
    table = Plain()
    for length in order:
        table.add(Prefix((number, length), strict=False), 100 + length)
    assert table.find(Address(number)) == 132
    everything = list(table.entries)
    table.check(edges(everything))
    for length in out:
        table.remove(Prefix((number, length), strict=False))
        table.check(edges(everything))


def test_a_prefix_that_is_added_again_leads_elsewhere():
    table = Plain()
    for value in (5, 6, 5):
        table.add(Prefix("10.0.0.0/8"), value)
        table.add(Prefix("10.1.2.0/25"), value + 10)
        table.check(edges(table.entries))


def test_a_short_prefix_does_not_cover_longer_ones_that_were_there_first():
    table = Plain()
    for text in ("10.1.2.3/32", "10.1.2.0/25", "10.1.0.0/17", "10.0.0.0/9"):
        table.add(Prefix(text), Prefix(text).prefixlen)
    table.add(Prefix("0.0.0.0/1"), 1)
    table.add(ALL, 77)
    table.check(edges(table.entries))


def test_a_full_tree_refuses_in_words_and_stays_as_it_was():
    table = Plain(plies=4)
    for value, text in enumerate(("10.1.1.1/32", "10.2.1.1/32"), 1):
        table.add(Prefix(text), value)
    before = table.root.copy(), table.plies.copy()
    for text in ("10.3.0.0/17", "10.1.2.2/32", "10.9.9.9/32"):
        with pytest.raises(LabError, match="full"):
            table.tree.put(Prefix(text), 9)
    assert all((now == then).all() for now, then in zip((table.root, table.plies), before, strict=True))
    table.check(edges([*table.entries, Prefix("10.3.0.0/17"), Prefix("10.1.2.2/32")]))
    table.add(Prefix("10.0.0.0/8"), 3)  # needs no ply
    table.add(Prefix("10.1.1.2/32"), 4)  # nor does this
    table.check(edges(table.entries))


def test_a_tree_that_is_full_half_way_down_stays_as_it_was():
    table = Plain(plies=3)
    table.add(Prefix("10.1.1.1/32"), 1)
    with pytest.raises(LabError, match="full"):
        table.tree.put(Prefix("10.2.1.1/32"), 9)  # there is a ply for its first level, none for its second
    table.check(edges([*table.entries, Prefix("10.2.1.1/32")]))


def test_plies_of_deleted_routes_are_used_again():
    table = Plain(plies=8)
    for number in range(50):
        prefix = Prefix((number << 16 | 0x0101, 32))
        table.add(prefix, number + 1)
        table.check(edges(table.entries))
        table.remove(prefix)
    table.check(edges(table.entries))


def test_what_was_refused_fits_once_something_is_deleted():
    table = Plain(plies=4)
    first, second, third = (Prefix(text) for text in ("10.1.1.1/32", "10.2.1.1/32", "10.3.1.1/32"))
    table.add(first, 1)
    table.add(second, 2)
    with pytest.raises(LabError):
        table.tree.put(third, 3)
    table.remove(first)
    table.add(third, 3)
    table.check(edges([first, second, third]))


def test_many_routes_agree_with_a_dictionary():
    size = tree.PLIES
    root, plies = np.zeros(1 << 16, np.uint32), np.zeros((size, 256), np.uint32)
    entries = {ALL: 0}
    made = Tree(root, plies, entries.items)
    made.put(ALL, 0)
    hosts = chance(3).sample(range(10 << 24, (10 << 24) + 600 * 256), 40_000)
    for value, host in enumerate(hosts, 1):
        entries[Prefix(host)] = value
        made.put(Prefix(host), value)
    gone = hosts[::2]
    for host in gone:
        del entries[Prefix(host)]
        made.take(Prefix(host), ALL, 0)
    wanted = {host: value for value, host in enumerate(hosts, 1)} | dict.fromkeys(gone, 0)
    addresses = np.array(list(wanted), np.uint32)
    found = np.zeros(addresses.size, np.int64)
    fib.find_all(root, plies, addresses, found)
    assert found.tolist() == list(wanted.values())
