from __future__ import annotations

import mmap
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from labs import memif
from labs.errors import NodeDied
from labs.experiments.links_seen import Seen, capabilities, rings

SHOWN = """\
 Virtqueue 0 (TX)
  global TX queue index 0
  qsz 1024 last_avail_idx 0 last_used_idx 0 last_kick 0
 Virtqueue 1 (RX)
  qsz 256 last_avail_idx 24128 last_used_idx 24128 last_kick 0
"""


def an_end(pid, told=None):
    return SimpleNamespace(pid=pid, node=SimpleNamespace(cli=lambda _: told) if told is not None else None)


def test_what_the_receiver_had_before_is_seen_back_where_the_sender_has_it():
    descriptor = os.memfd_create("the receiver's own")
    os.truncate(descriptor, 4096)
    with mmap.mmap(descriptor, 4096):
        before = Seen(os.getpid())
        assert before.now(os.getpid(), "vhost", an_end(os.getpid()))["seen_back"] >= 1
    later = Seen(os.getpid())
    with mmap.mmap(descriptor, 4096):  # mapped only after the link was made
        own = {
            name
            for name, _ in [(each["name"], 0) for each in later.now(os.getpid(), "veth", an_end(0))["lent"]]
        }
        assert any("the receiver's own" in name for name in own)
    os.close(descriptor)


CLIENT = """
import sys
from labs import memif
with memif.Client(sys.argv[1], ring_size=256):
    print(flush=True)
    input()
"""


def test_the_rings_of_a_memif_are_read_from_its_memory(tmp_path):
    path = tmp_path / "m.sock"
    with (
        memif.Server(path),
        subprocess.Popen(
            [sys.executable, "-c", CLIENT, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as client,
    ):
        client.stdout.readline()
        assert rings(client.pid, "memif", an_end(os.getpid())) == [256, 256]
        client.communicate(b"\n")


def test_a_vpp_says_how_long_vhost_users_rings_are():
    assert rings(1, "vhost", an_end(1, SHOWN)) == [1024, 256]
    assert rings(1, "vhost", an_end(1)) == []
    assert rings(os.getpid(), "veth", an_end(1)) == []


def test_where_no_memory_has_rings_none_are_told():
    assert rings(os.getppid(), "memif", an_end(os.getppid())) == []


def test_the_kernel_tells_a_process_privileges():
    assert len(capabilities(os.getpid())) == 16
    with pytest.raises(NodeDied, match="Process 4194305 has ended"):
        capabilities(4194305)  # larger than the kernel's largest number
