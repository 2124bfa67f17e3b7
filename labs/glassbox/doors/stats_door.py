"""The statistics' door: whoever comes in is handed the memory, and asks nothing more."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

from labs.glassbox.doors.door import Door

if TYPE_CHECKING:
    from pathlib import Path

    from labs.glassbox.doors.stats_segment import StatsSegment


class StatsDoor(Door):
    """Hands out a statistics segment, to be read and not written.

    Parameters
    ----------
    path : str or Path
        The socket.
    segment : StatsSegment
        The memory.

    Raises
    ------
    LabError
        The socket cannot be listened on.
    """

    def __init__(self, path: str | Path, segment: StatsSegment) -> None:
        super().__init__(path, socket.SOCK_SEQPACKET)
        self._segment = segment

    def admit(self, sock: socket.socket) -> None:
        """Hand out the memory's descriptor; there is no more to say."""
        with contextlib.suppress(OSError):
            socket.send_fds(sock, [b"\0"], [self._segment.memory.shared])
