"""Reading a startup.conf: the glass box is started with the same file as VPP."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from labs.errors import LabError

_KNOWN = {
    *("unix", "api-segment", "socksvr", "statseg", "memory", "buffers", "physmem"),
    *("cpu", "vlib", "plugins", "logging", "node"),
}


@dataclass(frozen=True)
class Startup:
    """What the glass box takes from the file; the rest says how VPP shall use memory it does not have.

    Attributes
    ----------
    runtime_dir, cli_socket, api_socket, stats_socket : Path
    main_core : int or None
    worker_cores : tuple of int
    update_interval : float
        Seconds between updates of rates and heartbeat.
    """

    runtime_dir: Path
    cli_socket: Path
    api_socket: Path
    stats_socket: Path
    main_core: int | None = None
    worker_cores: tuple[int, ...] = ()
    update_interval: float = 10.0


def read(text: str) -> Startup:
    """Return what a startup.conf says.

    Raises
    ------
    LabError
        A section is not known, not closed, or says what cannot be.
    """
    sections = _sections(text)
    folder = Path(_word(sections, "unix", "runtime-dir"))
    cpu = sections.get("cpu", [])
    workers = _after(cpu, "corelist-workers")
    main = _after(cpu, "main-core")
    try:
        return Startup(
            folder,
            Path(_word(sections, "unix", "cli-listen")),
            Path(_word(sections, "socksvr", "socket-name")),
            Path(_word(sections, "statseg", "socket-name")),
            int(main) if main else None,
            _cores(workers) if workers else (),
            float(_after(sections["statseg"], "update-interval") or 10.0),
        )
    except ValueError as error:
        raise LabError(f"The startup configuration has a bad number: {error}.") from None


def _sections(text: str) -> dict[str, list[str]]:
    """Return the words of each section."""
    words = re.findall(r"[{}]|[^\s{}]+", re.sub(r"#[^\n]*", " ", text))
    sections: dict[str, list[str]] = {}
    name, depth = "", 0
    for word in words:
        if word == "{":
            depth += 1
        elif word == "}":
            depth -= 1
        elif depth == 0:
            if word not in _KNOWN:
                raise LabError(f"unknown input `{word}'", f"the sections are {', '.join(sorted(_KNOWN))}.")
            name = word
            sections.setdefault(name, [])
        else:
            sections[name].append(word)
        if depth < 0:
            raise LabError("The startup configuration has a } too many.")
    if depth:
        raise LabError(f"The section {name} is not closed.", "add the missing }.")
    return sections


def _after(words: list[str], name: str) -> str:
    """Return the word after another one; empty if it is not there."""
    at = words.index(name) + 1 if name in words else len(words)
    return words[at] if at < len(words) else ""


def _word(sections: dict[str, list[str]], section: str, name: str) -> str:
    value = _after(sections.get(section, []), name)
    if not value.startswith("/"):
        raise LabError(f"{section} {{ {name} }} has to be an absolute path.")
    return value


def _cores(text: str) -> tuple[int, ...]:
    """Read a list of cores, as ``1,3-4``."""
    cores: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        cores.extend(range(int(low), int(high or low) + 1))
    return tuple(cores)
