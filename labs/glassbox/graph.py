"""Nodes, and the graph that they make.

A node is a function over a vector of packets, as in VPP::

    @node("count-small", to=("ip4-drop", "ip4-lookup"))
    def count_small(vm, me, frame, nexts, count):
        for each in range(count):
            nexts[each] = 0 if length(frame[each]) < 64 else 1

It gets `count` packets in `frame` (addresses; see `labs.glassbox.packet`) and writes into `nexts` which of
the nodes in `to` takes each packet on, `GONE` for a packet that it has dealt with itself, or
``output(interface)``. An input node makes packets and returns how many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit, typeof, types

from labs.errors import LabError
from labs.glassbox.view import View
from labs.glassbox.vm import ARCS, NODES
from labs.memif.jit import cached, step

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from labs.glassbox.vm import Vm

GONE = -1
"""In `nexts`: the node has dealt with the packet."""

OUTPUT = 1000
DROP = 0
"""In `nexts`, where the first of a node's arcs leads to a drop."""


@step
def output(interface: int) -> int:
    """Return what to write into `nexts` for a packet that shall leave by `interface`."""
    return OUTPUT + interface


@dataclass
class Node:
    """A node of the graph.

    Attributes
    ----------
    name : str
    function : callable
        Its compiled function; Python's own is ``function.py_func``.
    to : tuple of str
        The nodes it may hand packets to.
    makes_packets : bool
        Whether it is an input node.
    """

    name: str
    function: Any
    to: tuple[str, ...]
    makes_packets: bool = False


_PACKAGE = Path(__file__).parents[1]
_NODE: dict[str, Any] = {"no_cpython_wrapper": True}  # Python never calls it
_CAREFUL: dict[str, Any] = {"nogil": True, "_nrt": False, "boundscheck": True, "error_model": "numpy"}

KINDS: dict[str, Node] = {}
"""Every node that was declared, by name."""


def careful(function: Callable[..., Any]) -> Any:  # noqa: ANN401 - numba's dispatcher is untyped
    """Return numba's dispatcher of a function that a learner wrote.

    It is compiled anew each time, since its file may change at any moment; every index into an array is
    checked, and a division by zero is no error.
    """
    return njit(**_CAREFUL, **_NODE)(function)


def node(
    name: str, to: tuple[str, ...] = (), *, makes_packets: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Declare a function to be a node.

    Parameters
    ----------
    name : str
    to : tuple of str
        The nodes that it may hand packets to, at most 16.
    makes_packets : bool
        It is an input node: it is called in each turn, makes packets, and returns how many.
    """

    def declare(function: Callable[..., Any]) -> Any:  # noqa: ANN401 - numba's dispatcher is untyped
        is_ours = Path(function.__code__.co_filename).is_relative_to(_PACKAGE)
        compiled = cached(function, **_NODE) if is_ours else careful(function)
        KINDS[name] = Node(name, compiled, to, makes_packets)
        return compiled

    return declare


class Graph:
    """The nodes of a running glass box, by number.

    Parameters
    ----------
    vm : Vm
        Any thread's view: nodes are shared.
    """

    def __init__(self, vm: Vm) -> None:
        self._vm = vm
        self._table: NDArray[np.void] = vm.nodes
        self.names: list[str] = []
        self.kinds: list[Node] = []
        self._led: dict[tuple[int, int], int] = {}
        self._inserted: list[tuple[int, int]] = []
        self.on_new: Callable[[list[str]], None] = lambda _names: None

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: str) -> int:
        """Return a node's number.

        Raises
        ------
        LabError
            There is no such node.
        """
        if name not in self.names:
            raise LabError(f"There is no node {name!r}.", "show node lists them.")
        return self.names.index(name)

    def add_all(self) -> None:
        """Add every node that was declared, and connect them."""
        for kind in list(KINDS.values()):
            if kind.name not in self.names and not kind.name.startswith("interface-"):
                self.add(kind)
        self.connect()

    def add(self, kind: Node, name: str | None = None, data: int = 0) -> int:
        """Add a node, perhaps under a name of its own, and return its number; `connect` it afterwards."""
        name = name or kind.name
        if name not in self.names and len(self.names) >= NODES:
            raise LabError(f"The graph has {NODES} nodes; it takes no more.")
        kind = replace(kind)  # `arc_to` may give this graph's node arcs that others do not have
        if name in self.names:  # a freshly loaded version of it, or an interface's that was deleted
            number = self.names.index(name)
            self.kinds[number] = kind
        else:
            number = len(self.names)
            self.names.append(name)
            self.kinds.append(kind)
        self._table[number]["function"] = self.compile(kind)
        self._table[number]["data"] = data
        self.on_new(self.names)
        return number

    def connect(self) -> None:
        """Let every arc lead to the node it names."""
        for number, kind in enumerate(self.kinds):
            if len(kind.to) > ARCS:
                raise LabError(f"{kind.name} hands packets to {len(kind.to)} nodes; {ARCS} is the limit.")
            for arc, name in enumerate(kind.to):
                leads = self._led.get((number, arc))
                self._table[number]["arcs"][arc] = self.number(name) if leads is None else leads
        for new, old in self._inserted:
            self._redirect(new, old)

    def lead(self, number: int, arc: int, target: int) -> None:
        """Let one arc of a node lead to another node."""
        self._table[number]["arcs"][arc] = target
        self._led[number, arc] = target

    def arc_to(self, name: str, target: str) -> int:
        """Return the arc of a node that leads to another; make it if there is none."""
        kind = self.kinds[self.number(name)]
        if target not in kind.to:
            self.number(target)
            if len(kind.to) == ARCS:
                raise LabError(f"{name} hands packets to {ARCS} nodes; no more fit.")
            kind.to = (*kind.to, target)
            self.connect()
        return kind.to.index(target)

    def insert(self, name: str, before: str) -> None:
        """Let all packets on their way to the node `before` go to the node `name` first."""
        new, old = self.number(name), self.number(before)
        if before not in self.kinds[new].to:
            raise LabError(
                f"{name} does not hand packets to {before}.", f"name it in its `to`: {self.kinds[new].to}."
            )
        if new == old or (new, old) in self._inserted:
            return
        self._inserted.append((new, old))
        self._redirect(new, old)

    def remove(self, name: str) -> bool:
        """Undo each `insert` of a node; return whether there was any."""
        node = self.number(name)
        mine = [pair for pair in self._inserted if pair[0] == node]
        for _, old in mine:
            outputs = self._vm.interfaces["output_node"]
            outputs[outputs == node] = old
        self._inserted = [pair for pair in self._inserted if pair[0] != node]
        self.connect()
        return bool(mine)

    def _redirect(self, new: int, old: int) -> None:
        """Let each arc that leads to `old` lead to `new`, but for its own."""
        for number in range(len(self.names)):
            if number != new:
                arcs = self._table[number]["arcs"][: len(self.kinds[number].to)]
                arcs[arcs == old] = new
        outputs = self._vm.interfaces["output_node"]
        outputs[outputs == old] = new

    def compile(self, kind: Node) -> int:
        """Compile a node for this view, or load it from the cache, and return its address."""
        arguments = signature(self._vm)
        function = kind.function
        function.compile(arguments)
        compiled = function.overloads[arguments]
        wrapper = compiled.fndesc.llvm_cfunc_wrapper_name
        return int(compiled.library.get_pointer_to_function(wrapper))


def signature(vm: Vm) -> tuple[Any, ...]:
    """Return the types of a node's arguments."""
    type_of: Callable[[Any], Any] = typeof
    frame = type_of(np.zeros(1, np.int64))
    return (View(type_of(vm)), types.int64, frame, frame, types.int64)
