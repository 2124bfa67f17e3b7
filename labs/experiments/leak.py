"""Does a link let one node read what is in another's memory? Put words there, and look for them."""

from __future__ import annotations

import contextlib
import mmap
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from labs import probing_port
from labs.errors import LabError
from labs.experiments.exposed import shared
from labs.memif.open_files import memories_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.lab import Lab
    from labs.memif.open_files import Memory

_PORT = 9  # discard (RFC 863)
_MOST = 1400
_ARRIVES_WITHIN = 1.0


@dataclass(frozen=True)
class Spied:
    """What a node can read of another's memory.

    Parameters
    ----------
    reader, owner : str
    size : int
        Bytes of the owner's memory that the reader maps, or that both map.
    memory : str
        The piece in which the words stand; empty if they stand in none.
    at : int
        The byte of it at which they begin.
    text : str
        They, and the text that follows them there.
    """

    reader: str
    owner: str
    size: int
    memory: str = ""
    at: int = -1
    text: str = ""

    @property
    def found(self) -> bool:
        """Whether the reader can read the words."""
        return self.at >= 0

    def __str__(self) -> str:
        has = f"{self.reader} and {self.owner} both have {self.size:,} bytes of memory"
        if not self.found:
            return f"{has}. The words are not among them: {self.reader} cannot read them."
        return f"{has}. At byte {self.at:,} of {self.memory} stands: {self.text}"

    __repr__ = __str__


def whisper(lab: Lab, node: str, words: str) -> None:
    """Send one packet with some words to a node, over a memif between it and us that nobody else has.

    Raises
    ------
    LabError
        The words are no short line, or the packet does not arrive.
    """
    if not (isinstance(words, str) and 1 <= len(words.encode()) <= _MOST):
        raise LabError("Nothing can be whispered but a line of text.", f"at most {_MOST} bytes.")
    place, names = lab.folder, list(lab.nodes)
    port = probing_port.at(lab[node], place, probing_port.WORD, names.index(node), len(names))
    try:
        frame = Ether(src=port.mac(2), dst=port.mac(1))
        packet = frame / IP(src=port.address(2), dst=port.address(1)) / UDP(dport=_PORT) / words.encode()
        before = lab[node].counters()[port.interface].rx_packets
        port.link.send(packet)
        deadline = time.monotonic() + _ARRIVES_WITHIN
        while lab[node].counters()[port.interface].rx_packets == before:
            if time.monotonic() > deadline:
                raise LabError(f"{node} has not got the words.", f"see `show errors` on {node}.")
            time.sleep(0.01)
    finally:
        probing_port.close(lab[node], probing_port.WORD)


def spy(lab: Lab, reader: str, owner: str, words: str) -> Spied:
    """Look for words in all memory of one node that another node maps.

    Parameters
    ----------
    lab : Lab
    reader, owner : str
        The nodes' names.
    words : str

    Raises
    ------
    LabError
        One of them has ended, or may not be looked into.
    """
    for name in (reader, owner):
        lab[name].must_run()
    pids = [lab[name].handle.pid for name in (reader, owner)]
    pieces = shared(*pids)
    size = sum(each.size for each in pieces)
    for memory in _open(pids, {each.inode for each in pieces}):
        at, text = _search(memory, words.encode())
        if at >= 0:
            return Spied(reader, owner, size, memory.name, at, text)
    return Spied(reader, owner, size)


def _open(pids: list[int], wanted: set[int]) -> Iterator[Memory]:
    """Yield memories by inode, each once, as one of the processes has them open."""
    seen: set[int] = set()
    for pid in pids:
        for memory in memories_of(pid):
            if memory.inode in wanted - seen:
                seen.add(memory.inode)
                yield memory


def _search(memory: Memory, words: bytes) -> tuple[int, str]:
    """Return where words stand in a memory, and the text from there on; -1 if they do not."""
    with (
        contextlib.suppress(OSError, ValueError),
        memory.path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ) as mapped,
    ):
        if found := re.search(re.escape(words) + rb"[ -~]{0,200}", mapped):
            return found.start(), found[0].decode(errors="replace")
    return -1, ""
