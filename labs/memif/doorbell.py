"""Doorbells: the eventfd of each ring, and sleeping on them."""

from __future__ import annotations

import contextlib
import os
import select
import time
from pathlib import Path
from typing import TYPE_CHECKING

from labs.memif.errors import BadMessage, Down

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.memif.queue import Queue


def take_doorbell(descriptor: int) -> int:
    """Return a peer's descriptor as a doorbell, made non-blocking.

    Raises
    ------
    BadMessage
        It is no eventfd. The descriptor stays the caller's to close.
    """
    if "eventfd" not in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
        raise BadMessage("The peer's doorbell is no eventfd.", reason="doorbell is no eventfd")
    os.set_blocking(descriptor, False)
    return descriptor


def make_doorbell() -> int:
    """Return a new eventfd."""
    return os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)


def sleep_until_any(queues: Sequence[Queue], also: int, timeout: float) -> bool:
    """Sleep until a queue has packets, `also` is hung up, or `timeout` seconds are over.

    The doorbells are unmasked for that time, whether the queues poll or not.

    Returns
    -------
    bool
        Whether packets are there.
    """
    deadline = time.monotonic() + timeout
    poll = select.poll()
    with contextlib.ExitStack() as stack, contextlib.suppress(ValueError, OSError, Down):  # closed meanwhile
        for queue in queues:
            stack.enter_context(queue.unmasked())
            poll.register(queue.doorbell, select.POLLIN)
        poll.register(also, select.POLLRDHUP)
        while True:
            if any(queue.waiting() for queue in queues):
                return True
            left = deadline - time.monotonic()
            if left <= 0 or also in {found for found, _ in poll.poll(left * 1000)}:
                return False
            for queue in queues:
                queue.clear_doorbell()
    return False
