"""The usual mistakes with a memif, made on real VPPs: what `wait_link` says of each."""

from __future__ import annotations

import pytest

from labs import Lab
from labs.errors import CliError, LinkDown
from labs.topology import chain

SERVER = "create interface memif id 0 master"
CLIENT = "create interface memif id 0 slave"


@pytest.fixture(scope="module")
def bare(engine):
    """Return a running lab of three VPPs without a memif."""
    lab = Lab(chain("bare", 3, links=False), engine)
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def lab(bare):
    yield bare
    for node in bare.nodes.values():
        for end in node.memifs().interfaces:
            node.cli(f"delete interface memif {end.name}")
        for socket in node.memifs().sockets:
            if socket.id:
                node.cli(f"delete memif socket id {socket.id}")


def make(lab, node, line, *, up=True, name="memif0/0"):
    lab[node].cli(line)
    if up:
        lab[node].cli(f"set interface state {name} up")


def told(lab, timeout=0.2):
    """Return the reason and the hint of a link that does not connect."""
    with pytest.raises(LinkDown) as down:
        lab.wait_link(timeout)
    assert down.value.hint
    return down.value.message, down.value.hint


def test_two_ends_that_fit_connect(lab):
    make(lab, "vpp1", SERVER)
    make(lab, "vpp2", CLIENT)
    lab.wait_link()


def test_the_client_may_come_first(lab):
    make(lab, "vpp2", CLIENT)
    make(lab, "vpp1", SERVER)
    lab.wait_link(20)


def test_no_memif_at_all(lab):
    reason, hint = told(lab)
    assert reason == "No node has a memif yet."
    assert SERVER in hint


def test_a_server_to_whom_nobody_comes(lab):
    make(lab, "vpp1", SERVER)
    reason, hint = told(lab)
    assert reason.startswith("vpp1's memif0/0 listens on /")
    assert reason.endswith("/memif.sock, and no other node has a memif that connects.")
    assert CLIENT in hint


def test_a_client_that_nobody_listens_for(lab):
    make(lab, "vpp2", CLIENT)
    reason, hint = told(lab)
    assert reason.startswith("Nobody listens for vpp2's memif0/0 on /")
    assert SERVER in hint


def test_two_clients(lab):
    make(lab, "vpp1", CLIENT)
    make(lab, "vpp2", CLIENT)
    reason, hint = told(lab)
    assert reason == "Both vpp1 and vpp2 have the role slave on memif0/0."
    assert "delete interface memif memif0/0" in hint


def test_two_servers_are_refused_by_vpp_itself(lab):
    make(lab, "vpp1", SERVER)
    with pytest.raises(CliError, match="Active listener on") as refused:
        lab["vpp2"].cli(SERVER)
    assert "slave" in refused.value.hint


def test_two_ids(lab):
    make(lab, "vpp1", SERVER)
    make(lab, "vpp2", "create interface memif id 5 slave", name="memif0/5")
    reason, hint = told(lab)
    assert reason == "vpp1's memif0/0 has id 0, but vpp2's memif0/5 has id 5."
    assert "same id" in hint


def test_two_sockets(lab):
    make(lab, "vpp1", SERVER)
    lab["vpp2"].cli("create memif socket id 1 filename other.sock")
    make(lab, "vpp2", "create interface memif id 0 socket-id 1 slave", name="memif1/0")
    reason, hint = told(lab)
    assert reason.startswith("vpp1's memif0/0 uses the socket /")
    assert reason.endswith("/other.sock.")
    assert "same socket" in hint


@pytest.mark.parametrize("down", ["vpp1", "vpp2"])
def test_one_side_that_is_down(lab, down):
    make(lab, "vpp1", SERVER, up=down != "vpp1")
    make(lab, "vpp2", CLIENT, up=down != "vpp2")
    reason, hint = told(lab)
    assert reason == f"{down}'s memif0/0 is down."
    lab[down].cli(hint.partition(": ")[2])
    lab.wait_link(20)


@pytest.mark.parametrize("down", ["vpp1", "vpp2"])
def test_one_side_that_is_set_down_later(lab, down):
    make(lab, "vpp1", SERVER)
    make(lab, "vpp2", CLIENT)
    lab.wait_link(20)
    lab[down].cli("set interface state memif0/0 down")
    reason, _ = told(lab, 1)
    assert reason == f"{down}'s memif0/0 is down."


@pytest.mark.parametrize(
    ("server", "client", "said"),
    [
        ("secret one", "", "secret required"),
        ("secret one", "secret two", "incorrect secret"),
        ("secret one", "secret ONE", "incorrect secret"),
    ],
)
def test_secrets_that_differ(lab, server, client, said):
    make(lab, "vpp1", f"{SERVER} {server}")
    make(lab, "vpp2", f"{CLIENT} {client}")
    reason, hint = told(lab, 1.5)
    assert reason.startswith("vpp1 and vpp2 do not have the same secret (")
    assert f"vpp1 says: {said}" in reason
    assert "same secret" in hint


@pytest.mark.parametrize("secrets", [("secret same", "secret same"), ("", "secret mine")])
def test_secrets_that_vpp_accepts(lab, secrets):
    """A master without a secret takes a slave that has one."""
    make(lab, "vpp1", f"{SERVER} {secrets[0]}")
    make(lab, "vpp2", f"{CLIENT} {secrets[1]}")
    lab.wait_link(20)


@pytest.mark.parametrize(("server", "client"), [("mode ip", ""), ("", "mode ip")])
def test_modes_that_differ(lab, server, client):
    make(lab, "vpp1", f"{SERVER} {server}")
    make(lab, "vpp2", f"{CLIENT} {client}")
    reason, hint = told(lab, 1.5)
    assert reason.startswith("vpp1 and vpp2 do not agree (")
    assert "mode mismatch" in reason
    assert "mode" in hint


def test_a_third_end_that_comes_too_late(lab):
    make(lab, "vpp1", SERVER)
    make(lab, "vpp2", CLIENT)
    lab.wait_link(20)
    make(lab, "vpp3", CLIENT)
    reason, hint = told(lab, 1)
    assert reason == "vpp1's memif0/0 is connected already, and not to vpp3."
    assert "another id" in hint


def test_ring_sizes_that_differ_are_no_mistake(lab):
    make(lab, "vpp1", f"{SERVER} ring-size 256")
    make(lab, "vpp2", f"{CLIENT} ring-size 2048")
    lab.wait_link(20)


def test_a_mistake_that_is_mended_connects(lab):
    make(lab, "vpp2", CLIENT)
    make(lab, "vpp1", CLIENT)
    told(lab)
    (wrong,) = lab["vpp1"].memifs().interfaces
    lab["vpp1"].cli(f"delete interface memif {wrong.name}")
    make(lab, "vpp1", SERVER)
    lab.wait_link(20)
