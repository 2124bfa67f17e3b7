"""What goes wrong on a memif link, in one sentence each."""

from __future__ import annotations

from labs.errors import LabError


class MemifError(LabError):
    """A memif link could not be made, or had to be ended.

    Parameters
    ----------
    message, hint : str
        As for `LabError`.
    reason : str
        The few words that the peer is told in a DISCONNECT; without it, the first 95 bytes of `message`.
    """

    def __init__(self, message: str, hint: str = "", *, reason: str = "") -> None:
        super().__init__(message, hint)
        self.reason = reason or message.rstrip(".")


class BadMessage(MemifError):  # noqa: N818 - reads as what it says
    """The peer sent something on the control socket that memif 2.0 does not allow."""


class BadMemory(MemifError):  # noqa: N818 - likewise
    """The peer's shared memory is not what it said, or says something that cannot be."""


class Refused(MemifError):  # noqa: N818 - likewise
    """The peer ended the link, or would not have it, and said why."""


class Down(MemifError):  # noqa: N818 - likewise
    """The link is not connected."""
