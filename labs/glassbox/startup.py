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

_SOCKETS = (("unix", "cli-listen"), ("socksvr", "socket-name"), ("statseg", "socket-name"))
_LAST_CORE = 1023
_LEAST_INTERVAL, _MOST_INTERVAL = 0.01, 3600.0


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
    cli, api, stats = (Path(_word(sections, *each)) for each in _SOCKETS)
    cpu = sections.get("cpu", [])
    main, workers = (_cores(cpu, each) for each in ("main-core", "corelist-workers"))
    if len(main) > 1:
        raise LabError(f"main-core is one core, not {len(main)}.")
    if len({*main, *workers}) < len(main) + len(workers):
        raise LabError("Two threads have one core.", "name a core of its own for each thread.")
    return Startup(
        folder, cli, api, stats, main[0] if main else None, workers, _interval(sections["statseg"])
    )


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
        elif depth == 0 or not name:
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


def _cores(words: list[str], name: str) -> tuple[int, ...]:
    """Read a list of cores, as ``1,3-4``; none if it is not there."""
    cores: list[int] = []
    text = _after(words, name)
    for part in text.split(",") if name in words else ():
        low, dash, high = part.partition("-")
        ends = [low, high if dash else low]
        if not all(each.isdecimal() and int(each) <= _LAST_CORE for each in ends) or int(low) > int(ends[1]):
            raise LabError(f"{name} cannot be `{text}'.", "write cores as 1,3-4.")
        cores.extend(range(int(low), int(ends[1]) + 1))
    return tuple(cores)


def _interval(words: list[str]) -> float:
    """Read how often rates and heartbeat are brought up to date, in seconds."""
    text = _after(words, "update-interval") or f"{Startup.update_interval}"
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not _LEAST_INTERVAL <= seconds <= _MOST_INTERVAL:
        raise LabError(
            f"update-interval cannot be `{text}'.",
            f"use seconds from {_LEAST_INTERVAL:g} to {_MOST_INTERVAL:g}.",
        )
    return seconds
