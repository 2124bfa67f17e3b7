"""The command line of the glass box: the lines of VPP's debug CLI that the course uses, and some more."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from labs.glassbox.commands.command import Cli, command
from labs.glassbox.commands.words import Words

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)  # importing a module has declared its commands

__all__ = ["Cli", "Words", "command"]
