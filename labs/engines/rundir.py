"""A lab's run directory: its sockets, its files, and who owns it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_SOCKET = 106
"""Characters VPP accepts in a socket path; the kernel's own limit is 107."""

_SAFE_PATH = re.compile(r"[A-Za-z0-9_/.-]+")
_TOKEN = re.compile(r"[0-9a-f]{8}")
_RECORD = "lab.json"


def base() -> Path:
    """Return the directory under which labs of this user live."""
    if chosen := os.environ.get("LABS_RUN_DIR"):
        return Path(chosen)
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.access(runtime, os.W_OK):
        return Path(runtime) / "labs"
    return Path(tempfile.gettempdir()) / f"labs-{os.getuid()}"


def birth(pid: int) -> str | None:
    """Return what tells this process from a later one with the same number; None if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return None if fields[0] in "ZX" else f"{boot}:{fields[19]}"


@dataclass(frozen=True)
class Owner:
    """The process that a lab lives and dies with."""

    pid: int
    birth: str

    def alive(self) -> bool:
        """Return whether that very process still runs."""
        return birth(self.pid) == self.birth


@dataclass(frozen=True)
class RunDir:
    """The directory of one lab.

    Parameters
    ----------
    path : Path
        Where it is.
    token : str
        Marks everything that belongs to this lab: containers, shared memory.
    engine : str
        The engine that runs the lab.
    owner : Owner
        The process that a lab lives and dies with.
    """

    path: Path
    token: str
    engine: str
    owner: Owner

    @property
    def name(self) -> str:
        """The lab's name."""
        return self.path.name

    @property
    def shm_prefix(self) -> str:
        """What the names of the lab's files in /dev/shm begin with."""
        return f"labs-{os.getuid()}-{self.token}"

    def file(self, node: str, kind: str) -> Path:
        """Return a node's file: `kind` is ``conf``, ``log``, ``cli.sock``, ``api.sock`` or ``stats.sock``."""
        return self.path / f"{node}.{kind}"

    @classmethod
    def claim(cls, name: str, nodes: list[str], engine: str) -> RunDir:
        """Make the run directory of a lab, owned by this process.

        A directory whose owner has ended is swept first (see `labs.engines.reaper`).

        Raises
        ------
        LabError
            The path is too long or has characters VPP refuses, or a living process owns a lab of that name.
        """
        from labs.engines.reaper import sweep  # noqa: PLC0415 - the reaper's process imports this module

        path = check(name, nodes)
        with locked():
            previous = cls.read(path)
            if previous and previous.owner.pid != os.getpid() and previous.owner.alive():
                raise LabError(
                    f"A lab named {name!r} is already running, started by process {previous.owner.pid}.",
                    f"stop it there with lab.stop(), or run: labs down {name}; or give this one another.",
                )
            if previous:
                sweep(previous)
            rundir = cls(path, secrets.token_hex(4), engine, Owner(os.getpid(), birth(os.getpid()) or ""))
            rundir.create()
        return rundir

    @classmethod
    def read(cls, path: Path) -> RunDir | None:
        """Return the lab recorded at `path`, or None if there is none or its record is broken."""
        try:
            record = json.loads((path / _RECORD).read_text())
            lab = cls(path, record["token"], record["engine"], Owner(**record["owner"]))
            return lab if _TOKEN.fullmatch(lab.token) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def create(self) -> None:
        """Make the directory and its record in one step, so that no directory of ours is ever without one."""
        draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=base()))
        record = {"token": self.token, "engine": self.engine, "owner": vars(self.owner)}
        try:
            (draft / _RECORD).write_text(json.dumps(record))
            if os.path.lexists(self.path):  # renaming would replace a directory that is there and empty
                raise LabError(
                    f"{self.path} is in the way, and it is not a lab's.",
                    "move it elsewhere, or set LABS_RUN_DIR to a directory of your own.",
                )
            draft.rename(self.path)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def remove(self) -> None:
        """Delete the directory, if it is still this lab's."""
        current = RunDir.read(self.path)
        if current and current.token == self.token:
            shutil.rmtree(self.path, ignore_errors=True)


def every() -> list[RunDir]:
    """Return the labs of this user that have a run directory, whether or not their owner lives."""
    return [lab for path in sorted(base().glob("*")) if (lab := RunDir.read(path))]


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Let one process at a time claim a name.

    Raises
    ------
    LabError
        The base directory cannot be made.
    """
    try:
        base().mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (base() / ".lock").open("w")
    except OSError as error:
        raise LabError(
            f"The run directory {base()} cannot be made: {error.strerror}.",
            "set LABS_RUN_DIR to a directory of your own.",
        ) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def check(name: str, nodes: list[str]) -> Path:
    """Return where a lab's run directory goes.

    Raises
    ------
    LabError
        VPP would not take sockets there, or this user cannot make it.
    """
    path = base() / name
    longest = max(len(str(path / f"{node}.stats.sock")) for node in nodes)
    if longest > LONGEST_SOCKET:
        raise LabError(
            f"The run directory {path} is too long: a socket in it would have {longest} characters, "
            f"and VPP takes {LONGEST_SOCKET}.",
            "set LABS_RUN_DIR to a short path, such as /tmp/labs.",
        )
    if not path.is_absolute() or not _SAFE_PATH.fullmatch(str(path)):
        raise LabError(
            f"VPP does not take sockets in {path}.",
            "set LABS_RUN_DIR to an absolute path of letters, digits, dots, hyphens and underscores.",
        )
    parent = base()
    while not parent.exists():
        parent = parent.parent
    if not os.access(parent, os.W_OK):
        raise LabError(
            f"The run directory {path} cannot be made: {parent} is not writable for you.",
            "set LABS_RUN_DIR to a directory of your own.",
        )
    if parent == base() and (holder := parent.stat().st_uid) not in {0, os.getuid()}:
        raise LabError(
            f"The run directory {parent} belongs to user {holder}, who could meddle with the lab.",
            "set LABS_RUN_DIR to a directory of your own.",
        )
    return path
