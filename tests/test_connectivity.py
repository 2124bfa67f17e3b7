from __future__ import annotations

import pytest

from labs.connectivity import fault, path
from labs.errors import LabError
from labs.vpp.parse import MemifSocket, MemifState, MemifTable

HERE = "/run/lab/memif.sock"


def end(name="memif0/0", role="server", number=0, socket_id=0, *, up=True, connected=False, **changes):
    flags = {"slave"} if role == "client" else set()
    flags |= {"admin-up"} if up else set()
    flags |= {"connected"} if connected else set()
    return MemifState(name, socket_id, number, "ethernet", frozenset(flags), **changes)


def table(*ends, sockets=(HERE,)):
    return MemifTable(
        tuple(MemifSocket(k, listener=False, references=0, filename=each) for k, each in enumerate(sockets)),
        ends,
    )


def told(*, vpp1=(), vpp2=(), **more):
    """Return the reason and the hint for some ends on two nodes, or for whole tables of other nodes."""
    tables = {"vpp1": table(*vpp1), "vpp2": table(*vpp2), **more}
    found = fault(tables)
    assert found is not None
    return found.reason, found.hint


def test_two_connected_ends_have_no_fault():
    both = {
        "vpp1": table(end(connected=True)),
        "vpp2": table(end(role="client", connected=True)),
    }
    assert fault(both) is None


def test_no_memif_at_all():
    reason, hint = told()
    assert reason == "No node has a memif yet."
    assert "create interface memif id 0 master" in hint


def test_a_client_that_nobody_listens_for():
    reason, hint = told(vpp2=[end(role="client")])
    assert reason == f"Nobody listens for vpp2's memif0/0 on {HERE}: no other node has a memif."
    assert "master" in hint


def test_a_server_to_whom_nobody_comes():
    reason, hint = told(vpp1=[end()])
    assert reason == f"vpp1's memif0/0 listens on {HERE}, and no other node has a memif that connects."
    assert "slave" in hint


@pytest.mark.parametrize(("role", "word"), [("server", "master"), ("client", "slave")])
def test_the_same_role_twice(role, word):
    reason, hint = told(vpp1=[end(role=role)], vpp2=[end(role=role)])
    assert reason == f"Both vpp1 and vpp2 have the role {word} on memif0/0."
    assert "delete interface memif memif0/0" in hint


def test_the_hint_deletes_the_interface_that_is_there():
    _, hint = told(vpp1=[end("memif3/7", number=7)], vpp2=[end("memif3/7", number=7)])
    assert "memif0/0" not in hint
    assert "delete interface memif memif3/7" in hint


def test_two_ids_that_differ():
    reason, hint = told(vpp1=[end(number=0)], vpp2=[end("memif0/5", "client", 5)])
    assert reason == "vpp1's memif0/0 has id 0, but vpp2's memif0/5 has id 5."
    assert "same id" in hint


def test_two_sockets_that_differ():
    other = MemifTable(
        (MemifSocket(1, listener=False, references=0, filename="/run/lab/other.sock"),),
        (end("memif1/0", "client", 0, socket_id=1),),
    )
    reason, hint = told(vpp1=[end()], vpp2=[], third=other)
    assert reason == f"vpp1's memif0/0 uses the socket {HERE}, and third's memif1/0 uses /run/lab/other.sock."
    assert "same socket" in hint


@pytest.mark.parametrize(("first", "second", "down"), [(False, True, "vpp1"), (True, False, "vpp2")])
def test_an_end_that_is_down(first, second, down):
    reason, hint = told(vpp1=[end(up=first)], vpp2=[end(role="client", up=second)])
    assert reason == f"{down}'s memif0/0 is down."
    assert hint == f"on {down}: set interface state memif0/0 up"


@pytest.mark.parametrize("text", ["secret required", "incorrect secret"])
def test_secrets_that_differ(text):
    reason, hint = told(vpp1=[end(local_reason=text)], vpp2=[end(role="client", remote_reason=text)])
    assert reason.startswith("vpp1 and vpp2 do not have the same secret (")
    assert f"vpp1 says: {text}" in reason
    assert "same secret" in hint


def test_modes_that_differ():
    reason, hint = told(
        vpp1=[end(local_reason="mode mismatch")], vpp2=[end(role="client", remote_reason="mode mismatch")]
    )
    assert reason.startswith("vpp1 and vpp2 do not agree (")
    assert "mode mismatch" in reason
    assert "mode" in hint


def test_a_third_end_that_comes_too_late():
    reason, hint = told(
        vpp1=[end(connected=True)],
        vpp2=[end(role="client", connected=True)],
        vpp3=table(end(role="client")),
    )
    assert reason == "vpp1's memif0/0 is connected already, and not to vpp3."
    assert "another id" in hint


def test_two_ends_that_look_right_are_given_time():
    reason, hint = told(vpp1=[end()], vpp2=[end(role="client")])
    assert "have not connected yet" in reason
    assert "3 seconds" in hint


def test_an_old_reason_does_not_hide_that_an_end_is_down():
    reason, _ = told(
        vpp1=[end(up=True, local_reason="disconnect received")],
        vpp2=[end(role="client", up=False)],
    )
    assert reason == "vpp2's memif0/0 is down."


@pytest.mark.parametrize("text", ["disconnect received", "interface deleted"])
def test_the_reason_of_an_end_long_ago_is_no_disagreement(text):
    reason, _ = told(vpp1=[end(local_reason=text)], vpp2=[end(role="client")])
    assert "have not connected yet" in reason


def test_the_first_unconnected_memif_is_the_one_that_is_told_of():
    reason, _ = told(
        vpp1=[end(connected=True), end("memif1/0", number=0, socket_id=1)],
        vpp2=[end(role="client", connected=True)],
    )
    assert "memif1/0" in reason


def test_a_second_link_of_the_same_two_nodes_is_not_taken_for_a_peer():
    reason, _ = told(
        vpp1=[end(connected=True), end("memif0/1", number=1)],
        vpp2=[end(role="client", connected=True)],
    )
    assert "memif0/1" in reason
    assert "connected already" not in reason


ELSEWHERE = (HERE, "/run/lab/probe-vpp1.sock")


def test_an_end_that_leads_out_of_the_lab_is_no_link_of_it():
    both = {
        "vpp1": table(end(connected=True), end("memif1/0", socket_id=1, connected=True), sockets=ELSEWHERE),
        "vpp2": table(end(role="client", connected=True)),
    }
    assert fault(both) is None


def test_it_is_taken_for_the_peer_of_none():
    probe = end("memif1/0", socket_id=1, connected=True)
    reason, _ = told(vpp2=[end(role="client")], vpp1=[], vpp3=table(probe, sockets=ELSEWHERE))
    assert reason == f"Nobody listens for vpp2's memif0/0 on {HERE}: no other node has a memif."


def test_with_it_alone_there_is_no_link():
    reason, _ = told(vpp1=[end(connected=True)])
    assert reason == "No node has a memif yet."


def test_a_lab_of_one_node_has_only_links_that_lead_out():
    assert fault({"vpp1": table(end(connected=True))}) is None
    assert fault({"vpp1": table(end(connected=False))}) is not None


def test_one_that_leads_out_and_is_not_connected_is_told_of():
    reason, _ = told(vpp1=[end("memif1/0", socket_id=0)])
    assert reason.startswith("vpp1's memif1/0 listens")


CHAIN = {
    "a": {"memif0/0": ["10.10.2.1/24"]},
    "b": {"memif0/0": ["10.10.2.2/24"], "memif1/0": ["10.10.3.1/24"]},
    "c": {"memif0/0": ["10.10.3.2/24"]},
    "d": {"local0": []},
}


@pytest.mark.parametrize(("ends", "way"), [("ac", "abc"), ("ca", "cba"), ("ab", "ab"), ("bb", "b")])
def test_the_way_from_node_to_node(ends, way):
    assert path(*ends, CHAIN) == list(way)


def test_the_shortest_way_of_two():
    ring = {**CHAIN, "c": {"memif0/0": ["10.10.3.2/24"], "memif2/0": ["10.10.4.1/24"]}}
    ring["a"] = {**ring["a"], "memif2/0": ["10.10.4.2/24"]}
    assert path("a", "c", ring) == ["a", "c"]


def test_no_way():
    with pytest.raises(LabError, match="no way from a to d") as none:
        path("a", "d", CHAIN)
    assert none.value.hint
