"""What the kernel tells of a process's open files: its shared memories, and how often a doorbell was rung."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

from labs.memif.errors import MemifError

_MEMFD = "/memfd:"
_RINGS = re.compile(r"^eventfd-count:\s*([0-9a-f]+)$", re.MULTILINE)  # the kernel writes it in hexadecimal


@dataclass(frozen=True)
class Memory:
    """A shared memory that a process holds open.

    Attributes
    ----------
    descriptor : int
        Its number in that process.
    name : str
        As its maker called it: ``memif0/0 region 0``.
    inode : int
        The same in every process that holds this memory.
    path : Path
        Where it can be opened from outside.
    """

    descriptor: int
    name: str
    inode: int
    path: Path


def memories_of(pid: int | str) -> list[Memory]:
    """Return the shared memories that a process holds open.

    Raises
    ------
    MemifError
        There is no such process, or it is not ours to look into.
    """
    found = []
    try:
        everything = sorted(Path(f"/proc/{pid}/fd").iterdir(), key=lambda each: int(each.name))
    except OSError as error:
        raise MemifError(
            f"Process {pid} cannot be looked into: {error.strerror}.", "it has to run, as the same user."
        ) from None
    for each in everything:
        with contextlib.suppress(OSError):  # closed meanwhile
            name = str(each.readlink())
            if name.startswith(_MEMFD):
                name = name.removeprefix(_MEMFD).removesuffix(" (deleted)")
                found.append(Memory(int(each.name), name, each.stat().st_ino, each))
    return found


def mapped_at(address: int) -> Memory | None:
    """Return the shared memory that this process has mapped at an address, if one is there."""
    begin = f"{address:x}-"
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if line.startswith(begin):
            inode = int(line.split(maxsplit=5)[4])
            return next((each for each in memories_of("self") if each.inode == inode), None)
    return None


def rung(pid: int | str, descriptor: int) -> int | None:
    """Return how often a doorbell was rung since it was last answered; None where that is hidden."""
    try:
        told = _RINGS.search(Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text(encoding="utf-8"))
    except OSError:
        return None
    return int(told[1], 16) if told else None
