"""The labs that run in this kernel, by name: found by a cell magic, stopped when the kernel ends."""

from __future__ import annotations

import atexit
import os
from typing import TYPE_CHECKING

from labs.errors import LabError

if TYPE_CHECKING:
    from labs.lab import Lab

_labs: dict[str, Lab] = {}
os.register_at_fork(after_in_child=_labs.clear)  # the end of a fork is not the kernel's


def add(lab: Lab) -> None:
    """Note that a lab has started."""
    _labs[lab.name] = lab


def drop(lab: Lab) -> None:
    """Note that a lab has stopped, unless another of its name has started since."""
    if _labs.get(lab.name) is lab:
        del _labs[lab.name]


def stop(name: str) -> None:
    """Stop the lab of that name, if one runs here."""
    if lab := _labs.get(name):
        lab.stop()


@atexit.register
def stop_all() -> None:
    """Stop every lab of this kernel."""
    for name in list(_labs):
        stop(name)


def current(node: str | None = None) -> Lab:
    """Return the lab started last in this kernel, or the last one that has a node of that name.

    Raises
    ------
    LabError
        No lab is running here, or none has such a node.
    """
    for lab in reversed(_labs.values()):
        if node is None or node in lab.nodes:
            return lab
    if not _labs:
        raise LabError("No lab is running in this notebook.", "run the cell that makes one and starts it.")
    raise LabError(
        f"No running lab has a node {node!r}.",
        f"the nodes are {', '.join(name for lab in _labs.values() for name in lab.nodes)}.",
    )
