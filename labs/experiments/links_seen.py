"""What the two ends of a link can see of each other, and what they say of it: memory, rings, privileges."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs.errors import LabError, NodeDied
from labs.experiments.exposed import keys_of, shared
from labs.memif.errors import MemifError
from labs.memif.peek import Peek

if TYPE_CHECKING:
    from labs.experiments.links_beds import End

_RING = re.compile(r"^\s*qsz (\d+)", re.MULTILINE)


class Seen:
    """Who sees whose memory over one link.

    Parameters
    ----------
    receiver : int
        Its process. It must not be connected yet: what it maps now is its own.
    """

    def __init__(self, receiver: int) -> None:
        self._receiver, self._own = receiver, keys_of(receiver)

    def now(self, sender: int, kind: str, end: End) -> dict[str, Any]:
        """Look at both ends.

        Returns
        -------
        dict
            ``lent``, what both map; ``seen_back``, pieces of the receiver's own memory that the sender maps;
            ``rings``, how many descriptors each has, empty where nobody tells.
        """
        return {
            "lent": [vars(each) for each in shared(sender, self._receiver)],
            "seen_back": len(self._own & keys_of(sender)),
            "rings": rings(sender, kind, end),
        }


def rings(sender: int, kind: str, end: End) -> list[int]:
    """Return how many descriptors the rings of a link have, as its memory or the node tells; else nothing.

    Of a memif the memory itself is read, through the sender's open files. vhost-user's rings lie somewhere in
    the front end's memory; a VPP that is the back end says how long they are.
    """
    if kind.startswith("memif"):
        try:
            with Peek(sender, peer=end.pid) as peek:
                return [ring.size for ring in peek.rings]
        except MemifError:
            return []
    if kind == "vhost" and end.node:
        return [int(size) for size in _RING.findall(end.node.cli("show vhost-user"))]
    return []


def capabilities(pid: int) -> str:
    """Return the kernel's word on a process's privileges: ``CapEff``, zeros for none.

    Raises
    ------
    NodeDied
        The process has ended.
    LabError
        It belongs to somebody else.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except FileNotFoundError:
        raise NodeDied(f"Process {pid} has ended.") from None
    except OSError as error:
        raise LabError(f"The privileges of process {pid} cannot be read: {error.strerror}.") from None
    return next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff"))
