from __future__ import annotations

import mmap
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.errors import LabError
from labs.experiments.exposed import Shared, common, mappings, shared

A = """\
55d0c0000000-55d0c0010000 r-xp 00000000 fd:00 1234                       /usr/bin/vpp
7f0000000000-7f0002000000 rw-s 00000000 00:01 77                         /memfd:buffers-numa-0 (deleted)
7f0003000000-7f0003008000 rw-s 00000000 00:01 78                         /memfd:memif0/0 region 0 (deleted)
7f0004000000-7f0004100000 rw-p 00000000 00:00 0
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]
"""
B = """\
7e0000000000-7e0001000000 r--s 00000000 00:01 77                         /memfd:buffers-numa-0 (deleted)
7e0001000000-7e0002000000 r--s 01000000 00:01 77                         /memfd:buffers-numa-0 (deleted)
7e0003000000-7e0003008000 rw-s 00000000 00:01 78                         /memfd:memif0/0 region 0 (deleted)
7e0004000000-7e0004100000 rw-s 00000000 00:01 79                         /memfd:other (deleted)
"""


def test_what_both_have_is_found_whole_with_who_may_write():
    assert common(mappings(A), mappings(B)) == [
        Shared("/memfd:buffers-numa-0 (deleted)", 0x2000000, a_writes=True, b_writes=False, inode=77),
        Shared("/memfd:memif0/0 region 0 (deleted)", 0x8000, a_writes=True, b_writes=True, inode=78),
    ]


def test_programs_and_private_memory_are_nobodys_to_share():
    assert [each.key for each in mappings(A)] == [("00:01", 77), ("00:01", 78)]


def test_one_number_on_two_devices_is_two_pieces():
    other = B.replace("00:01 77", "00:02 77")
    assert [each.size for each in common(mappings(A), mappings(other))] == [0x8000]


@given(st.text())
def test_any_text_is_read(text):
    assert isinstance(mappings(text), list)


@given(st.lists(st.sampled_from((A + B).splitlines())), st.lists(st.sampled_from((A + B).splitlines())))
def test_it_is_the_same_from_either_side(a, b):
    there = common(mappings("\n".join(a)), mappings("\n".join(b)))
    back = common(mappings("\n".join(b)), mappings("\n".join(a)))
    assert sorted(each.size for each in there) == sorted(each.size for each in back)
    assert sorted(each.a_writes for each in there) == sorted(each.b_writes for each in back)


def test_memory_that_a_child_was_lent_is_seen():
    memory = os.memfd_create("lent")
    os.ftruncate(memory, 1 << 20)
    ours = mmap.mmap(memory, 1 << 20)
    look = (
        "import mmap, sys; m = mmap.mmap(int(sys.argv[1]), 1 << 20, prot=mmap.PROT_READ); "
        "print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", look, str(memory)],
        pass_fds=[memory],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        child.stdout.readline()
        (found,) = [each for each in shared(os.getpid(), child.pid) if "lent" in each.name]
        child.communicate(b"\n")
    assert (found.size, found.a_writes, found.b_writes) == (1 << 20, True, False)
    ours.close()
    os.close(memory)


def test_a_process_that_has_ended_is_named():
    with pytest.raises(LabError, match="The memory of process 99999999 cannot be looked at"):
        shared(99999999, os.getpid())
