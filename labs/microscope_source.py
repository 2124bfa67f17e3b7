"""What a microscope looks at: a link of ours, or the link between two nodes of a lab, from outside."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Protocol

from labs.errors import LabError
from labs.memif.endpoint import Client
from labs.memif.errors import MemifError
from labs.memif.microscope import look
from labs.memif.peek import Peek
from labs.portrait import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.lab import Lab
    from labs.memif.link import Link
    from labs.memif.microscope import LinkView
    from labs.memif.ring import Ring
    from labs.node import Node
    from labs.vpp.parse import MemifState, MemifTable

_AGAIN = 2.0  # seconds between two searches for a link that is not there: each asks VPP's CLI
_DIRECTIONS = {"slave-to-master": "s2m", "master-to-slave": "m2s"}


class Over(LabError):  # noqa: N818 - reads as what it says
    """There is nothing more to look at, and there will not be."""


class Source(Protocol):
    """A link, looked at again and again."""

    title: str
    client: str
    """Who dialled, in words."""
    server: str

    def look(self) -> tuple[LinkView, Sequence[Ring]]:
        """Return the link as it is now, and its rings, mapped.

        Raises
        ------
        Over
            There is no sense in looking again.
        LabError
            There is no link for now.
        """


class OurLink:
    """A link of this process."""

    def __init__(self, link: Link) -> None:
        self._link = link
        ours = isinstance(link, Client)
        self.client, self.server = ("our client", "the server") if ours else ("the client", "our server")
        self._who = self.client if ours else self.server
        self.title = f"{self._who} at {link.path}, interface {link.settings.id}"

    def look(self) -> tuple[LinkView, Sequence[Ring]]:
        """Return the link as it is now; see `Source.look`."""
        if self._link.is_closed:
            raise Over("The link is closed.")
        rings = self._link.connection.rings
        view = look(self._link)
        self.title = f"{self._who} at {view.title}"
        return view, rings


class BetweenNodes:
    """The link between two nodes, seen through the open files of the one that made its memory.

    Parameters
    ----------
    lab : Lab
    first, second : str
        Its nodes' names.
    interface : str
        The first node's interface; empty for the first that is linked to the second node.

    Raises
    ------
    LabError
        The lab is not started, or has no such nodes.
    """

    def __init__(self, lab: Lab, first: str, second: str, interface: str = "") -> None:
        if lab[first] is lab[second]:
            raise LabError(
                f"{first} has no link to itself.", 'name two nodes: microscope(lab, "vpp1", "vpp2").'
            )
        self._lab, self._first, self._second, self._interface = lab, first, second, interface
        self.client, self.server = first, second
        self.title = f"{first} and {second}"
        self._peek: Peek | None = None
        self._why = LabError(f"{first} and {second} have no link yet.")
        self._search_at = 0.0

    def look(self) -> tuple[LinkView, Sequence[Ring]]:
        """Return the link as it is now; see `Source.look`."""
        try:
            nodes = self._lab[self._first], self._lab[self._second]
        except LabError:
            raise Over("The lab is stopped.") from None
        for node in nodes:
            if not node.alive:
                raise LabError(f"{node.name} is not running.")
        if self._peek and not self._peek.is_live():
            self._peek = None
        if self._peek is None:
            self._search(*nodes)
        if self._peek is None:
            raise self._why
        return self._peek.look(), self._peek.rings

    def _search(self, first: Node, second: Node) -> None:
        if time.monotonic() < self._search_at:
            return
        try:
            self._peek = self._find(first, second)
        except LabError as error:
            self._why = type(error)(error.message, error.hint)
            self._search_at = time.monotonic() + _AGAIN

    def _find(self, first: Node, second: Node) -> Peek:
        tables = first.memifs(PATIENCE), second.memifs(PATIENCE)
        here, there = ends(*tables, first.name, second.name, self._interface)
        client, server = ((first, here), (second, there))
        if here.role == "server":
            client, server = server, client
        (node, state), (other, its) = client, server
        self.client, self.server = node.name, other.name
        self.title = f"{other.name} {its.name} (server) and {node.name} {state.name} (client)"
        return peek_between(node, state, other, self._lab.engine)


def ends(
    here: MemifTable, there: MemifTable, first: str, second: str, interface: str = ""
) -> tuple[MemifState, MemifState]:
    """Return the two ends of the link between two nodes.

    Parameters
    ----------
    here, there : MemifTable
        What ``show memif`` says on each.
    first, second : str
        The nodes' names.
    interface : str
        The first node's interface; empty for any.

    Raises
    ------
    LabError
        There is no such link, or it is not connected.
    """
    pairs = [
        (one, other)
        for one in here.interfaces
        for other in there.interfaces
        if (here.socket_of(one), one.id) == (there.socket_of(other), other.id) and one.role != other.role
    ]
    chosen = [pair for pair in pairs if interface in {"", pair[0].name}]
    if not chosen:
        have = ", ".join(one.name for one, _ in pairs)
        if pairs:
            raise LabError(f"{first}'s {interface} is not linked to {second}.", f"these are: {have}.")
        raise LabError(f"{first} and {second} have no link yet.", "make a memif on each of them.")
    for one, other in chosen:
        if one.connected and other.connected:
            return one, other
    raise LabError(
        f"The link between {first} and {second} is not connected.", "lab.wait_link() says what is missing."
    )


def peek_between(node: Node, state: MemifState, other: Node, engine: str) -> Peek:
    """Look into the client's process, for memory that the server's holds too.

    Parameters
    ----------
    node, other : Node
        The client's and the server's.
    state : MemifState
        The client's interface.
    engine : str
        The lab's.

    Raises
    ------
    LabError
        There is no such memory, or it is hidden from us.
    """
    doorbells = {f"{_DIRECTIONS[each.direction]} {each.index}": each.int_fd for each in state.rings}
    lent = {each.index: each.fd for each in state.regions if each.index}

    def named(name: str) -> Peek:
        return Peek(
            node.handle.pid,
            name,
            state.s2m_rings or None,
            peer=other.handle.pid,
            doorbells=doorbells,
            lent=lent,
        )

    try:
        with contextlib.suppress(MemifError):
            return named(f"{state.name} region")
        return named("")
    except MemifError as error:
        if "cannot be looked into" in error.message and engine == "docker":
            raise LabError(
                f"The memory of {node.name} is hidden from here: its container's files are another user's.",
                'start the lab with engine="process" to look into its memory.',
            ) from None
        raise
