from __future__ import annotations

import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.errors import LabError
from labs.topology import LinkSpec, NodeSpec, Topology, chain, check_name

LETTERS = string.ascii_letters
good_names = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,23}", fullmatch=True)


def link(**changes):
    values = {
        "server": "a",
        "client": "b",
        "server_address": "10.0.0.1/24",
        "client_address": "10.0.0.2/24",
    }
    return LinkSpec(**{**values, **changes})


@given(good_names)
def test_letters_digits_and_hyphens_make_a_name(name):
    check_name(name, "node")


@given(st.text(max_size=40))
def test_any_other_text_is_refused(text):
    plain = all(c in LETTERS + string.digits + "-" for c in text)
    if plain and 0 < len(text) <= 24 and text[0] in LETTERS:
        check_name(text, "node")
    else:
        with pytest.raises(LabError, match="cannot be the name of a node"):
            check_name(text, "node")


@pytest.mark.parametrize("name", ["", "1vpp", "-a", "a b", "a/b", "..", "vpp1\n", "é", "a" * 25])
def test_names_that_vpp_docker_or_a_path_would_not_take(name):
    with pytest.raises(LabError):
        NodeSpec(name)


def test_a_lab_has_a_name_by_the_same_rule():
    with pytest.raises(LabError, match="cannot be the name of a lab"):
        Topology("a lab", (NodeSpec("a"),))


def test_a_link_to_itself_is_refused():
    with pytest.raises(LabError, match="both ends are 'a'"):
        link(client="a")


@pytest.mark.parametrize("address", ["10.0.0.1/33", "10.0.0/24", "vpp1", "", "10.0.0.256/24"])
@pytest.mark.parametrize("end", ["server_address", "client_address"])
def test_an_address_must_be_one(end, address):
    with pytest.raises(LabError, match="is not an interface address"):
        link(**{end: address})


@pytest.mark.parametrize("mode", ["l2", "", "IP", "punt-inject"])
def test_a_link_carries_frames_or_ip_packets(mode):
    assert link(mode="ip").mode == "ip"
    with pytest.raises(LabError, match="A link has no mode"):
        link(mode=mode)


@pytest.mark.parametrize("size", [2, 256, 1024, 16384])
def test_powers_of_two_make_a_ring(size):
    assert link(ring_size=size).ring_size == size


@pytest.mark.parametrize("size", [-2, 0, 1, 3, 1000, 32768])
def test_other_ring_sizes_are_refused(size):
    with pytest.raises(LabError, match="power of two"):
        link(ring_size=size)


@pytest.mark.parametrize("queues", [-1, 0, 256])
def test_queues_that_vpp_would_refuse_are_refused(queues):
    with pytest.raises(LabError, match="queues"):
        link(queues=queues)


@pytest.mark.parametrize("secret", ["two words", "line\nbreak", "x" * 24])
def test_a_secret_that_vpp_would_cut_is_refused(secret):
    with pytest.raises(LabError, match="secret"):
        link(secret=secret)


def test_an_end_has_its_address_and_vpps_word_for_its_role():
    each = link()
    assert (each.address_of("a"), each.role_of("a")) == ("10.0.0.1/24", "master")
    assert (each.address_of("b"), each.role_of("b")) == ("10.0.0.2/24", "slave")


def test_two_nodes_of_one_name_are_refused():
    with pytest.raises(LabError, match="one name"):
        Topology("lab", (NodeSpec("a"), NodeSpec("a")))


def test_a_link_to_a_stranger_is_refused_and_the_nodes_are_named():
    with pytest.raises(LabError, match="'c', which lab 'lab' does not have") as refused:
        Topology("lab", (NodeSpec("a"), NodeSpec("b")), (link(client="c"),))
    assert "a, b" in refused.value.hint


def test_a_lab_without_nodes_is_refused():
    with pytest.raises(LabError, match="has no node"):
        Topology("lab", ())


@given(st.integers(1, 8))
def test_a_chain_links_each_node_to_the_next_on_a_network_of_its_own(count):
    topology = chain("lab", count)
    names = [node.name for node in topology.nodes]
    assert [(each.server, each.client) for each in topology.links] == list(pairwise(names))
    networks = {each.server_address.rpartition(".")[0] for each in topology.links}
    assert len(networks) == count - 1
    assert all(
        each.client_address.rpartition(".")[0] == each.server_address.rpartition(".")[0]
        for each in topology.links
    )


def test_a_chain_of_two_has_the_tutorials_addresses():
    (only,) = chain("lab", 2).links
    assert (only.server_address, only.client_address) == ("10.10.2.1/24", "10.10.2.2/24")


def test_a_chain_may_leave_its_links_to_the_learner():
    assert chain("lab", 3, links=False).links == ()
