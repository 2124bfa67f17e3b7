"""What every engine offers, and what it hands out for a node it has started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.engines.rundir import RunDir
    from labs.topology import NodeSpec


@dataclass(frozen=True)
class Availability:
    """Whether an engine can be used here.

    Parameters
    ----------
    ok : bool
    reason : str
        What was found, or what is missing: one sentence.
    hint : str
        What to do about it; empty when `ok`.
    """

    ok: bool
    reason: str
    hint: str = ""


class NodeHandle(Protocol):
    """A started node, as the operating system sees it."""

    @property
    def name(self) -> str:
        """The node's name."""

    @property
    def pid(self) -> int:
        """Its process, as numbered in our own process namespace."""

    @property
    def shell(self) -> str:
        """What a learner types before a CLI line, as ``vppctl -s /run/.../vpp1.cli.sock``."""

    def alive(self) -> bool:
        """Return whether its process runs (or is stopped, but not ended)."""

    def ending(self) -> str:
        """Return how its process ended, in a few words; empty while it is alive."""

    def log(self) -> str:
        """Return what VPP has written to its log so far."""

    def pin(self, cores: Mapping[int, tuple[int, ...]]) -> list[str]:
        """Move threads to cores.

        Parameters
        ----------
        cores : mapping of int to tuple of int
            For each thread (numbered as `pid` is) the cores it may run on.

        Returns
        -------
        list of str
            The equal shell commands.
        """

    def kill(self) -> None:
        """End it at once, as a crash would."""

    def stop(self) -> None:
        """End it and take away what it leaves; safe to call twice."""


class Engine(Protocol):
    """A way to run nodes."""

    name: str

    def availability(self) -> Availability:
        """Say whether this engine can be used here, and why not."""

    def inside(self, rundir: str) -> str:
        """Return the path at which a node sees the lab's run directory."""

    def start(self, spec: NodeSpec, rundir: RunDir) -> NodeHandle:
        """Start one node from the configuration file already in `rundir`; do not wait for it."""
