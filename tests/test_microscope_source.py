"""Which link between two nodes a microscope looks at, and what it says of the messages."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from labs import microscope_source
from labs.errors import LabError
from labs.memif import messages, peek
from labs.memif.errors import MemifError
from labs.microscope_source import ends
from labs.microscope_words import name_of, told_by
from labs.vpp.parse import MemifSocket, MemifState, MemifTable


def table(*states, socket="/s"):
    return MemifTable((MemifSocket(0, listener=True, references=1, filename=socket),), states)


def end(name, number, *flags):
    return MemifState(name, 0, number, flags=frozenset(flags))


def test_the_link_between_two_nodes_is_the_one_with_the_same_socket_and_id():
    here = table(end("memif0/0", 0, "connected"), end("memif0/1", 1, "connected"))
    there = table(end("memif0/7", 1, "connected", "slave"), end("memif0/9", 9, "connected", "slave"))
    assert [each.name for each in ends(here, there, "a", "b")] == ["memif0/1", "memif0/7"]
    with pytest.raises(LabError, match="memif0/0 is not linked to b") as caught:
        ends(here, there, "a", "b", "memif0/0")
    assert "memif0/1" in caught.value.hint
    with pytest.raises(LabError, match="no link"):
        ends(here, table(end("m", 1, "connected", "slave"), socket="/other"), "a", "b")
    with pytest.raises(LabError, match="no link"):
        ends(here, table(end("m", 1, "connected")), "a", "b")
    with pytest.raises(LabError, match="not connected"):
        ends(here, table(end("m", 1, "slave")), "a", "b")


def test_memory_that_is_another_users_is_said_to_be_hidden(monkeypatch):
    def hidden(pid):
        raise MemifError(f"Process {pid} cannot be looked into: Permission denied.")

    monkeypatch.setattr(peek, "memories_of", hidden)
    nodes = [SimpleNamespace(name=name, handle=SimpleNamespace(pid=1)) for name in ("vpp1", "vpp2")]
    state = end("memif0/0", 0, "connected", "slave")
    with pytest.raises(LabError, match="memory of vpp1 is hidden from here") as caught:
        microscope_source.peek_between(nodes[0], state, nodes[1], "docker")
    assert 'engine="process"' in caught.value.hint
    with pytest.raises(MemifError, match="Permission denied"):
        microscope_source.peek_between(nodes[0], state, nodes[1], "process")


def test_the_secret_is_not_told():
    told = told_by(messages.Init(secret=b"psst"))
    assert "psst" not in told
    assert "with a secret" in told


@pytest.mark.parametrize("kind", messages.KINDS.values())
def test_every_message_has_its_name_and_words(kind):
    assert name_of(kind()).replace("_", "") == kind.__name__.upper()
    assert isinstance(told_by(kind()), str)
