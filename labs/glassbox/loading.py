"""A learner's own nodes: read from a file, compiled, and put into the graph while packets flow."""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.graph import KINDS, Node
from labs.glassbox.guard import FAULTS, MOST_FAULTS, NOWHERE, TO_DROP, guarded
from labs.glassbox.loading_errors import missing_node, uncompiled, worded

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.graph import Graph

_ARGUMENTS = ["vm", "me", "frame", "nexts", "count"]
_LOCK = threading.Lock()
_NUMBERS = itertools.count(1)


@dataclass
class Loaded(Node):
    """A node that a learner wrote.

    Attributes
    ----------
    written : callable
        Its compiled function; `function` is what stands around it.
    address : int
        Where its compiled code is.
    """

    written: Any = None
    address: int = 0


def load(box: Box, file: str | Path) -> list[str]:
    """Load a file's nodes into a box, and return what is to be told of each.

    Raises
    ------
    LabError
        The file cannot be read, or is wrong somewhere; nothing has changed then.
    """
    return install(box, prepare(box.graph, Path(file)))


def prepare(graph: Graph, file: Path) -> list[Loaded]:
    """Read and compile a file's nodes, beside the data plane: the graph stays as it is.

    Raises
    ------
    LabError
        As `load`.
    """
    code = _read(file)
    nodes = [_checked(graph, kind, file) for kind in _declared(file, code)]
    names = {each.name for each in nodes}
    for node in nodes:
        unknown = [name for name in node.to if name not in names and name not in graph.names]
        if unknown:
            where = _where(file, node.function.py_func)
            raise LabError(
                f"{where}: {node.name} leads to {unknown[0]!r}, and there is no such node.",
                "show node lists the nodes there are.",
            )
    return [_compiled(graph, node, file) for node in nodes]


def install(box: Box, nodes: list[Loaded]) -> list[str]:
    """Put prepared nodes into the graph; its threads must stand still."""
    told = []
    for node in nodes:
        was_there = node.name in box.graph.names
        number = box.graph.add(node, data=node.address)
        box.vm.nodes[number]["arcs"][:] = NOWHERE
        before = node.to[-1] if node.to else "NODE"
        told.append(
            f"{node.name} is loaded anew: this version takes the place of the one before."
            if was_there
            else f"{node.name} is loaded. Let packets through it: insert node {node.name} before {before}"
        )
    box.graph.connect()
    for node in nodes:
        arcs = box.vm.nodes[box.graph.number(node.name)]["arcs"]
        arcs[TO_DROP], arcs[FAULTS] = box.graph.number("error-drop"), 0
    return told


def faults(box: Box, number: int) -> str:
    """Return what is to be said about a loaded node's errors; nothing if there were none."""
    count = int(box.vm.nodes[number]["arcs"][FAULTS])
    if not isinstance(box.graph.kinds[number], Loaded) or not count:
        return ""
    stopped = " It is called no more: correct it, and load it again." if count >= MOST_FAULTS else ""
    return f"In {count} vectors it has chosen no next node for some packet.{stopped}"


def restore(box: Box, name: str) -> bool:
    """Put our own node back into the place of a learner's of that name; return whether there was one."""
    kind = box.graph.kinds[box.graph.number(name)]
    if not isinstance(kind, Loaded) or name not in KINDS:
        return False
    box.graph.add(KINDS[name])
    box.graph.connect()
    return True


class Loading:
    """A file that is being loaded, as a command that goes on: it compiles beside the data plane.

    Parameters
    ----------
    box : Box
    file : Path

    Attributes
    ----------
    error : LabError, optional
        What is wrong with the file, once that is known.
    """

    def __init__(self, box: Box, file: Path) -> None:
        self._box = box
        self._nodes: list[Loaded] = []
        self.error: LabError | None = None
        self._is_over = self._is_aborted = False
        self._thread = threading.Thread(target=self._prepare, args=(file,), name="load node", daemon=True)
        self._thread.start()

    def poll(self) -> list[str] | None:
        """Return what there is to tell once the file is compiled; None after that."""
        if self._is_over:
            return None
        if self._thread.is_alive():
            return []
        self._is_over = True
        if self.error:
            return [f"load node: {self.error.message.rstrip('.')}; {self.error.hint}"]
        return ["load node: aborted"] if self._is_aborted else install(self._box, self._nodes)

    def wait(self) -> None:
        """Return when the file is compiled."""
        self._thread.join()

    def abort(self) -> None:
        """Change nothing, however far it has come."""
        self._is_aborted = True

    def _prepare(self, file: Path) -> None:
        try:
            self._nodes = prepare(self._box.graph, file)
        except LabError as error:
            self.error = error


def _read(file: Path) -> CodeType:
    """Return a file's code."""
    try:
        source = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"{file} cannot be read: {error}.", "give the whole path of a Python file.") from None
    try:
        return compile(source, str(file), "exec")
    except (SyntaxError, ValueError) as error:
        raise worded(error, file) from None


def _declared(file: Path, code: CodeType) -> list[Node]:
    """Run a file, and return the nodes that it has declared; those of the glass box stay as they were."""
    with _LOCK:
        before = dict(KINDS)
        module = ModuleType(f"loaded_{next(_NUMBERS)}_{file.stem}")
        module.__file__ = str(file)
        sys.modules[module.__name__] = module  # numba looks for a function's module there
        try:
            exec(code, module.__dict__)  # noqa: S102 - running what a learner wrote is the purpose
        except Exception as error:  # noqa: BLE001 - whatever it is, it is theirs, and told in a sentence
            raise worded(error, file) from None
        finally:
            declared = [kind for name, kind in KINDS.items() if before.get(name) is not kind]
            KINDS.clear()
            KINDS.update(before)
    if not declared:
        raise missing_node(ast.parse(file.read_text()), file)
    return declared


def _checked(graph: Graph, node: Node, file: Path) -> Node:
    """Return a declared node if its declaration makes sense."""
    function = node.function.py_func
    where = _where(file, function)
    if not isinstance(node.name, str) or not node.name or any(each.isspace() for each in node.name):
        raise LabError(f"{where}: {node.name!r} is no name for a node.", "write it as my-node.")
    if isinstance(node.to, str) or not all(isinstance(each, str) for each in node.to):
        raise LabError(
            f"{where}: `to` has to be several names.", 'write to=("ip4-drop", "ip4-lookup"), with a comma.'
        )
    if len(node.to) > FAULTS:
        raise LabError(f"{where}: {node.name} leads to {len(node.to)} nodes; {FAULTS} is the limit.")
    if len(inspect.signature(function).parameters) != len(_ARGUMENTS):
        raise LabError(
            f"{where}: {function.__name__} has to take {len(_ARGUMENTS)} arguments.",
            f"write def {function.__name__}({', '.join(_ARGUMENTS)}):",
        )
    there = graph.kinds[graph.number(node.name)] if node.name in graph.names else None
    if node.makes_packets or (there and (there.makes_packets or there.name.startswith("interface-"))):
        raise LabError(
            f"{where}: {node.name} would make or send packets; only inner nodes can be loaded.",
            "choose another name, and leave makes_packets out.",
        )
    return node


def _compiled(graph: Graph, node: Node, file: Path) -> Loaded:
    """Return a node with its guard around it."""
    try:
        address = graph.compile(node)
    except Exception as error:  # noqa: BLE001 - numba raises many kinds, all about the learner's code
        raise uncompiled(error, file, node.function.py_func.__code__.co_firstlineno) from None
    return Loaded(node.name, guarded, tuple(node.to), written=node.function, address=address)


def _where(file: Path, function: Any) -> str:  # noqa: ANN401 - any function
    return f"{file.name}, line {function.__code__.co_firstlineno}"
