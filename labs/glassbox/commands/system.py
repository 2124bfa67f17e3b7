"""What the program is: version, plugins; and the small commands of a command line."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from labs.errors import LabError
from labs.glassbox.commands.command import PartlyDoneError, command

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.commands.command import Cli
    from labs.glassbox.commands.words import Words

_PLUGINS = (
    ("memif", "Packet Memory Interface (memif): labs/memif"),
    ("ping", "Ping (ping): labs/glassbox/pinging.py"),
)
_DEEPEST = 8


def own_version() -> str:
    """Return the version of the course, as v0.1.0."""
    try:
        return f"v{version('vpp-labs')}"
    except PackageNotFoundError:
        return "v0"


@command("show version", help="show version [verbose]")
def show_version(box: Box, words: Words) -> str:
    """Print what this is."""
    del box
    if not words.take("verbose"):
        return f"glass-box (not VPP) {own_version()} built from the course's own sources"
    rows = {
        "Version": f"glass-box (not VPP) {own_version()}",
        "Built from": str(Path(__file__).parent.parent),
        "Python": sys.version.split()[0],
        "Compiler": f"numba {version('numba')}, llvmlite {version('llvmlite')}",
        "Machine": platform.platform(),
        "Current PID": str(os.getpid()),
    }
    return "".join(f"{name + ':':<26}{value}\n" for name, value in rows.items())


@command("show plugins", help="show loaded plugins")
def show_plugins(box: Box, words: Words) -> str:
    """Print what VPP has as plugins and the glass box always has."""
    del box
    words.take("verbose")
    text = " Plugin path is: built into the glass box, plugins shown in load order\n\n"
    text += f"     {'Plugin':<41}{'Version':<33}Description\n"
    for number, (name, about) in enumerate(_PLUGINS, 1):
        text += f"{number:3}. {name + '_plugin.so':<40} {own_version():<32} {about}\n"
    return text


@command("echo", help="echo <rest-of-line>")
def echo(box: Box, words: Words) -> str:
    """Print the rest of the line."""
    del box
    return words.line() + "\n"


@command("quit", "exit", "q", help="Exit CLI")
def leave(box: Box, words: Words) -> str:
    """Do nothing: the door itself ends a session that says so."""
    del box, words
    return ""


@command("exec", help="exec <filename>")
def execute(box: Box, words: Words) -> str:
    """Run the lines of a file, until one is refused.

    Commands that go on, as a ping does, cannot be run from a file.
    """
    del box
    name = words.line()
    if not name:
        raise LabError("expecting file name")
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise LabError(f"failed to open `{name}': {getattr(error, 'strerror', None) or error}") from None
    if words.cli.depth >= _DEEPEST:
        raise LabError(f"files run each other more than {_DEEPEST} deep: {name}")
    words.cli.depth += 1
    try:
        return _run(words.cli, text)
    finally:
        words.cli.depth -= 1


def _run(cli: Cli, text: str) -> str:
    printed = ""
    for line in _joined(text):
        outcome, is_done = cli.attempt(line)
        if not isinstance(outcome, str):
            outcome.abort()
            outcome, is_done = f"{line.split()[0]} goes on, and a file waits for nothing.\n", False
        printed += outcome
        if not is_done:
            raise PartlyDoneError(f"CLI line error: {line}", printed)
    return printed


def _joined(text: str) -> list[str]:
    """Return the commands in a file: without comments, and with braces on one line."""
    lines: list[str] = []
    depth = 0
    for raw in text.splitlines():
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        if depth > 0 and lines:
            lines[-1] += f" {line}"
        else:
            lines.append(line)
        depth += line.count("{") - line.count("}")
    return lines
