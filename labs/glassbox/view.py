"""How compiled nodes see a `Vm`: by its address.

A `Vm` is some thirty arrays, two hundred words. To hand it over by value, as numba does, costs four hundred
moves, about 100 clocks, at each call of a node. So each thread has an image of its `Vm` in memory, and nodes
get the image's address. What they write in Python is the same: ``vm.interfaces`` reads the one array that it
names, once, since an image never changes.
"""
# ruff: noqa: ANN001, ANN201, ANN202 - numba calls these by its own rules
# mypy: ignore-errors
# numba types all of this by its own rules

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic

from labs.memif.jit import kernel

WORDS = 256
"""Words of an image, at most."""

IMAGE = "image"
"""The field of a `Vm` that holds its image."""


class View(types.Type):
    """The type of a `Vm` by its address."""

    def __init__(self, whole: Any) -> None:  # noqa: ANN401 - numba's type of a named tuple
        self.whole = whole
        super().__init__(name="Vm(by address)")

    @property
    def key(self):
        """What makes two of these types the same."""
        return self.whole


@register_default(View)
class _Address(models.PrimitiveModel):
    def __init__(self, dmm, fe_type) -> None:
        super().__init__(dmm, fe_type, cgutils.voidptr_t)


@infer_getattr
class _Fields(AttributeTemplate):
    key = View

    def generic_resolve(self, view, name):
        """Return the type of a field."""
        if name in view.whole.fields:
            return view.whole.types[view.whole.fields.index(name)]
        return None


@lower_getattr_generic(View)
def _field(context, builder, view, address, name):
    image = builder.bitcast(address, context.get_value_type(view.whole).as_pointer())
    return _read(builder, cgutils.gep_inbounds(builder, image, 0, view.whole.fields.index(name)))


def _read(builder, place):
    """Read a value member by member, each marked as one that never changes: loops need not read it anew."""
    kind = place.type.pointee
    if not isinstance(kind, ir.Aggregate):
        word = builder.load(place)
        word.set_metadata("invariant.load", builder.module.add_metadata([]))
        return word
    whole = ir.Constant(kind, ir.Undefined)
    for each in range(len(kind)):
        whole = builder.insert_value(
            whole, _read(builder, cgutils.gep_inbounds(builder, place, 0, each)), each
        )
    return whole


def address_of(builder, image):
    """Generate the address that an image's array holds."""
    return builder.bitcast(builder.extract_value(image, 4), cgutils.voidptr_t)


@intrinsic
def _store(_typing, vm):
    def generate(context, builder, signature, arguments):
        kind = arguments[0].type
        assert context.get_abi_sizeof(kind) <= WORDS * 8  # noqa: S101 - else a Vm has grown beyond its image
        fields = signature.args[0].fields
        image = builder.extract_value(arguments[0], fields.index(IMAGE))
        builder.store(arguments[0], builder.bitcast(address_of(builder, image), kind.as_pointer()))
        return context.get_dummy_value()

    return types.void(vm), generate


@kernel
def draw(vm):
    """Write a Vm's image."""
    _store(vm)
