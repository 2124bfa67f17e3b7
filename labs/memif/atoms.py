"""What the kernels need and Python cannot say: memory at an address, ordering, and two system calls.

Peer and we share memory without a lock. What keeps that right is the order in which the two see each other's
writes: a packet first, then the index that hands it over. Each access to an index is therefore one atomic
load that *acquires* or store that *releases*. On x86 these are plain moves that the compiler may not move; on
Arm they are ``ldar`` and ``stlr``. Descriptors are read by atomic loads too, once: a value that was checked
cannot be another one when it is used, whatever the peer writes meanwhile.

All addresses and lengths are int64 (numba makes a float of uint64 + int64).
"""
# ruff: noqa: ANN001, ANN201, ANN202, ARG001 - numba infers the types, and calls intrinsics by its own rules
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import platform

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from labs.memif.jit import step

_I64 = ir.IntType(64)
_PAUSES = {
    "x86_64": ("llvm.x86.sse2.pause", []),
    "aarch64": ("llvm.aarch64.hint", [ir.Constant(ir.IntType(32), 1)]),  # yield
}


def _loader(bits, ordering):
    kind = ir.IntType(bits)

    def load(_typing, address):
        def generate(_context, builder, _signature, arguments):
            pointer = builder.inttoptr(arguments[0], kind.as_pointer())
            value = builder.load_atomic(pointer, ordering, bits // 8, typ=kind)
            return value if bits == 64 else builder.zext(value, _I64)  # noqa: PLR2004 - as wide as an address

        return types.int64(types.int64), generate

    return intrinsic(load)


def _storer(bits, ordering):
    kind = ir.IntType(bits)

    def store(_typing, address, value):
        def generate(_context, builder, _signature, arguments):
            pointer = builder.inttoptr(arguments[0], kind.as_pointer())
            value = arguments[1] if bits == 64 else builder.trunc(arguments[1], kind)  # noqa: PLR2004 - likewise
            builder.store_atomic(value, pointer, ordering, bits // 8)
            return _context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return intrinsic(store)


load16_acquire = _loader(16, "acquire")
load16 = _loader(16, "monotonic")
load64 = _loader(64, "monotonic")
store16_release = _storer(16, "release")
store16 = _storer(16, "monotonic")
store64 = _storer(64, "monotonic")


@intrinsic
def load64_fixed(_typing, address):
    """Load 8 bytes that nothing changes while the code at hand runs: loops read them once."""

    def generate(_context, builder, _signature, arguments):
        value = builder.load(builder.inttoptr(arguments[0], _I64.as_pointer()), typ=_I64)
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    return types.int64(types.int64), generate


@intrinsic
def fence(_typing):
    """Let no later access pass an earlier one: needed between publishing an index and reading the flags."""

    def generate(context, builder, _signature, _arguments):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def pause(_typing):
    """Leave the peer's cache lines alone for a moment: some 20 to 70 ns on x86, less on Arm."""

    def generate(context, builder, _signature, _arguments):
        name, arguments = _PAUSES.get(platform.machine(), ("", []))
        if name:
            kind = ir.FunctionType(ir.VoidType(), [each.type for each in arguments])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)
        return context.get_dummy_value()

    return types.void(), generate


def _mover(size):
    """Return an intrinsic that copies `size` bytes through registers."""
    kind = ir.VectorType(_I64, size // 8) if size > 8 else ir.IntType(size * 8)  # noqa: PLR2004 - one register

    def move(_typing, target, source):
        def generate(context, builder, _signature, arguments):
            target, source = (builder.inttoptr(each, kind.as_pointer()) for each in arguments)
            builder.store(builder.load(source, align=1, typ=kind), target, align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return intrinsic(move)


_move1, _move2, _move4, _move8, _move16, _move32, _move64 = (_mover(1 << each) for each in range(7))


@step
def copy(target, source, length):
    """Copy `length` bytes, at least 1, between addresses that do not overlap.

    Two moves that overlap in the middle take any odd length, so no byte outside is read or written.
    """
    if length >= 64:  # noqa: PLR2004 - a cache line
        _move64(target, source)
        if length > 64:  # noqa: PLR2004 - and the others
            done = 64
            while done + 64 <= length:
                _move64(target + done, source + done)
                done += 64
            _move64(target + length - 64, source + length - 64)
    elif length >= 32:  # noqa: PLR2004 - half a line, and so on
        _move32(target, source)
        _move32(target + length - 32, source + length - 32)
    elif length >= 16:  # noqa: PLR2004
        _move16(target, source)
        _move16(target + length - 16, source + length - 16)
    elif length >= 8:  # noqa: PLR2004
        _move8(target, source)
        _move8(target + length - 8, source + length - 8)
    elif length >= 4:  # noqa: PLR2004
        _move4(target, source)
        _move4(target + length - 4, source + length - 4)
    elif length >= 2:  # noqa: PLR2004
        _move2(target, source)
        _move2(target + length - 2, source + length - 2)
    elif length == 1:
        _move1(target, source)


c_poll = types.ExternalFunction("poll", types.int32(types.int64, types.uint64, types.int32))
c_write = types.ExternalFunction("write", types.int64(types.int32, types.int64, types.int64))
