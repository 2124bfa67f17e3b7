"""Commands, and how a line finds its own: word by word, each as short as is clear (VPP: src/vlib/cli.c).

A command is a function::

    @command("show interface", help="show interface [address|<interface> ...]")
    def show_interface(box: Box, words: Words) -> str | Running:
        ...

It reads its arguments from `words` and returns what to print, or a `Running` if it goes on. It raises
`LabError` to refuse: ``show interface: <the error's message>`` is printed. If it leaves words unread, they
are taken for the next command on the line, as in VPP; `Words.end` refuses them instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labs.errors import LabError
from labs.glassbox.commands.beyond import beyond
from labs.glassbox.commands.words import Words

if TYPE_CHECKING:
    from labs.glassbox.box import Box
    from labs.glassbox.doors.running import Running

Function = Callable[["Box", Words], "str | Running"]
Path = tuple[str, ...]

_COMMAND_WORD = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Command:
    """A command.

    Attributes
    ----------
    path : tuple of str
        Its fixed words.
    function : callable
    help : str
        How to write it, in one line.
    """

    path: Path
    function: Function
    help: str


COMMANDS: dict[Path, Command] = {}
"""Every command that was declared, by its words."""


def command(words: str, *more: str, help: str = "") -> Callable[[Function], Function]:  # noqa: A002 - VPP's word
    """Declare a function to be a command.

    Parameters
    ----------
    words : str
        Its fixed words, as ``show interface``.
    *more : str
        Other words for the same.
    help : str
        How to write it, in one line.
    """

    def declare(function: Function) -> Function:
        for each in (words, *more):
            path = tuple(each.split())
            COMMANDS[path] = Command(path, function, help)
        return function

    return declare


class NoSuchCommandError(LabError):
    """No command begins with these words."""


class PartlyDoneError(LabError):
    """A command has printed something before it was refused.

    Parameters
    ----------
    message : str
        Why it was refused.
    printed : str
        What it printed until then, in whole lines.
    """

    def __init__(self, message: str, printed: str) -> None:
        super().__init__(message)
        self.printed = printed


class Cli:
    """The command line of one box.

    Parameters
    ----------
    box : Box
    loop : Any, optional
        The main loop, for the commands that tell of it.
    """

    def __init__(self, box: Box, loop: Any = None) -> None:  # noqa: ANN401 - it is only handed on
        self.box = box
        self.loop = loop
        self.depth = 0
        """How many files are being run, one from the other; see ``exec``."""

    def run(self, line: str) -> str | Running:
        """Run a line and return what it prints; refusals are in it, in VPP's words."""
        return self.attempt(line)[0]

    def attempt(self, line: str) -> tuple[str | Running, bool]:
        """Run a line; return what it prints, and whether it was done (or refused)."""
        words = Words(line, self)
        printed = ""
        while not words.is_over:
            try:
                outcome = self._dispatch((), words)
            except LabError as error:
                return f"{printed}{getattr(error, 'printed', '')}{told(error)}\n", False
            if not isinstance(outcome, str):
                return outcome, True
            printed += outcome if not outcome or outcome.endswith("\n") else f"{outcome}\n"
        return printed, True

    def _dispatch(self, parent: Path, words: Words) -> str | Running:
        """Run the command whose first words, those of `parent`, were read."""
        if words.take("help"):
            return self._help(parent, words)
        if words.text.startswith("?", words.at) or words.peek() == "choices":
            words.word()
            return "".join(
                _two_columns(" ".join(each.path), help_of(each.path), 40) for each in _below(parent)
            )
        if words.take("comment"):
            if words.block() is None:
                words.word()
            return ""
        path = _step(parent, words)
        if path is None:
            raise _unknown(parent, words)
        after = words.at
        if _names_after(path):
            try:
                return self._dispatch(path, words)
            except NoSuchCommandError:
                if path not in COMMANDS:
                    raise
                words.at = after
        return self._call(COMMANDS[path], words)

    def _call(self, found: Command, words: Words) -> str | Running:
        if words.text.startswith("?", words.at):
            words.word()
            return _two_columns(" ".join(found.path), help_of(found.path), 40)
        try:
            return found.function(self.box, words)
        except LabError as error:
            refusal = f"{' '.join(found.path)}: {told(error)}"
            raise PartlyDoneError(refusal, getattr(error, "printed", "")) from None

    def _help(self, parent: Path, words: Words) -> str:
        """Return the help for the words that follow; with none, for all that may follow."""
        if words.is_over:
            return "".join(_two_columns(name, help_of((*parent, name)), 30) for name in _names_after(parent))
        path = parent
        while not words.is_over:
            step = _step(path, words)
            if step is None:
                raise _unknown(path, words)
            path = step
        return help_of(path) + "\n"


def _unknown(parent: Path, words: Words) -> LabError:
    """Return the refusal of a word that begins no command here: one for VPP's own, another for all others."""
    typed = _COMMAND_WORD.match(words.text, words.at)
    fits = [name for name in _names_after(parent) if typed and name.startswith(typed[0])]
    if typed and not fits and (name := beyond(parent, typed[0])):
        return LabError(f"{name}: the glass box does not have this command of VPP's")
    where = f"{' '.join(parent)}: " if parent else ""
    return NoSuchCommandError(f"{where}unknown input `{words.shown}'")


def told(error: LabError) -> str:
    """Return an error in one piece; the hint goes with our own sentences only, VPP's words have none."""
    if error.hint and error.message.endswith("."):
        return f"{error.message.removesuffix('.')}; {error.hint}"
    return error.message


def help_of(path: Path) -> str:
    """Return the help for a command or for a group of commands."""
    found = COMMANDS.get(path)
    return found.help if found and found.help else f"{' '.join(path)} commands"


def _names_after(parent: Path) -> list[str]:
    """Return the words that may follow, in order."""
    depth = len(parent)
    return sorted({path[depth] for path in COMMANDS if len(path) > depth and path[:depth] == parent})


def _below(parent: Path) -> list[Command]:
    return [COMMANDS[path] for path in sorted(COMMANDS, key=" ".join) if path[: len(parent)] == parent]


def _step(parent: Path, words: Words) -> Path | None:
    """Read one more word of a command, or as much of it as is clear; None if there is no such word."""
    typed = _COMMAND_WORD.match(words.text, words.at)
    if not typed:
        return None
    names = _names_after(parent)
    fits = [name for name in names if name.startswith(typed[0])]
    name = typed[0] if typed[0] in names else fits[0] if len(fits) == 1 else None
    if name is None:
        return None
    words.move(len(typed[0]))
    return (*parent, name)


def _two_columns(left: str, right: str, width: int) -> str:
    return f"  {left:{width}} {right}".rstrip() + "\n"
