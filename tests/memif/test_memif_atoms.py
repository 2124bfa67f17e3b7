"""What the kernels are compiled to."""

from __future__ import annotations

import ast
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import labs.memif
from labs.memif import atoms, jit, kernels, warm_up
from labs.memif.burst import Burst


@jit.kernel
def copy(target, source, length):
    atoms.copy(target, source, length)


@settings(deadline=None)  # the first call compiles
@given(st.integers(1, 300), st.integers(0, 70), st.integers(0, 70))
def test_copy_copies_all_and_only_that(length, target_at, source_at):
    source = np.random.default_rng(length).integers(1, 256, 512, np.uint8)
    target = np.zeros(512, np.uint8)
    copy(target.ctypes.data + target_at, source.ctypes.data + source_at, length)
    wanted = np.zeros(512, np.uint8)
    wanted[target_at : target_at + length] = source[source_at : source_at + length]
    assert (target == wanted).all()


@jit.kernel
def spin(address):
    turns = 0
    while atoms.load16_acquire(address) == 0:
        atoms.pause()
        turns += 1
    return turns


def test_a_loop_sees_what_another_thread_stores():
    """The load is done in each turn, not once before the loop."""
    word = np.zeros(1, np.uint16)
    spin(np.ones(1, np.uint16).ctypes.data)
    timer = threading.Timer(0.05, lambda: word.__setitem__(0, 1))
    timer.start()
    assert spin(word.ctypes.data) > 0
    timer.join()


@pytest.fixture(scope="module")
def compiled():
    """Compile both kernels anew (what comes from the cache cannot be looked into), and return LLVM's text."""
    burst = Burst.of([bytes(64)])
    block = np.zeros(64, np.int64)
    block[:7] = block.ctypes.data + 400
    found = {}
    for kernel, arguments in (
        (kernels.send, (block, burst.data, burst.offsets, burst.lengths, 0, 0)),
        (kernels.receive, (block, burst.data, burst.offsets, burst.lengths)),
    ):
        fresh = njit(**jit._KERNEL | {"cache": False})(kernel.py_func)
        fresh.compile(tuple(map(type_of, arguments)))
        found[kernel.__name__] = "\n".join(fresh.inspect_llvm().values())
    return found


def type_of(value):
    from numba import typeof  # noqa: PLC0415 - named by what it does here

    return typeof(value)


@pytest.mark.parametrize("name", ["send", "receive"])
def test_indexes_are_acquired_and_released(compiled, name):
    assert "load atomic i16" in compiled[name]
    assert " acquire, align 2" in compiled[name]
    assert "store atomic i16" in compiled[name]
    assert " release, align 2" in compiled[name]


def test_the_sender_fences_before_it_looks_at_the_flags(compiled):
    text = compiled["send"]
    assert text.index(" release, align 2") < text.index("fence seq_cst") < text.rindex("load atomic i16")


@pytest.mark.parametrize("name", ["send", "receive"])
def test_no_references_are_counted_and_every_step_is_inlined(compiled, name):
    assert "@NRT_incref(" not in compiled[name].replace("declare", "")
    called = [line for line in compiled[name].splitlines() if " call " in line and "labs5memif" in line]
    # but for what is kept apart: packets that take several slots
    assert called == [each for each in called if name in each or "_in_parts" in each]


def test_warming_up_tells_how_far_it_is():
    told = []
    warm_up(lambda done, of, name: told.append((done, of, name)))
    assert [done for done, _, _ in told] == list(range(told[0][1] + 1))
    assert told[-1][2] == ""


def test_the_library_stands_on_its_own():
    """It imports nothing of ours but labs.errors, and scapy only where scapy is asked for."""
    for file in Path(labs.memif.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("labs"):
                assert node.module.startswith(("labs.memif", "labs.errors")), file
            if isinstance(node, ast.ImportFrom) and node.module.startswith("scapy"):
                assert file.name == "scapy_socket.py"
