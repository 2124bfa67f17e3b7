from __future__ import annotations

import fcntl
import os
import tempfile

import pytest

from labs.memif.errors import BadMemory, MemifError
from labs.memif.regions import make_region, map_region, seals_of

PAGE = 4096


@pytest.fixture
def memfd():
    """Make memory files; they are closed again."""
    made = []

    def make(size=PAGE, flags=os.MFD_ALLOW_SEALING, seals=0):
        descriptor = os.memfd_create("test", flags | os.MFD_CLOEXEC)
        made.append(descriptor)
        os.ftruncate(descriptor, size)
        if seals:
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        return descriptor

    yield make
    for each in made:
        os.close(each)


def test_ours_is_sealed_zero_and_shared():
    region, descriptor = make_region(3, 5000, "memif test")
    try:
        assert (region.index, region.size, region.is_ours) == (3, 5000, True)
        assert set(region.seals) == {"shrink", "grow"}
        assert not region.memory.any()
        region.memory[4999] = 7
        assert os.pread(descriptor, 1, 4999) == b"\x07"
    finally:
        os.close(descriptor)


def test_a_peers_region_is_shared_with_it(memfd):
    descriptor = memfd(seals=fcntl.F_SEAL_SHRINK)
    region = map_region(0, PAGE, descriptor)
    os.pwrite(descriptor, b"hi", 10)
    assert region.memory[10:12].tobytes() == b"hi"
    assert not region.is_ours


def test_what_the_peer_did_not_seal_we_seal(memfd):
    descriptor = memfd()
    map_region(0, PAGE, descriptor)
    assert seals_of(descriptor) == ("shrink",)
    with pytest.raises(PermissionError):
        os.ftruncate(descriptor, 0)


def test_a_hole_is_read_as_zeros(memfd):
    """The one thing that a peer can still do to sealed memory."""
    descriptor = memfd(2 * PAGE)
    region = map_region(0, 2 * PAGE, descriptor)
    region.memory[:] = 1
    libc = __import__("ctypes").CDLL(None, use_errno=True)
    keep_size_punch_hole = 1 | 2
    assert (
        libc.fallocate(
            descriptor,
            keep_size_punch_hole,
            __import__("ctypes").c_long(0),
            __import__("ctypes").c_long(PAGE),
        )
        == 0
    )
    assert not region.memory[:PAGE].any()


@pytest.mark.parametrize("size", [0, -1, (1 << 32) + 1, 1 << 63])
def test_a_size_that_cannot_be_is_refused(memfd, size):
    with pytest.raises(BadMemory, match="is to have"):
        map_region(0, size, memfd())


def test_a_file_smaller_than_it_says_is_refused(memfd):
    with pytest.raises(BadMemory, match=r"has 4096 bytes, not the 4097"):
        map_region(0, PAGE + 1, memfd())


def test_memory_that_cannot_be_sealed_is_refused_unless_the_peer_is_trusted(memfd):
    descriptor = memfd(flags=0)
    with pytest.raises(BadMemory, match="not sealed") as caught:
        map_region(0, PAGE, descriptor)
    assert "trust=True" in caught.value.hint
    assert map_region(0, PAGE, descriptor, trust=True).size == PAGE


def test_a_plain_file_is_refused():
    with tempfile.TemporaryFile() as file:
        file.truncate(PAGE)
        with pytest.raises(BadMemory, match="not sealed"):
            map_region(0, PAGE, file.fileno())


def test_what_is_no_file_is_refused_even_from_a_trusted_peer():
    reading, writing = os.pipe()
    try:
        with pytest.raises(BadMemory):
            map_region(0, PAGE, reading)
        with pytest.raises(BadMemory):
            map_region(0, PAGE, reading, trust=True)
    finally:
        os.close(reading)
        os.close(writing)


def test_memory_that_must_not_be_written_is_refused(memfd):
    descriptor = memfd(seals=fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_WRITE)
    with pytest.raises(BadMemory, match="cannot be mapped"):
        map_region(0, PAGE, descriptor)


def test_a_descriptor_for_reading_only_is_refused(memfd):
    descriptor = os.open(f"/proc/self/fd/{memfd()}", os.O_RDONLY)
    try:
        with pytest.raises(BadMemory):
            map_region(0, PAGE, descriptor)
    finally:
        os.close(descriptor)


def test_too_much_memory_is_refused_in_words():
    with pytest.raises(MemifError, match="no room"):
        make_region(0, 1 << 62, "memif test")
