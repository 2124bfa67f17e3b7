"""What two processes at the ends of a link can read, and write, of each other's memory: the kernel's word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterable

_LINE = re.compile(
    r"(?P<start>[0-9a-f]+)-(?P<end>[0-9a-f]+) (?P<may>[r-][w-][x-][ps]) [0-9a-f]+ "
    r"(?P<device>[0-9a-f]+:[0-9a-f]+) (?P<inode>\d+) *(?P<name>.*)"
)
_CODE = "x"


@dataclass(frozen=True)
class Mapping:
    """One piece of a file or of nameless shared memory in a process's address space.

    Parameters
    ----------
    key : (str, int)
        Device and inode: two mappings with one key show the same memory.
    size : int
        Bytes.
    may : str
        As the kernel prints it, ``rw-s``: read, write, execute, and shared or private.
    name : str
    """

    key: tuple[str, int]
    size: int
    may: str
    name: str


@dataclass(frozen=True)
class Shared:
    """Memory that two processes, A and B, both have.

    Parameters
    ----------
    name : str
    size : int
        Bytes that the one who maps less of it maps.
    a_writes, b_writes : bool
    inode : int
        Of the file; an open file with the same number is the same memory.
    """

    name: str
    size: int
    a_writes: bool
    b_writes: bool
    inode: int


def shared(a: int, b: int) -> list[Shared]:
    """Return the memory that two processes share, the largest first.

    Raises
    ------
    LabError
        One of them has ended, or belongs to somebody else.
    """
    return common(mappings(_maps(a)), mappings(_maps(b)))


def keys_of(pid: int) -> set[tuple[str, int]]:
    """Return the pieces of shared memory that a process maps, each by its device and inode.

    Raises
    ------
    LabError
        It has ended, or belongs to somebody else.
    """
    return set(_by_key(mappings(_maps(pid))))


def mappings(text: str) -> list[Mapping]:
    """Read ``/proc/PID/maps``, and return what is mapped so that others see each change."""
    return [
        Mapping(
            (row["device"], int(row["inode"])),
            int(row["end"], 16) - int(row["start"], 16),
            row["may"],
            row["name"].strip(),
        )
        for line in text.splitlines()
        if (row := _LINE.fullmatch(line.rstrip())) and int(row["inode"]) and row["may"].endswith("s")
    ]


def common(a: Iterable[Mapping], b: Iterable[Mapping]) -> list[Shared]:
    """Return what is in both, piece by piece put together, the largest first."""
    ours, theirs = _by_key(a), _by_key(b)
    found = [
        Shared(
            ours[key][0].name,
            min(sum(each.size for each in pieces) for pieces in (ours[key], theirs[key])),
            any("w" in each.may for each in ours[key]),
            any("w" in each.may for each in theirs[key]),
            key[1],
        )
        for key in ours
        if key in theirs
    ]
    return sorted(found, key=lambda each: -each.size)


def _by_key(some: Iterable[Mapping]) -> dict[tuple[str, int], list[Mapping]]:
    found: dict[tuple[str, int], list[Mapping]] = {}
    for each in some:
        if _CODE not in each.may:
            found.setdefault(each.key, []).append(each)
    return found


def _maps(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/maps").read_text()
    except OSError as error:
        raise LabError(
            f"The memory of process {pid} cannot be looked at: {error.strerror}.",
            "it has ended, or it is not yours.",
        ) from None
