"""The two ends of a memif, and what they tell the main loop from their own threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.memif import Client, Down, MemifError, Refused, Server

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.memif.connection import Connection


class _Noticed:
    """What a link tells the main loop, from its own thread: that it went up, or is about to go down."""

    notice: Callable[[], None]
    reasons = ("", "")
    """Why the last connection ended, in VPP's words: as we saw it, and as the peer said."""

    def _up(self, connection: Connection) -> None:
        super()._up(connection)  # type: ignore[misc]  # Link has it
        self.reasons = ("", "")
        self.notice()

    def _down(self, error: MemifError) -> None:
        connection = self._connection  # type: ignore[attr-defined]  # Link has it
        self.reasons = _reasons(self._fault or error, self.reasons, was_up=connection is not None)  # type: ignore[attr-defined]  # Link has it
        if connection:
            connection.stop()
        self.notice()  # the main loop must let go of the queues, else closing them waits for ever
        super()._down(error)  # type: ignore[misc]  # Link has it
        self.notice()


def _reasons(error: MemifError, before: tuple[str, str], *, was_up: bool) -> tuple[str, str]:
    """Return why a link ended, in VPP's words (memif/socket.c); a server that is not there is no news."""
    if isinstance(error, Refused):
        said = error.message.removeprefix("The peer ended the link: ").removesuffix(".")
        return ("disconnect received", said)
    if isinstance(error, Down):
        return ("connection fd error", "") if was_up else before
    return (error.reason, "")


class ClientEnd(_Noticed, Client):
    """The end that dials."""


class ServerEnd(_Noticed, Server):
    """The end that listens."""


def why_not(path: str, error: MemifError) -> tuple[str, str]:
    """Return why an end cannot be made, in VPP's words where it is the socket that cannot be listened at."""
    _, listens, why = error.message.partition(f"Nothing can listen at {path}: ")
    if not listens:
        return error.message, error.hint
    if "in use" in why:
        return f"Active listener on '{path}'", ""
    return f"bind (fd -1, '{path}'): {why.removesuffix('.')}", ""
