"""What the binary API's door does with each message: as far as it can, what the command line does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.glassbox.handlers.addresses import AddressHandlers
from labs.glassbox.handlers.interfaces import InterfaceHandlers
from labs.glassbox.handlers.links import LinkHandlers
from labs.glassbox.handlers.system import SystemHandlers

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.glassbox.box import Box
    from labs.glassbox.commands import Cli

__all__ = ["handlers"]

_GROUPS = (SystemHandlers, InterfaceHandlers, AddressHandlers, LinkHandlers)


def handlers(box: Box, cli: Cli) -> dict[str, Callable[..., Any]]:
    """Return what `labs.glassbox.doors.ApiDoor` needs: each message's name with what is to be done.

    Parameters
    ----------
    box : Box
    cli : Cli
        Its command line, which carries out whatever changes the box.
    """
    return {
        name: getattr(made, name)
        for group in _GROUPS
        for made in [group(box, cli)]
        for name in vars(group)
        if not name.startswith("_")
    }
