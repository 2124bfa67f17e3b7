"""Bytes at an address, the network's byte order, and the processor's clock: what nodes are written with."""
# ruff: noqa: ANN001, ANN201, ANN202, ARG001 - numba infers the types, and calls intrinsics by its own rules
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

import platform

from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

from labs.memif.jit import step

_I64 = ir.IntType(64)
_WORDS = 64


def _getter(bits, *, swapped=False):
    kind = ir.IntType(bits)

    def get(_typing, address):
        def generate(_context, builder, _signature, arguments):
            value = builder.load(builder.inttoptr(arguments[0], kind.as_pointer()), align=1, typ=kind)
            if swapped:
                value = builder.bswap(value)
            return value if kind is _I64 or bits == 64 else builder.zext(value, _I64)  # noqa: PLR2004 - as wide as an address

        return types.int64(types.int64), generate

    return intrinsic(get)


def _setter(bits, *, swapped=False):
    kind = ir.IntType(bits)

    def put(_typing, address, value):
        def generate(context, builder, _signature, arguments):
            value = arguments[1] if bits == 64 else builder.trunc(arguments[1], kind)  # noqa: PLR2004 - likewise
            if swapped:
                value = builder.bswap(value)
            builder.store(value, builder.inttoptr(arguments[0], kind.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return intrinsic(put)


get8, get16, get32, get64 = _getter(8), _getter(16), _getter(32), _getter(64)
set8, set16, set32, set64 = _setter(8), _setter(16), _setter(32), _setter(64)
# as headers have them: the highest byte first
net16, net32 = _getter(16, swapped=True), _getter(32, swapped=True)
set_net16, set_net32 = _setter(16, swapped=True), _setter(32, swapped=True)

binding.initialize_native_asmparser()  # reading the clock takes an instruction that LLVM has no name for

_CLOCKS = {
    "x86_64": ("rdtsc\n\tshl $$32, %rdx\n\tor %rdx, %rax", "={rax},~{rdx},~{flags}"),
    "aarch64": ("mrs $0, cntvct_el0", "=r"),
}


@intrinsic
def ticks(_typing):
    """Return the processor's time stamp counter (x86) or its generic timer (Arm)."""

    def generate(_context, builder, _signature, _arguments):
        text, constraint = _CLOCKS[platform.machine()]
        return builder.asm(ir.FunctionType(_I64, []), text, constraint, [], side_effect=True)

    return types.int64(), generate


@intrinsic
def words_at(_typing, address):
    """Return the 64 int64 at an address as an array: a control block of memif (see `labs.memif.control`)."""
    kind = types.Array(types.int64, 1, "C")

    def generate(context, builder, _signature, arguments):
        array = context.make_array(kind)(context, builder)
        word = context.get_data_type(types.int64)
        size, step = (context.get_constant(types.intp, each) for each in (_WORDS, 8))
        arrayobj.populate_array(
            array,
            data=builder.inttoptr(arguments[0], word.as_pointer()),
            shape=[size],
            strides=[step],
            itemsize=step,
            meminfo=None,
        )
        return array._getvalue()  # noqa: SLF001 - numba's own way

    return kind(types.int64), generate


@intrinsic
def swap64(_typing, address, value):
    """Write 8 bytes and return those that were there: of two threads one sees what the other has written."""

    def generate(_context, builder, _signature, arguments):
        pointer = builder.inttoptr(arguments[0], _I64.as_pointer())
        return builder.atomic_rmw("xchg", pointer, arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), generate


@step
def get48(address):
    """Return 6 bytes, as an Ethernet address is used for comparing."""
    return get32(address) | (get16(address + 4) << 32)


@step
def set48(address, value):
    """Write 6 bytes that `get48` has read."""
    set32(address, value)
    set16(address + 4, value >> 32)
