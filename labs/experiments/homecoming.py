"""An experiment moves nodes and lets them wait in other ways; afterwards all is as it was before."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from labs.errors import LabError, NodeDied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.lab import Lab


@contextmanager
def coming_home(lab: Lab) -> Iterator[None]:
    """Put the nodes that still run back to the cores where they were, however the block ends."""
    home = {name: node.spec.cores for name, node in lab.nodes.items()}
    try:
        yield
    finally:
        for name, cores in home.items():
            with suppress(NodeDied):
                lab[name].pin(cores)


@contextmanager
def modes_back(lab: Lab) -> Iterator[None]:
    """Let the nodes that still run wait for packets as they did before, however the block ends."""
    before = {name: node.rx_modes() for name, node in lab.nodes.items()}
    try:
        yield
    finally:
        for name, modes in before.items():
            with suppress(LabError):
                lab[name].cli("\n".join(f"set interface rx-mode {at} {mode}" for at, mode in modes.items()))
